import { describe, expect, test } from "vitest";
import { Secret } from "../../core/secret.ts";
import { addressOfKeystore, parseKeystore } from "../keystore.ts";
import { createRawKey } from "./key.ts";
import { createEvmKeystore, decryptEvmKeystore, encryptEvmKey } from "./keystore.ts";

// Test vectors of the Web3 Secret Storage definition.
const SECRET = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const PASSPHRASE = new Secret("testpassword");
const PUBLISHED = {
  pbkdf2: {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
      ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
      kdf: "pbkdf2",
      kdfparams: {
        c: 262_144,
        dklen: 32,
        prf: "hmac-sha256",
        salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
      },
      mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  },
  scrypt: {
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
      ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
      kdf: "scrypt",
      kdfparams: {
        dklen: 32,
        n: 262_144,
        p: 8,
        r: 1,
        salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
      },
      mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
    id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    version: 3,
  },
} as const;
const CHEAP = { n: 1_024, r: 8, p: 1 };

const parse = (value: unknown) => parseKeystore(JSON.stringify(value), "attestor.key");

describe("a published keystore", () => {
  test.each(["pbkdf2", "scrypt"] as const)("derived with %s decrypts to its key", async (kdf) => {
    const { key } = await decryptEvmKeystore(parse(PUBLISHED[kdf]), PASSPHRASE, "attestor.key");
    expect(key.reveal()).toBe(SECRET);
  });

  test("decrypts when it spells Crypto with a capital", async () => {
    const { crypto, ...rest } = PUBLISHED.scrypt;
    const keystore = parse({ ...rest, Crypto: crypto });
    expect((await decryptEvmKeystore(keystore, PASSPHRASE, "k")).key.reveal()).toBe(SECRET);
  });
});

describe("a keystore that we encrypt", () => {
  test("decrypts with its passphrase and contains its address", async () => {
    const passphrase = new Secret("correct horse battery");
    const { keystore, address } = await createEvmKeystore(passphrase, CHEAP);
    const again = parse(keystore);
    expect(addressOfKeystore(again)).toBe(address);
    const { key } = await decryptEvmKeystore(again, passphrase, "k");
    expect(createRawKey(key, "k").address).toBe(address);
    expect(JSON.stringify(keystore)).not.toContain(key.reveal().slice(2));
  });

  test("differs at each encryption and uses the standard cost", async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(() => encryptEvmKey(new Secret(SECRET), PASSPHRASE)),
    );
    expect(one?.keystore.crypto.ciphertext).not.toBe(two?.keystore.crypto.ciphertext);
    expect(one?.keystore.crypto.kdfparams).toMatchObject({ n: 262_144, r: 8, p: 1 });
  });

  test("is refused with another passphrase, naming the setting", async () => {
    const { keystore } = await encryptEvmKey(new Secret(SECRET), PASSPHRASE, CHEAP);
    await expect(
      decryptEvmKeystore(keystore, new Secret("testpasswore"), "attestor.key"),
    ).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: "attestor.key: the passphrase does not open the keystore",
    });
  });

  test("is refused when its address is not its key's", async () => {
    const { keystore } = await encryptEvmKey(new Secret(SECRET), PASSPHRASE, CHEAP);
    const swapped = { ...keystore, address: "11".repeat(20) };
    await expect(decryptEvmKeystore(swapped, PASSPHRASE, "k")).rejects.toThrow("not its key's");
  });

  test.each([
    ["a changed ciphertext", { ciphertext: "00".repeat(32) }],
    ["a changed mac", { mac: "00".repeat(32) }],
  ])("with %s is refused", async (_what, change) => {
    const { keystore } = await encryptEvmKey(new Secret(SECRET), PASSPHRASE, CHEAP);
    const broken = { ...keystore, crypto: { ...keystore.crypto, ...change } };
    await expect(decryptEvmKeystore(broken, PASSPHRASE, "k")).rejects.toThrow("does not open");
  });
});

describe("a file that is not a keystore", () => {
  const { crypto } = PUBLISHED.scrypt;
  test.each([
    ["not JSON", "{"],
    ["a private key", JSON.stringify(SECRET)],
    ["another version", JSON.stringify({ ...PUBLISHED.scrypt, version: 1 })],
    [
      "another cipher",
      JSON.stringify({ version: 3, crypto: { ...crypto, cipher: "aes-256-gcm" } }),
    ],
    [
      "cost parameters that exhaust memory",
      JSON.stringify({
        version: 3,
        crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, n: 1_048_576, r: 64 } },
      }),
    ],
  ])("is refused without its content in the error: %s", (_what, text) => {
    expect(() => parseKeystore(text, "attestor.key")).toThrow(
      /^attestor\.key: expected a keystore of version 3/,
    );
  });
});
