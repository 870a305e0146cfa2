import { type EvmAddress, toEvmAddress } from "./hex.ts";

/** Parses a user id, any `0x` hex whose value fits 20 bytes, to canonical form; undefined for other text. */
export function parseUserId(text: string): EvmAddress | undefined {
  const digits = /^0x0*([0-9a-fA-F]{1,40})$/.exec(text)?.[1];
  return digits === undefined ? undefined : toEvmAddress(`0x${digits.padStart(40, "0")}`);
}
