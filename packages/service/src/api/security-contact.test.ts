import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { serveSecurityContact } from "./security-contact.ts";

function ask(contact: string | undefined) {
  const app = Fastify();
  onTestFinished(() => app.close());
  const clock = { ...createStillClock(), now: () => Date.UTC(2026, 0, 1) };
  app.setErrorHandler((error, _, reply) =>
    reply.code(error instanceof OperatingError && error.code === "NOT_FOUND" ? 404 : 500).send(),
  );
  const admission = { keyOf: null, scope: null };
  serveSecurityContact(app, { admission }, { contact, clock });
  return app.inject("/.well-known/security.txt");
}

test.each([
  ["security@acme.example", "mailto:security@acme.example"],
  ["acme.example/security", "https://acme.example/security"],
  ["https://acme.example/s", "https://acme.example/s"],
])("the contact %s is the URI %s, and expires [RFC 9116]", async (contact, uri) => {
  const response = await ask(contact);
  expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(response.body).toBe(
    `Contact: ${uri}\nExpires: 2026-01-31T00:00:00.000Z\nPreferred-Languages: en\n`,
  );
});

test("there is no file without a contact", async () => {
  expect((await ask(undefined)).statusCode).toBe(404);
});
