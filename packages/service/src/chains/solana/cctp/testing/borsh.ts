/** Borsh by the types of an IDL, without any code of the service: what it writes and reads is held against ours. */
import { getAddressDecoder, getAddressEncoder } from "@solana/kit";
import type { FieldType } from "./idl.ts";

type Fields = readonly (readonly [string, FieldType])[];
/** Addresses in base58, bytes in hex without `0x`. */
export type Values = Readonly<Record<string, bigint | string>>;

const SIZES = { u8: 1, u32: 4, u64: 8, i64: 8, pubkey: 32 } as const;

/** The fields in their order, one after the other. */
export function writeBorsh(fields: Fields, values: Values): Buffer {
  return Buffer.concat(fields.map(([name, type]) => writeField(type, values[name])));
}

function writeField(type: FieldType, value: bigint | string | undefined): Buffer {
  if (type === "bytes" && typeof value === "string") {
    const bytes = Buffer.from(value, "hex");
    return Buffer.concat([writeField("u32", BigInt(bytes.length)), bytes]);
  }
  if (type === "pubkey" && typeof value === "string") {
    // CAST: the encoder refuses what is no address.
    return Buffer.from(getAddressEncoder().encode(value as never));
  }
  if (type === "bytes" || type === "pubkey" || typeof value !== "bigint") {
    throw new Error(`no value of the type ${type}`);
  }
  const out = Buffer.alloc(SIZES[type]);
  for (let index = 0; index < out.length; index += 1) {
    out[index] = Number(BigInt.asUintN(8, value >> BigInt(8 * index)));
  }
  return out;
}

/** Reads all of the data; throws when something is missing or left over. */
export function readBorsh(fields: Fields, data: Uint8Array): Values {
  let offset = 0;
  const take = (count: number): Buffer => {
    const part = Buffer.from(data.subarray(offset, offset + count));
    if (part.length !== count) throw new Error("the data is cut short");
    offset += count;
    return part;
  };
  const values = fields.map(([name, type]) => {
    if (type === "bytes") return [name, take(take(4).readUInt32LE()).toString("hex")] as const;
    const part = take(SIZES[type]);
    if (type === "pubkey") return [name, getAddressDecoder().decode(part)] as const;
    const unsigned = part.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
    return [name, type === "i64" ? BigInt.asIntN(64, unsigned) : unsigned] as const;
  });
  if (offset !== data.length) throw new Error("something is left over");
  return Object.fromEntries(values);
}
