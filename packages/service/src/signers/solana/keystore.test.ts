import { describe, expect, test } from "vitest";
import { Secret } from "../../core/secret.ts";
import { decryptEvmKeystore, encryptEvmKey } from "../evm/keystore.ts";
import { addressOfKeystore, parseKeystore } from "../keystore.ts";
import { decryptSeed, encryptSeed } from "./keystore.ts";
import { createSeed, drawSeed } from "./seed.ts";

const PASSPHRASE = new Secret("correct horse battery");
const CHEAP = { n: 1_024, r: 8, p: 1 };

describe("the keystore of a seed", () => {
  test("decrypts to the seed and contains the address of its binding key", async () => {
    const seed = drawSeed();
    const { keystore, binding } = await encryptSeed(seed, PASSPHRASE, CHEAP);
    const again = parseKeystore(JSON.stringify(keystore), "solana.seed");
    expect(addressOfKeystore(again)).toBe(binding);
    const opened = await decryptSeed(again, PASSPHRASE, "solana.seed");
    expect(opened.key.reveal()).toBe(seed.reveal());
    expect(opened.address).toBe(createSeed(seed, "a test").accounts.binding);
    expect(JSON.stringify(keystore)).not.toContain(seed.reveal().slice(2));
  });

  test("does not decrypt as a lane's key, nor a lane's keystore as a seed", async () => {
    const seed = await encryptSeed(drawSeed(), PASSPHRASE, CHEAP);
    await expect(decryptEvmKeystore(seed.keystore, PASSPHRASE, "k")).rejects.toThrow(
      "not its key's",
    );
    const lane = await encryptEvmKey(drawSeed(), PASSPHRASE, CHEAP);
    await expect(decryptSeed(lane.keystore, PASSPHRASE, "k")).rejects.toThrow("not its key's");
  });
});
