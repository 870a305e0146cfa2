/** Signatures of the Standard Webhooks specification 1.0.0, against its own library and its published vectors. */
import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { Secret } from "../core/secret.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { createMessageSigner, createSecret, openSecret, sealSecret } from "./secrets.ts";

/** DER of an Ed25519 public key (SPKI) up to its 32 bytes. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const message = {
  id: "msg_1",
  timestamp: Math.floor(Date.now() / 1_000),
  body: '{"test": 2432232314}',
};
const headersOf = (signature: string) => ({
  "webhook-id": message.id,
  "webhook-timestamp": String(message.timestamp),
  "webhook-signature": signature,
});

describe("signatures", () => {
  test("of v1 equal the published vector", () => {
    const secret = new Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    const signature = createMessageSigner("v1", secret).sign({
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1614265330,
      body: '{"test": 2432232314}',
    });
    expect(signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  test("of v1a verify by the public key of RFC 8032, whose seed signed", () => {
    // The second test vector of its section 7.1.
    const seed = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    const point = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    const text = `whsk_${Buffer.from(seed + point, "hex").toString("base64")}`;
    const signature = createMessageSigner("v1a", new Secret(text)).sign(message);
    const publicKey = `whpk_${Buffer.from(point, "hex").toString("base64")}`;
    expect(verifyV1a(publicKey, signature)).toBe(true);
  });

  test("of a new v1 secret are accepted by the library, and refused for another body", () => {
    const { secret, publicKey } = createSecret("v1");
    expect(publicKey).toBeNull();
    const library = new Webhook(secret.reveal());
    const signature = createMessageSigner("v1", secret).sign(message);
    expect(library.verify(message.body, headersOf(signature))).toEqual({ test: 2432232314 });
    expect(() => library.verify(`${message.body} `, headersOf(signature))).toThrow(
      "No matching signature",
    );
  });

  test("of a new v1a secret are accepted by its public key alone", () => {
    const [one, other] = [createSecret("v1a"), createSecret("v1a")];
    const signature = createMessageSigner("v1a", one.secret).sign(message);
    expect(one.secret.reveal()).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/);
    expect(verifyV1a(one.publicKey, signature)).toBe(true);
    expect(verifyV1a(other.publicKey, signature)).toBe(false);
  });
});

function verifyV1a(publicKey: string | null, signature: string): boolean {
  const point = Buffer.from((publicKey ?? "").replace("whpk_", ""), "base64");
  const key = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, point]),
    format: "der",
    type: "spki",
  });
  const signed = Buffer.from(`${message.id}.${message.timestamp}.${message.body}`);
  return verify(null, signed, key, Buffer.from(signature.replace("v1a,", ""), "base64"));
}

describe("stored secrets", () => {
  const pepper = new Secret("a pepper for tests, long enough");
  const id = systemRandom.uuid();

  test("are opened with the same pepper and id, and by nothing else [T218]", () => {
    const { secret } = createSecret("v1");
    const sealed = sealSecret(pepper, id, secret);
    expect(openSecret(pepper, id, sealed)?.reveal()).toBe(secret.reveal());
    expect(openSecret(new Secret("another pepper, long enough"), id, sealed)).toBeNull();
    expect(openSecret(pepper, systemRandom.uuid(), sealed)).toBeNull();
    const changed = Buffer.from(sealed);
    changed[0] = (changed[0] ?? 0) ^ 1;
    expect(openSecret(pepper, id, changed)).toBeNull();
  });

  test("do not contain the secret", () => {
    const { secret } = createSecret("v1a");
    expect(sealSecret(pepper, id, secret).toString("latin1")).not.toContain("whsk_");
  });
});
