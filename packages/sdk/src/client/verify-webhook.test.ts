import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { SluiceWebhookError } from "./errors.ts";
import { type ReceivedWebhook, verifyWebhook } from "./verify-webhook.ts";

const ID = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const EVENT = {
  type: "deposit_detected",
  data: { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2", queued: true },
  timestamp: "2026-01-31T12:00:00.000Z",
};
const SECRET = `whsec_${randomBytes(32).toString("base64")}`;
const PAIR = generateKeyPairSync("ed25519");
const PUBLIC_KEY = `whpk_${PAIR.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")}`;

/** Signs a webhook as the library of the specification does, or with the Ed25519 key. */
function signed(
  payload: unknown,
  { scheme = "v1", at = new Date() }: { scheme?: "v1" | "v1a"; at?: Date } = {},
): Pick<ReceivedWebhook, "headers" | "body"> {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signature =
    scheme === "v1"
      ? new Webhook(SECRET).sign(ID, at, body)
      : `v1a,${sign(null, Buffer.from(`${ID}.${timestamp}.${body}`), PAIR.privateKey).toString("base64")}`;
  return {
    headers: { "webhook-id": ID, "webhook-timestamp": timestamp, "webhook-signature": signature },
    body,
  };
}

const verified = { id: ID, type: EVENT.type, event: { id: ID, ...EVENT }, payload: EVENT };
const refused = (message: string) => new SluiceWebhookError(message);
const NOT_SIGNED = "webhook-signature: expected a signature of one of the keys";

describe("a webhook", () => {
  test("that the specification's library signed is verified, as text and as bytes", async () => {
    const { headers, body } = signed(EVENT);
    expect(new Webhook(SECRET).verify(String(body), Object(headers))).toEqual(EVENT);
    expect(await verifyWebhook({ headers, body, keys: SECRET })).toEqual(verified);
    const bytes = new TextEncoder().encode(String(body));
    expect(await verifyWebhook({ headers, body: bytes, keys: SECRET })).toEqual(verified);
  });

  test("signed with Ed25519 is verified by the public key", async () => {
    const received = signed(EVENT, { scheme: "v1a" });
    expect(await verifyWebhook({ ...received, keys: PUBLIC_KEY })).toEqual(verified);
  });

  test("is verified by any of several keys, and by any of several signatures", async () => {
    const keys = [`whsec_${randomBytes(32).toString("base64")}`, SECRET, PUBLIC_KEY];
    expect(await verifyWebhook({ ...signed(EVENT), keys })).toEqual(verified);
    const [first, second] = [signed(EVENT), signed(EVENT, { scheme: "v1a" })].map(
      ({ headers }) => Object(headers)["webhook-signature"],
    );
    const headers = new Headers(Object(signed(EVENT).headers));
    headers.set("webhook-signature", `v1,AAAA ${second} ${first}`);
    const body = JSON.stringify(EVENT);
    expect(await verifyWebhook({ headers, body, keys: PUBLIC_KEY })).toEqual(verified);
  });

  test.each([
    ["with another body", { body: JSON.stringify({ ...EVENT, type: "status_changed" }) }],
    ["with another key", { keys: `whsec_${randomBytes(32).toString("base64")}` }],
    ["with a key of the other scheme", { keys: PUBLIC_KEY }],
    ["without keys", { keys: [] }],
  ])("%s is refused", async (_, change) => {
    const received = { ...signed(EVENT), keys: SECRET, ...change };
    await expect(verifyWebhook(received)).rejects.toThrow(refused(NOT_SIGNED));
  });

  test("that is too old or too new is refused", async () => {
    const nowMs = Date.parse("2026-01-31T12:00:00.000Z");
    const at = (ms: number) => signed(EVENT, { at: new Date(nowMs + ms) });
    const verify = (ms: number) => verifyWebhook({ ...at(ms), keys: SECRET, nowMs });
    expect(await verify(-300_000)).toEqual(verified);
    expect(await verify(300_000)).toEqual(verified);
    await expect(verify(-301_000)).rejects.toThrow("is 301 s old: expected at most 300 s");
    await expect(verify(301_000)).rejects.toThrow("is -301 s old: expected at most 300 s");
  });

  test.each([
    ["webhook-id", undefined, "webhook-id: expected this header once"],
    ["webhook-signature", ["v1,a", "v1,b"], "webhook-signature: expected this header once"],
    ["webhook-timestamp", "soon", "webhook-timestamp is soon: expected seconds since 1970"],
    ["webhook-signature", "v1,?", "webhook-signature: expected Base64"],
  ])("with an invalid header %s is refused", async (name, value, message) => {
    const { headers, body } = signed(EVENT);
    const received = { headers: { ...Object(headers), [name]: value }, body, keys: SECRET };
    await expect(verifyWebhook(received)).rejects.toThrow(refused(message));
  });

  test("is refused with a key that is none, which the error does not show", async () => {
    const failed = verifyWebhook({ ...signed(EVENT), keys: "sk_live_secret" });
    await expect(failed).rejects.toThrow(
      refused("keys: expected public keys (whpk_…) or secrets (whsec_…)"),
    );
  });

  test("of a type that this version does not know, and a test, have no event", async () => {
    for (const type of ["endpoint.test", "something.new"]) {
      const payload = { type, data: { a: 1 }, timestamp: EVENT.timestamp };
      const result = await verifyWebhook({ ...signed(payload), keys: SECRET });
      expect(result).toEqual({ id: ID, type, event: null, payload });
    }
  });

  test("whose body is no event is refused", async () => {
    await expect(verifyWebhook({ ...signed([1]), keys: SECRET })).rejects.toThrow(
      refused("the body: expected an object with a type"),
    );
  });
});
