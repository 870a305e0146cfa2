/** `/.well-known/security.txt` (RFC 9116): whom finders of a fault tell, as the operator's factory says too. */
import type { FastifyInstance } from "fastify";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Admission } from "./admission.ts";

/** The time after which a copy of the file is not to be trusted. */
const VALID_MS = 30 * 86_400_000;

/** Adds the route to the application; without a contact it answers NOT_FOUND. */
export function serveSecurityContact(
  app: FastifyInstance,
  config: { admission: Admission },
  { contact, clock }: { readonly contact: string | undefined; readonly clock: Clock },
): void {
  app.get("/.well-known/security.txt", { config }, (_, reply) => {
    if (contact === undefined) {
      throw new OperatingError("NOT_FOUND", "The operator names no contact for vulnerabilities.");
    }
    const expires = new Date(clock.now() + VALID_MS).toISOString();
    return reply
      .type("text/plain; charset=utf-8")
      .send(`Contact: ${toUri(contact)}\nExpires: ${expires}\nPreferred-Languages: en\n`);
  });
}

/** Returns the contact as a URI: the setting may be an address of mail, or a URL without its scheme. */
function toUri(contact: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(contact)) return contact;
  return contact.includes("@") ? `mailto:${contact}` : `https://${contact}`;
}
