import { recoverAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ARN,
  CREDENTIALS,
  type KmsStandIn,
  signRequest,
  startKmsStandIn,
} from "../../../test/support/kms-stand-in.ts";
import { Secret } from "../../core/secret.ts";
import { createRawKey } from "./key.ts";
import { openKmsKey } from "./kms-key.ts";

const PRIVATE_KEY = "1a".repeat(32);
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const credentials = {
  accessKeyId: CREDENTIALS.accessKeyId,
  secretAccessKey: new Secret(CREDENTIALS.secretAccessKey),
  sessionToken: undefined,
};

let kms: KmsStandIn;
beforeAll(async () => {
  kms = await startKmsStandIn(PRIVATE_KEY);
});
afterAll(() => kms.close());

const open = (change: { readonly arn?: string; readonly secret?: string } = {}) =>
  openKmsKey(
    {
      kind: "kms",
      arn: change.arn ?? ARN,
      region: "eu-central-1",
      endpoint: kms.endpoint,
    },
    {
      setting: "attestor.key",
      credentials: change.secret
        ? { ...credentials, secretAccessKey: new Secret(change.secret) }
        : credentials,
    },
  );

test("the KMS stand-in reproduces AWS's published signature example `get-vanilla`", () => {
  const signature = signRequest({
    secret: CREDENTIALS.secretAccessKey,
    scope: { day: "20150830", region: "us-east-1", service: "service" },
    at: "20150830T123600Z",
    method: "GET",
    path: "/",
    headers: [
      ["host", "example.amazonaws.com"],
      ["x-amz-date", "20150830T123600Z"],
    ],
    body: "",
  });
  expect(signature).toBe("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
});

describe("a key in AWS KMS", () => {
  test("has the address of its public key", async () => {
    const raw = createRawKey(new Secret(`0x${PRIVATE_KEY}`), "a test");
    expect((await open()).address).toBe(raw.address);
  });

  test("signs digests with low s and a parity that recovers its address", async () => {
    const key = await open();
    const parities = new Set<number | undefined>();
    for (let number = 0; number < 64; number += 1) {
      const hash = `0x${number.toString(16).padStart(64, "5")}` as const;
      const signature = await key.sign(hash);
      expect(BigInt(signature.s)).toBeLessThanOrEqual(HALF_ORDER);
      expect((await recoverAddress({ hash, signature })).toLowerCase()).toBe(key.address);
      parities.add(signature.yParity);
    }
    // Both parities must occur.
    expect(parities).toEqual(new Set([0, 1]));
  });

  test("is sent only the digest to sign", async () => {
    const key = await open();
    await key.sign(`0x${"22".repeat(32)}`);
    expect(kms.requests.at(-1)).toEqual({
      KeyId: ARN,
      Message: Buffer.alloc(32, 0x22).toString("base64"),
      MessageType: "DIGEST",
      SigningAlgorithm: "ECDSA_SHA_256",
    });
  });

  test.each([
    ["wrong credentials", { secret: "something else" }, "IncompleteSignatureException"],
    ["a key that does not exist", { arn: `${ARN.slice(0, -1)}c` }, "NotFoundException"],
  ])("fails as a configuration error: %s", async (_what, change, type) => {
    await expect(open(change)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining(`attestor.key: AWS KMS refused GetPublicKey (${type})`),
    });
  });

  test("fails as a configuration error without credentials", async () => {
    const source = {
      kind: "kms",
      arn: ARN,
      region: "eu-central-1",
      endpoint: kms.endpoint,
    } as const;
    await expect(
      openKmsKey(source, { setting: "attestor.key", credentials: undefined }),
    ).rejects.toThrow("attestor.key: expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  });

  test.each([
    ["an internal error of KMS", { status: 500, body: "{}" }],
    ["an answer that is not JSON", { status: 503, body: "<html>" }],
  ])("fails temporarily: %s", async (_what, answer) => {
    const key = await open();
    kms.fail(answer);
    await expect(key.sign(`0x${"22".repeat(32)}`)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
    kms.fail(null);
    await key.sign(`0x${"22".repeat(32)}`);
  });

  test("does not return a signature by another key", async () => {
    const other = await startKmsStandIn("2b".repeat(32));
    const key = await open();
    const { endpoint } = other;
    const mixed = await openKmsKey(
      { kind: "kms", arn: ARN, region: "eu-central-1", endpoint },
      { setting: "attestor.key", credentials },
    );
    expect(mixed.address).not.toBe(key.address);
    await other.close();
    await expect(mixed.sign(`0x${"22".repeat(32)}`)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });
});
