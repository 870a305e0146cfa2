import { inspect } from "node:util";
import { ed25519 } from "@noble/curves/ed25519";
import { hkdf } from "@noble/hashes/hkdf";
import { sha256 } from "@noble/hashes/sha2";
import { describe, expect, test } from "vitest";
import { hashCommitment } from "../../chains/evm/commitment.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import { toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { createSeed, drawSeed, type Role, ROLES } from "./seed.ts";
import { createSolanaVaultSigner } from "./vault-signer.ts";

const SEED = "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const COMMITMENT = toHex32(`0x${"ab".repeat(32)}`);

/** The vectors of docs/solana.md. Issued vaults depend on every byte. */
const VECTORS: Readonly<Record<Role, string>> = {
  binding: "0xba448e70795aca846c2fa3d4feed53a69d58cfef7548e09e1e23adf2086de1b9",
  escrow: "0x928080b1440eb713d4de0d6147c02632af1ce75d843f5c6ed550d1c33c1c3e99",
  delivery: "0x7925f7f29ab64615a97caa579de7655cb2f08510f226fae4d35c5865c7ddc586",
  settle: "0x8abd160edf0fdd25d9d1705d3c5b24930a90f6eb32aa3e94b27112cc79e77be2",
  deliver: "0x636bdb884baee9fb98f9b38c293207e7d1c8184948848ff1ff9942e96108ab1d",
};
const VAULT = "0x880a3542d9cca359f73cf7de8be55d7511221171c1306f70f495fd4e674ed4c6";

const seed = createSeed(new Secret(SEED), "a test");
const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), "hex"));

/** Derives a key with another implementation of HKDF and ed25519. */
function deriveElsewhere(info: Uint8Array): { readonly key: Uint8Array; readonly address: string } {
  const key = hkdf(sha256, bytesOf(SEED), "sluice/solana/v1", info, 32);
  return { key, address: `0x${Buffer.from(ed25519.getPublicKey(key)).toString("hex")}` };
}

describe("the accounts of a seed", () => {
  test("equal the documented test vectors", () => {
    expect(seed.accounts).toEqual(VECTORS);
    expect(seed.vaultOf(COMMITMENT)).toBe(VAULT);
  });

  test.each(ROLES)("include %s as another implementation derives it", (role) => {
    expect(deriveElsewhere(Buffer.from(role)).address).toBe(VECTORS[role]);
  });

  test("include a vault that another implementation derives and signs for alike", () => {
    const info = Buffer.concat([Buffer.from("vault"), bytesOf(COMMITMENT)]);
    const { key, address } = deriveElsewhere(info);
    expect(address).toBe(VAULT);
    const message = Buffer.from("a message");
    expect(Buffer.from(seed.sign({ vault: COMMITMENT }, message))).toEqual(
      Buffer.from(ed25519.sign(message, key)),
    );
  });

  test("differ for every seed and commitment", () => {
    const other = createSeed(drawSeed(), "a test");
    const all = [...Object.values(other.accounts), ...Object.values(seed.accounts)];
    expect(new Set(all).size).toBe(2 * ROLES.length);
    expect(other.vaultOf(COMMITMENT)).not.toBe(VAULT);
    expect(seed.vaultOf(toHex32(`0x${"ac".repeat(32)}`))).not.toBe(VAULT);
  });
});

describe("a seed", () => {
  test.each([
    ["without 0x", SEED.slice(2)],
    ["that is a digit short", SEED.slice(0, -1)],
    ["with a line break", `${SEED}\n`],
  ])("%s is refused without being shown", (_what, text) => {
    const read = () => createSeed(new Secret(text), "solana.seed");
    expect(read).toThrow("solana.seed: the seed is malformed");
    expect(read).not.toThrow(text.trim().slice(2, 40));
  });

  test("does not appear when it is printed or serialized", () => {
    const shown = inspect(seed, { depth: 20, showHidden: true, getters: true });
    expect(shown + JSON.stringify(seed)).not.toContain(SEED.slice(2));
  });
});

describe("a binding", () => {
  const commitment: Commitment = {
    integrator: COMMITMENT,
    userId: COMMITMENT,
    destChain: 2,
    destWallet: COMMITMENT,
    destToken: COMMITMENT,
    refundAuthority: COMMITMENT,
    maxFeeBps: 50,
    maxSlippageBps: 100,
    ...GOVERNED,
  };
  const vaults = createSolanaVaultSigner({ seed, chainId: 1, hashCommitment });

  test("is the binding key's signature over commitment and vault", async () => {
    const { wallet, proof } = await vaults.deriveVault(commitment);
    const hash = hashCommitment(commitment);
    expect(wallet).toBe(seed.vaultOf(hash));
    const message = Buffer.concat([
      Buffer.from("sluice/solana/binding/v1"),
      bytesOf(hash),
      bytesOf(wallet),
    ]);
    expect(ed25519.verify(bytesOf(proof), message, bytesOf(vaults.binding))).toBe(true);
    expect(vaults.binding).toBe(VECTORS.binding);
  });

  test("differs for another commitment", async () => {
    const one = await vaults.deriveVault(commitment);
    const other = await vaults.deriveVault({ ...commitment, maxFeeBps: 51 });
    expect(other.wallet).not.toBe(one.wallet);
    expect(other.proof).not.toBe(one.proof);
  });
});
