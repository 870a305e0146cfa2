/**
 * A decoder of Solana messages, independent of the encoder: the signer judges the bytes that it is about to sign.
 * Accepts only version 0 without lookup tables, where the message itself lists every account.
 * @see https://solana.com/docs/core/transactions
 */
import { type Address, type Hex32, toAddress, toHex32 } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";

export interface ReadInstruction {
  readonly program: Address;
  readonly accounts: readonly Address[];
  readonly data: Buffer;
}

export interface ReadMessage {
  /** The fee payer first. */
  readonly signers: readonly Address[];
  readonly accounts: readonly Address[];
  /** Accounts that the message may change. */
  readonly writable: readonly Address[];
  readonly blockhash: Hex32;
  readonly instructions: readonly ReadInstruction[];
}

const VERSION_0 = 0x80;
const ADDRESS_BYTES = 32;

/** Decodes a message to its last byte. Throws `SignerRefusal` for any other form. */
export function readMessage(bytes: Uint8Array): ReadMessage {
  const cursor = createCursor(bytes);
  if (cursor.byte() !== VERSION_0) throw malformed("a version other than 0");
  const [required, readonlySigned, readonlyUnsigned] = [
    cursor.byte(),
    cursor.byte(),
    cursor.byte(),
  ];
  const accounts = cursor.list(() => toAddress(cursor.hex(ADDRESS_BYTES)));
  if (required < 1 || readonlySigned >= required || required + readonlyUnsigned > accounts.length) {
    throw malformed("a header that contradicts its account list");
  }
  if (new Set(accounts).size !== accounts.length) throw malformed("a duplicate account");
  const blockhash = toHex32(cursor.hex(ADDRESS_BYTES));
  const accountAt = (index: number): Address => {
    const account = accounts[index];
    if (account === undefined) throw malformed("an account index out of range");
    return account;
  };
  const instructions = cursor.list(() => ({
    program: accountAt(cursor.byte()),
    accounts: cursor.list(() => accountAt(cursor.byte())),
    data: cursor.take(cursor.length()),
  }));
  if (cursor.length() !== 0) throw malformed("a lookup table");
  cursor.end();
  const isWritable = (index: number): boolean =>
    index < required
      ? index < required - readonlySigned
      : index < accounts.length - readonlyUnsigned;
  return {
    signers: accounts.slice(0, required),
    accounts,
    writable: accounts.filter((_account, index) => isWritable(index)),
    blockhash,
    instructions,
  };
}

function createCursor(bytes: Uint8Array) {
  const buffer = Buffer.from(bytes);
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > buffer.length) throw malformed("fewer bytes than it declares");
    at += length;
    return buffer.subarray(at - length, at);
  };
  const byte = (): number => take(1).readUInt8();
  /** Reads a compact-u16: seven bits a byte, lowest first. Accepts only the shortest encoding. */
  const length = (): number => {
    const low = byte();
    if (low < 0x80) return low;
    const high = byte();
    // A packet is too small for lengths of three bytes.
    if (high === 0 || high >= 0x80)
      throw malformed("a length that is not in its shortest encoding");
    return (low & 0x7f) | (high << 7);
  };
  return {
    take,
    byte,
    length,
    hex: (size: number): string => `0x${take(size).toString("hex")}`,
    list: <Item>(read: () => Item): readonly Item[] => Array.from({ length: length() }, read),
    end(): void {
      if (at !== buffer.length) throw malformed("more bytes than it declares");
    },
  };
}

function malformed(what: string): SignerRefusal {
  return new SignerRefusal(`message has ${what}`);
}
