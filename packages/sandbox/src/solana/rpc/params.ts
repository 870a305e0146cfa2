/** Parses the parameters of a request, with the errors of a real node. */
import { type Address, isAddress } from "@solana/kit";
import { asRecord } from "../../json-file.ts";
import type { CommitmentLevel } from "../ledger.ts";
import { invalidParams } from "./rpc-error.ts";

const COMMITMENTS = ["processed", "confirmed", "finalized"] as const;
/** Deprecated names of the levels, which nodes still accept. */
const OLD_COMMITMENTS: Readonly<Record<string, CommitmentLevel>> = {
  recent: "processed",
  single: "confirmed",
  singleGossip: "confirmed",
  root: "finalized",
  max: "finalized",
};

/** The parameters of one request. */
export type Params = ReturnType<typeof readParams>;

/** Returns accessors of parameters by index. */
export function readParams(params: unknown) {
  const list: readonly unknown[] = Array.isArray(params) ? params : [];
  const at = (index: number): unknown => list[index];
  const optionsAt = (index: number): Readonly<Record<string, unknown>> => {
    const value = at(index);
    if (value === undefined || value === null) return {};
    const options = asRecord(value);
    if (!options) throw invalidParams(`Invalid params: parameter ${index} is not an object`);
    return options;
  };
  return {
    at,
    optionsAt,
    text: (index: number, name: string): string => {
      const value = at(index);
      if (typeof value !== "string") throw invalidParams(`Invalid params: expected ${name}`);
      return value;
    },
    address: (index: number): Address => toAddress(at(index)),
    integer: (index: number, name: string): bigint => toInteger(at(index), name),
    list: (index: number, name: string, max: number): readonly unknown[] => {
      const value = at(index);
      if (!Array.isArray(value)) throw invalidParams(`Invalid params: expected ${name}`);
      if (value.length > max) throw invalidParams(`Too many inputs provided; max ${max}`);
      return value;
    },
  };
}

/** Parses an address in base58. */
export function toAddress(value: unknown): Address {
  if (typeof value !== "string" || !isAddress(value)) {
    throw invalidParams("Invalid param: WrongSize");
  }
  return value;
}

/** Parses a non-negative integer. */
export function toInteger(value: unknown, name: string): bigint {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidParams(`Invalid params: expected a non-negative integer for ${name}`);
  }
  return BigInt(value);
}

/** Parses the commitment level of the options. Default `finalized`, as on nodes. */
export function toCommitment(value: unknown): CommitmentLevel {
  if (value === undefined || value === null) return "finalized";
  const known = COMMITMENTS.find((one) => one === value);
  const found = known ?? (typeof value === "string" ? OLD_COMMITMENTS[value] : undefined);
  if (found === undefined)
    throw invalidParams(`Invalid params: unknown commitment ${String(value)}`);
  return found;
}

/** Parses the commitment level of a method that reads the ledger, which does not support `processed`. */
export function toLedgerCommitment(value: unknown): CommitmentLevel {
  const commitment = toCommitment(value);
  if (commitment === "processed") {
    throw invalidParams("Method does not support commitment below `confirmed`");
  }
  return commitment;
}

/** Parses one of several words. Default: the first. */
export function toOneOf<Word extends string>(
  value: unknown,
  words: readonly [Word, ...Word[]],
  name: string,
): Word {
  if (value === undefined || value === null) return words[0];
  const found = words.find((word) => word === value);
  if (found === undefined) throw invalidParams(`Invalid params: unknown ${name} ${String(value)}`);
  return found;
}
