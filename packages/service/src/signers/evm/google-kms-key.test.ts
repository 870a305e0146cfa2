import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recoverAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type GoogleKmsStandIn,
  startGoogleKmsStandIn,
  VERSION,
  verifyJws,
} from "../../../test/support/google-kms-stand-in.ts";
import { Secret } from "../../core/secret.ts";
import { systemClock, systemHttp } from "../../roles/system-ports.ts";
import { openGoogleKmsKey } from "./google-kms-key.ts";
import { createRawKey } from "./key.ts";

const PRIVATE_KEY = "1a".repeat(32);
const DIGEST = `0x${"22".repeat(32)}` as const;
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

let kms: GoogleKmsStandIn;
let folder: string;
let accountFile: string;
beforeAll(async () => {
  kms = await startGoogleKmsStandIn(PRIVATE_KEY);
  folder = mkdtempSync(join(tmpdir(), "sluice-google-"));
  accountFile = join(folder, "account.json");
  writeFileSync(accountFile, kms.account);
});
afterAll(async () => {
  await kms.close();
  rmSync(folder, { recursive: true });
});

interface Change {
  readonly version?: string;
  readonly at?: GoogleKmsStandIn;
  /** The metadata server's unless given. */
  readonly accountFile?: string;
  readonly now?: () => number;
}

function open(change: Change = {}) {
  const { at = kms, version = VERSION } = change;
  return openGoogleKmsKey(
    { kind: "google_kms", version, endpoint: at.endpoint },
    {
      setting: "attestor.key",
      credentials: { accountFile: change.accountFile ?? null, metadataHost: at.metadataHost },
      http: systemHttp,
      clock: { ...systemClock, ...(change.now && { now: change.now }) },
    },
  );
}

test("the stand-in verifies the published example of RFC 7515, A.2, and no change of it", () => {
  const key = createPublicKey({
    format: "jwk",
    key: {
      kty: "RSA",
      n: "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
      e: "AQAB",
    },
  });
  const example =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
  expect(verifyJws(example, key)).toMatchObject({ iss: "joe", exp: 1_300_819_380 });
  expect(verifyJws(example.replace("eyJpc3MiOiJqb2Ui", "eyJpc3MiOiJqb2Uj"), key)).toBeNull();
});

describe("a key in Google Cloud KMS", () => {
  test("has the address of its public key, and signs with low s and a parity that recovers it", async () => {
    const key = await open();
    expect(key.address).toBe(createRawKey(new Secret(`0x${PRIVATE_KEY}`), "a test").address);
    const parities = new Set<number | undefined>();
    for (let number = 0; number < 32; number += 1) {
      const hash = `0x${number.toString(16).padStart(64, "5")}` as const;
      const signature = await key.sign(hash);
      expect(BigInt(signature.s)).toBeLessThanOrEqual(HALF_ORDER);
      expect((await recoverAddress({ hash, signature })).toLowerCase()).toBe(key.address);
      parities.add(signature.yParity);
    }
    expect(parities).toEqual(new Set([0, 1]));
  });

  test("is sent only the digest to sign", async () => {
    await (await open()).sign(DIGEST);
    expect(kms.requests.at(-1)).toEqual({
      digest: { sha256: Buffer.alloc(32, 0x22).toString("base64") },
    });
  });

  test("asks with the assertion of a service account, for one token until it ends", async () => {
    let nowMs = systemClock.now();
    const before = kms.tokensGiven();
    const key = await open({ accountFile, now: () => nowMs });
    await key.sign(DIGEST);
    expect(kms.tokensGiven()).toBe(before + 1);
    nowMs += 59 * 60_000 + 1;
    await expect(key.sign(DIGEST)).rejects.toThrow("Google refused a token (status 400)");
    nowMs = systemClock.now();
    await key.sign(DIGEST);
    expect(kms.tokensGiven()).toBe(before + 1);
  });

  test("asks for another token once when one is refused", async () => {
    const key = await open();
    const before = kms.tokensGiven();
    kms.revoke();
    await key.sign(DIGEST);
    expect(kms.tokensGiven()).toBe(before + 1);
  });

  test("is refused with another algorithm, and where it does not exist", async () => {
    const other = await startGoogleKmsStandIn(PRIVATE_KEY, "EC_SIGN_P256_SHA256");
    await expect(open({ at: other })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining(
        "expected an enabled version with the algorithm EC_SIGN_SECP256K1_SHA256",
      ),
    });
    expect(other.tokensGiven()).toBe(1);
    await other.close();
    await expect(open({ version: VERSION.replace(/1$/, "2") })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining(
        "attestor.key: Google Cloud KMS refused publicKey (status 404)",
      ),
    });
  });

  test.each([
    ["no file", "/nothing/there.json", ""],
    ["another file", "other.json", '{"type":"authorized_user"}'],
    [
      "an account without a key",
      "empty.json",
      '{"type":"service_account","client_email":"a@b","private_key":"x","token_uri":"http://127.0.0.1:1"}',
    ],
  ])("names the variable of the credentials: %s", async (_what, name, text) => {
    const path = text ? join(folder, name) : name;
    if (text) writeFileSync(path, text);
    await expect(open({ accountFile: path })).rejects.toThrow(
      "attestor.key: expected the JSON key of a service account in the file that GOOGLE_APPLICATION_CREDENTIALS names",
    );
  });

  test.each([
    ["an internal error", { status: 500, body: "{}" }],
    ["a rate limit", { status: 429, body: "{}" }],
    ["an answer that is no signature", { status: 200, body: '{"signature":"AAAA"}' }],
  ])("fails temporarily: %s", async (_what, answer) => {
    const key = await open();
    kms.fail(answer);
    await expect(key.sign(DIGEST)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    kms.fail(null);
    await key.sign(DIGEST);
  });

  test("does not return a signature by another key, nor wait for a server that is gone", async () => {
    const other = await startGoogleKmsStandIn("2b".repeat(32));
    const key = await open({ at: other });
    const real = await open();
    expect(key.address).not.toBe(real.address);
    await other.close();
    await expect(key.sign(DIGEST)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    const stated = await (await open()).sign(DIGEST);
    kms.fail({
      status: 200,
      body: JSON.stringify({ signature: derOf(stated, 1n) }),
    });
    await expect(real.sign(DIGEST)).rejects.toThrow(
      "it signed with a key other than its public key",
    );
    kms.fail(null);
  });
});

/** Returns the DER form of a signature with another `r`, in base64. */
function derOf({ r, s }: { readonly r: string; readonly s: string }, more: bigint): string {
  const integer = (value: bigint) => {
    const hex = value.toString(16);
    const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
    const signed = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
    return Buffer.concat([Buffer.from([2, signed.length]), signed]);
  };
  const body = Buffer.concat([integer(BigInt(r) + more), integer(BigInt(s))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]).toString("base64");
}
