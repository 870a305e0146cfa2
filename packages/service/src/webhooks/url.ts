/** Parses the URLs of endpoints. */
import { isIP } from "node:net";
import type { AddressRules } from "./address-rules.ts";

export const URL_LENGTH_MAX = 2_048;

/** A URL that a webhook may be sent to, or the reason why not. */
export type ParsedUrl =
  | { readonly kind: "url"; readonly url: URL }
  | { readonly kind: "refused"; readonly expected: string };

/**
 * Parses a URL. An address in it is checked here; a name is resolved, and its addresses checked, whenever a connection is
 * opened. Without TLS only addresses in ranges that the operator allows are reached.
 */
export function parseEndpointUrl(text: string, rules: AddressRules): ParsedUrl {
  const refuse = (expected: string): ParsedUrl => ({ kind: "refused", expected });
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) {
    return refuse(
      `a URL of at most ${URL_LENGTH_MAX} characters, such as https://shop.example/hooks`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("an https URL");
  if (url.username !== "" || url.password !== "") return refuse("a URL without user and password");
  if (url.hash !== "") return refuse("a URL without a fragment");
  const address = addressIn(url);
  const forPlain = url.protocol === "http:";
  if (address !== null && !rules.allows(address, { forPlain })) {
    return refuse(
      forPlain ? "an https URL" : "a public address: this one is in a private or reserved range",
    );
  }
  return { kind: "url", url };
}

/** Returns the address that a URL names without a look-up; null if it has a name. */
export function addressIn({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? null : bare;
}
