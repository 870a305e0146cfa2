/**
 * Encrypted keystores in the format of Ethereum clients, "Web3 Secret Storage" version 3. Writes scrypt; reads scrypt
 * and PBKDF2. A keystore holds 32 bytes (a private key or a seed); the chain family derives the address that proves them.
 * @see https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage/
 */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2,
  randomBytes,
  randomUUID,
  scrypt,
  timingSafeEqual,
} from "node:crypto";
import { promisify } from "node:util";
import { scryptAsync } from "@noble/hashes/scrypt";
import { keccak_256 } from "@noble/hashes/sha3";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import { type Address, toAddress } from "../core/hex.ts";
import { Secret } from "../core/secret.ts";

/** Geth's standard cost: 256 MiB of memory. */
const SCRYPT = { n: 262_144, r: 8, p: 1 } as const;
const KEY_LENGTH = 32;
/** Bytes. Bounds the memory that an untrusted file can demand. */
const SCRYPT_MEMORY_MAX = 1_073_741_824;

const HexBytes = (bytes: number) => Type.String({ pattern: `^[0-9a-fA-F]{${bytes * 2}}$` });
const Salt = Type.String({ pattern: "^([0-9a-fA-F]{2}){8,64}$" });

const Keystore = Type.Object({
  version: Type.Literal(3),
  id: Type.Optional(Type.String()),
  address: Type.Optional(Type.String({ pattern: "^(0x)?([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$" })),
  crypto: Type.Intersect([
    Type.Object({
      cipher: Type.Literal("aes-128-ctr"),
      cipherparams: Type.Object({ iv: HexBytes(16) }),
      ciphertext: HexBytes(32),
      mac: HexBytes(32),
    }),
    Type.Union([
      Type.Object({
        kdf: Type.Literal("scrypt"),
        kdfparams: Type.Object({
          dklen: Type.Literal(KEY_LENGTH),
          n: Type.Integer({ minimum: 2, maximum: 1_048_576 }),
          r: Type.Integer({ minimum: 1, maximum: 64 }),
          p: Type.Integer({ minimum: 1, maximum: 16 }),
          salt: Salt,
        }),
      }),
      Type.Object({
        kdf: Type.Literal("pbkdf2"),
        kdfparams: Type.Object({
          dklen: Type.Literal(KEY_LENGTH),
          c: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
          prf: Type.Literal("hmac-sha256"),
          salt: Salt,
        }),
      }),
    ]),
  ]),
});

export type Keystore = Static<typeof Keystore>;

/** Work factors of scrypt: the cost of trying one passphrase. */
export interface ScryptCost {
  readonly n: number;
  readonly r: number;
  readonly p: number;
}

/** 32 secret bytes and the address derived from them. */
export interface KeptKey {
  readonly key: Secret;
  readonly address: Address;
}

/** Encrypts 32 bytes, given as 0x and 64 hex digits. Only tests lower `cost`. */
export async function encryptKeystore(
  { key, address }: KeptKey,
  passphrase: Secret,
  cost: ScryptCost = SCRYPT,
): Promise<Keystore> {
  const kdfparams = { dklen: KEY_LENGTH, ...cost, salt: randomBytes(32).toString("hex") } as const;
  const derived = await deriveKey({ kdf: "scrypt", kdfparams }, passphrase);
  const iv = randomBytes(16);
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const plain = Buffer.from(key.reveal().slice(2), "hex");
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
  plain.fill(0);
  return {
    version: 3,
    id: randomUUID(),
    address: address.slice(2),
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: iv.toString("hex") },
      ciphertext: ciphertext.toString("hex"),
      kdf: "scrypt",
      kdfparams,
      mac: macOf(derived, ciphertext).toString("hex"),
    },
  };
}

/**
 * Parses a keystore file. Throws CONFIG_MISSING for any other content.
 * @param whose the setting that names the file, for messages
 */
export function parseKeystore(text: string, whose: string): Keystore {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw notAKeystore(whose);
  }
  // Some clients capitalize the key as `Crypto`.
  const file = Value.Check(Type.Object({ Crypto: Type.Unknown() }), parsed)
    ? { ...parsed, crypto: parsed.Crypto }
    : parsed;
  if (!Value.Check(Keystore, file)) throw notAKeystore(whose);
  const { crypto } = file;
  if (crypto.kdf === "scrypt" && memoryOf(crypto.kdfparams) > SCRYPT_MEMORY_MAX) {
    throw notAKeystore(whose);
  }
  return file;
}

/** Returns the address that the file states, or null. It is unverified until the keystore is decrypted. */
export function addressOfKeystore({ address }: Keystore): Address | null {
  return address === undefined ? null : toAddress(`0x${address.replace(/^0x/, "")}`);
}

/**
 * Decrypts a keystore. Throws CONFIG_MISSING for a wrong passphrase, or when the stated address is not the key's.
 * @param addressOf derives the family's address from the bytes
 */
export async function decryptKeystore(
  keystore: Keystore,
  {
    passphrase,
    whose,
    addressOf,
  }: {
    readonly passphrase: Secret;
    readonly whose: string;
    readonly addressOf: (key: Secret) => Address;
  },
): Promise<KeptKey> {
  const { crypto } = keystore;
  const derived = await deriveKey(crypto, passphrase);
  const ciphertext = Buffer.from(crypto.ciphertext, "hex");
  if (!timingSafeEqual(macOf(derived, ciphertext), Buffer.from(crypto.mac, "hex"))) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${whose}: the passphrase does not open the keystore`,
    );
  }
  const iv = Buffer.from(crypto.cipherparams.iv, "hex");
  const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  const key = new Secret(`0x${plain.toString("hex")}`);
  plain.fill(0);
  const stated = addressOfKeystore(keystore);
  const address = addressOf(key);
  if (stated && stated !== address) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${whose}: the keystore states the address ${stated}, which is not its key's`,
    );
  }
  return { key, address };
}

type Kdf =
  | Pick<Keystore["crypto"] & { readonly kdf: "scrypt" }, "kdf" | "kdfparams">
  | Pick<Keystore["crypto"] & { readonly kdf: "pbkdf2" }, "kdf" | "kdfparams">;

async function deriveKey(kdf: Kdf, passphrase: Secret): Promise<Buffer> {
  const password = Buffer.from(passphrase.reveal().normalize("NFC"), "utf8");
  const salt = Buffer.from(kdf.kdfparams.salt, "hex");
  try {
    if (kdf.kdf === "pbkdf2") {
      return await promisify(pbkdf2)(password, salt, kdf.kdfparams.c, KEY_LENGTH, "sha256");
    }
    const { n: N, r, p } = kdf.kdfparams;
    // RFC 7914 forbids this cost and OpenSSL refuses it, but keystores of early clients use it.
    if (N >= 2 ** (16 * r))
      return Buffer.from(await scryptAsync(password, salt, { N, r, p, dkLen: KEY_LENGTH }));
    const maxmem = memoryOf(kdf.kdfparams) + 1_048_576;
    return await new Promise<Buffer>((resolve, reject) => {
      scrypt(password, salt, KEY_LENGTH, { N, r, p, maxmem }, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    password.fill(0);
  }
}

function memoryOf({ n, r, p }: { readonly n: number; readonly r: number; readonly p: number }) {
  return 128 * r * (n + p + 2);
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext])));
}

function notAKeystore(whose: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `${whose}: expected a keystore of version 3 (Web3 Secret Storage) with scrypt or PBKDF2`,
  );
}
