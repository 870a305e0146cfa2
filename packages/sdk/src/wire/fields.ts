/**
 * Field schemas that several objects share. They are functions, because each use has its own description.
 *
 * Conventions of the interface: an optional field is absent, never null; a nullable field is always present; amounts are
 * decimal strings in base units; chain ids are bridge chain ids.
 */
import { Type, type TSchema } from "typebox";

/** Pattern of every timestamp in a response: `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export const TIMESTAMP_PATTERN = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$";

/**
 * Pattern of a timestamp in a request: a date, or a date and time with or without offset (without means UTC), in the
 * extended form, `2026-01-31T12:00:00Z`, or the basic form, `20260131T120000Z`.
 */
export const ISO_8601_PATTERN =
  "^(\\d{4}-\\d{2}-\\d{2}([Tt ]\\d{2}:\\d{2}(:\\d{2}([.,]\\d{1,9})?)?([Zz]|[+-]\\d{2}(:?\\d{2})?)?)?" +
  "|\\d{8}([Tt]\\d{4}(\\d{2}([.,]\\d{1,9})?)?([Zz]|[+-]\\d{2}(\\d{2})?)?)?)$";

/** Pattern of an id: a UUID in any case. */
export const UUID_PATTERN = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/** Returns the schema of a timestamp in a response: UTC in whole milliseconds, always 24 characters. */
export function timestamp(description: string) {
  return Type.String({
    pattern: TIMESTAMP_PATTERN,
    description: `${description}, YYYY-MM-DDTHH:mm:ss.SSSZ in UTC`,
    examples: ["2026-01-31T12:00:00.000Z"],
  });
}

/** Returns the schema of a timestamp in a request. The pattern checks the form; the service rejects impossible dates. */
export function timestampInput(description: string) {
  return Type.String({
    pattern: ISO_8601_PATTERN,
    description: `${description}, an ISO 8601 calendar date and time, UTC if it has no offset`,
    examples: ["2026-01-31T12:00:00.000Z"],
  });
}

/** Returns the schema of a UUID. */
export function uuid(description: string) {
  return Type.String({ pattern: UUID_PATTERN, description: `${description}, a UUID` });
}

/** Returns the schema of a value or null. The field itself is always present. */
export function nullable<T extends TSchema>(schema: T, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Returns the schema of one word of a fixed list. */
export function oneOf<T extends string[]>(words: readonly [...T], description: string) {
  return Type.Enum(words, { type: "string", description });
}

/** Returns the schema of a bridge chain id as a number, 1 to 65535. It is not the EVM chain id. */
export function bridgeChainId(description: string) {
  return Type.Integer({
    minimum: 1,
    maximum: 65535,
    description: `${description}, a bridge chain id (1 to 65535)`,
  });
}

/** Returns the schema of a bridge chain id as a decimal string, as used for destinations. */
export function bridgeChainIdText(description: string) {
  return Type.String({
    pattern: "^[1-9]\\d{0,4}$",
    description: `${description}, a bridge chain id as a decimal string`,
    examples: ["30"],
  });
}

/** Returns the schema of a non-negative amount in base units, as a decimal string. */
export function baseUnits(description: string) {
  return Type.String({
    pattern: "^\\d+$",
    description: `${description}, in base units, a decimal string`,
    examples: ["1000000"],
  });
}

/** Returns the schema of 32 bytes: `0x` and 64 lower-case hex digits. */
export function bytes32(description: string) {
  return Type.String({
    pattern: "^0x[0-9a-f]{64}$",
    description: `${description}, 0x and 64 lower-case hex digits`,
  });
}

/** Returns the schema of a user id in a response: 20 bytes, `0x` and 40 lower-case hex digits. */
export function userId(description: string) {
  return Type.String({
    pattern: "^0x[0-9a-f]{40}$",
    description: `${description}, 0x and 40 lower-case hex digits`,
  });
}

/** Returns the schema of an address in the form of its chain: EIP-55 on EVM chains, base58 on Solana. */
export function address(description: string) {
  return Type.String({
    minLength: 1,
    description: `${description}, EIP-55 on EVM chains, base58 on Solana`,
  });
}

/** Returns the schema of a share in basis points, 0 to 10000. */
export function bps(description: string) {
  return Type.Integer({
    minimum: 0,
    maximum: 10_000,
    description: `${description}, in basis points (0 to 10000)`,
  });
}

/** Returns the schema of the cursor of the next page: null if there is no further item. `parameter` takes it. */
export function nextCursor(parameter: string) {
  return nullable(
    timestamp("Timestamp of the last item of this page"),
    `Pass it back as \`${parameter}\`; null when there are no more items`,
  );
}
