import { generateKeyPairSync, sign } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";
import { describe, expect, test } from "vitest";
import { type CommitmentFields, hashCommitment } from "./commitment.ts";
import { toHex } from "./encoding.ts";
import type { ClaimedVault, VerifyVaultRequest } from "./binding.ts";
import { verifyVault } from "./verify-vault.ts";

const SIGNER = new Uint8Array(32).fill(7);
const BINDING = base58.encode(ed25519.getPublicKey(SIGNER));
const OTHER = base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(8)));
/** Begins with a zero byte, which base58 encodes as the digit 1. */
const VAULT_BYTES = Uint8Array.from({ length: 32 }, (_, index) => index * 5);
const VAULT = base58.encode(VAULT_BYTES);
const RECIPIENT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";

const FIELDS: CommitmentFields = {
  integrator: "0x00000000000000000000000000000000b0322f15c4203951004c75433451d43b",
  userId: "0x00000000000000000000000027b92607747a447b4608f3ed35243be2d586a811",
  destChain: 1,
  destWallet: "0xc6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61",
  destToken: `0x${"0".repeat(64)}`,
  refundAuthority: "0x06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9",
  maxFeeBps: 50,
  maxSlippageBps: 100,
};

/** Signs a binding; spells out the message independently of the code under test. */
function bind(fields: CommitmentFields, vault: Uint8Array, key = SIGNER): string {
  const message = Buffer.concat([
    Buffer.from("sluice/solana/binding/v1"),
    Buffer.from(hashCommitment(fields).slice(2), "hex"),
    vault,
  ]);
  return toHex(ed25519.sign(Uint8Array.from(message), key));
}

const CLAIMED: ClaimedVault = {
  ...FIELDS,
  version: 1,
  walletKind: 1,
  factory: BINDING,
  commitment: hashCommitment(FIELDS),
  binding: bind(FIELDS, VAULT_BYTES),
};
const REQUEST: VerifyVaultRequest = {
  address: VAULT,
  commitment: CLAIMED,
  bindingAccount: BINDING,
};

describe("verifyVault", () => {
  test("accepts a vault whose binding the trusted account signed", () => {
    expect(verifyVault(REQUEST)).toEqual({
      kind: "ok",
      address: VAULT,
      commitment: hashCommitment(FIELDS),
    });
  });

  test("accepts expected values in base58, and a commitment of fields and binding alone", () => {
    const commitment = { ...FIELDS, binding: CLAIMED.binding };
    const expected = { destWallet: RECIPIENT, destToken: "1".repeat(32), maxFeeBps: 60 };
    expect(verifyVault({ ...REQUEST, commitment, expected }).kind).toBe("ok");
  });

  test("accepts a binding signed with the ed25519 of node:crypto", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const account = base58.encode(publicKey.export({ format: "der", type: "spki" }).subarray(-32));
    const message = Buffer.concat([
      Buffer.from("sluice/solana/binding/v1"),
      Buffer.from(hashCommitment(FIELDS).slice(2), "hex"),
      VAULT_BYTES,
    ]);
    const binding = `0x${sign(null, message, privateKey).toString("hex")}`;
    const commitment = { ...FIELDS, binding };
    expect(verifyVault({ address: VAULT, commitment, bindingAccount: account }).kind).toBe("ok");
  });

  test.each([
    ["destChain", 2],
    ["destWallet", BINDING],
    ["destToken", RECIPIENT],
    ["refundAuthority", RECIPIENT],
    ["maxFeeBps", 49],
  ])("reports a mismatch when %s differs from the expected value", (field, value) => {
    const outcome = verifyVault({ ...REQUEST, expected: { [field]: value } });
    expect(outcome).toMatchObject({ kind: "mismatch", field });
  });

  test.each([
    ["version", 2],
    ["walletKind", 2],
    ["domain", "sluice.deposit.v2"],
    ["factory", OTHER],
    ["commitment", `0x${"1".repeat(64)}`],
  ])("reports a mismatch when the claimed %s is wrong", (field, value) => {
    const outcome = verifyVault({ ...REQUEST, commitment: { ...CLAIMED, [field]: value } });
    expect(outcome).toMatchObject({ kind: "mismatch", field });
  });

  test.each([
    ["another vault", { address: OTHER }],
    ["another account", { bindingAccount: OTHER, commitment: { ...CLAIMED, factory: OTHER } }],
    [
      "another recipient",
      { commitment: { ...FIELDS, destWallet: BINDING, binding: CLAIMED.binding } },
    ],
    [
      "a signature of another key",
      {
        commitment: {
          ...CLAIMED,
          binding: bind(FIELDS, VAULT_BYTES, new Uint8Array(32).fill(8)),
        },
      },
    ],
    ["an empty signature", { commitment: { ...CLAIMED, binding: `0x${"00".repeat(64)}` } }],
  ])("reports a binding mismatch for %s", (_, change) => {
    expect(verifyVault({ ...REQUEST, ...change })).toMatchObject({
      kind: "mismatch",
      field: "binding",
    });
  });

  test.each([
    ["address", { address: `0x${"5".repeat(40)}` }],
    ["address", { address: VAULT.slice(1) }],
    ["bindingAccount", { bindingAccount: "" }],
    ["commitment.binding", { commitment: { ...CLAIMED, binding: "0x12" } }],
  ])("names the field %s when it is malformed", (field, change) => {
    expect(() => verifyVault({ ...REQUEST, ...change })).toThrow(`${field}: expected`);
  });
});
