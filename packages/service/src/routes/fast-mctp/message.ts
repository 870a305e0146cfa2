/**
 * Encodes and parses burn messages of Circle's CCTP v2: a header of 148 bytes, followed by a burn body of at least 228
 * bytes. Integers are big-endian; addresses are left-padded to 32 bytes.
 *
 * Layout: circlefin/evm-cctp-contracts, `src/messages/v2/MessageV2.sol` and `src/messages/v2/BurnMessageV2.sol`.
 *
 * The source chain emits zeros in four fields that the attestation service fills in: nonce, executed finality, executed fee
 * and expiration block. All other fields stay as emitted; a message that differs in any of them belongs to another burn.
 */
import { type Hex, type Hex32, toHex32 } from "../../core/hex.ts";

/** Version of both the message and its body in CCTP v2. */
export const MESSAGE_VERSION = 1;

/** Finality thresholds. A burn with `FAST` is attested before its block is final, one with `STANDARD` afterwards. */
export const FINALITY = { FAST: 1000, STANDARD: 2000 } as const;

/** `0x` and 32 zero bytes. */
export const ZERO_WORD = toHex32(`0x${"0".repeat(64)}`);

/** All fields of a burn message, in wire order. */
export interface BurnMessage {
  readonly version: number;
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** Zero as emitted. */
  readonly nonce: Hex32;
  /** Token messenger of the source chain. */
  readonly sender: Hex32;
  /** Token messenger of the destination chain. */
  readonly recipient: Hex32;
  /** The only account that may relay the message; zero for anybody. */
  readonly destinationCaller: Hex32;
  readonly minFinalityThreshold: number;
  /** Zero as emitted. */
  readonly finalityThresholdExecuted: number;
  readonly bodyVersion: number;
  readonly burnToken: Hex32;
  readonly mintRecipient: Hex32;
  /** Burned amount in base units of the source token. */
  readonly amount: bigint;
  /** Account that burned. */
  readonly messageSender: Hex32;
  /** Maximum fee kept of the amount at the destination. */
  readonly maxFee: bigint;
  /** Fee that is kept; zero as emitted. */
  readonly feeExecuted: bigint;
  /** Destination block from which the message is refused; zero means never, and is the emitted value. */
  readonly expirationBlock: bigint;
  readonly hookData: Hex;
}

type Field = keyof BurnMessage;

/** Offset and length of each field in bytes; `hookData` is the rest. */
const FIXED = [
  ["version", 4],
  ["sourceDomain", 4],
  ["destinationDomain", 4],
  ["nonce", 32],
  ["sender", 32],
  ["recipient", 32],
  ["destinationCaller", 32],
  ["minFinalityThreshold", 4],
  ["finalityThresholdExecuted", 4],
  ["bodyVersion", 4],
  ["burnToken", 32],
  ["mintRecipient", 32],
  ["amount", 32],
  ["messageSender", 32],
  ["maxFee", 32],
  ["feeExecuted", 32],
  ["expirationBlock", 32],
] as const satisfies readonly (readonly [Field, number])[];

const FIXED_LENGTH = FIXED.reduce((sum, [, length]) => sum + length, 0);

/** Upper bound on a message: far above any of this service, and below the contracts' limit. */
const LENGTH_MAX = 8_192;

/**
 * Parses a burn message. All fields must be present; only hook data may follow.
 * @throws TypeError if the bytes are not a burn message of this version.
 */
export function parseBurnMessage(bytes: string): BurnMessage {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(bytes))
    throw new TypeError("expected 0x and an even number of hex digits");
  const digits = bytes.slice(2).toLowerCase();
  const length = digits.length / 2;
  if (length < FIXED_LENGTH || length > LENGTH_MAX) {
    throw new TypeError(`expected ${FIXED_LENGTH} to ${LENGTH_MAX} bytes, got ${length}`);
  }
  let offset = 0;
  const take = (count: number): Hex => {
    const part = digits.slice(offset * 2, (offset + count) * 2);
    offset += count;
    return `0x${part}`;
  };
  const uint32 = () => Number(take(4));
  const uint256 = () => BigInt(take(32));
  const word = () => toHex32(take(32));
  const message: BurnMessage = {
    version: uint32(),
    sourceDomain: uint32(),
    destinationDomain: uint32(),
    nonce: word(),
    sender: word(),
    recipient: word(),
    destinationCaller: word(),
    minFinalityThreshold: uint32(),
    finalityThresholdExecuted: uint32(),
    bodyVersion: uint32(),
    burnToken: word(),
    mintRecipient: word(),
    amount: uint256(),
    messageSender: word(),
    maxFee: uint256(),
    feeExecuted: uint256(),
    expirationBlock: uint256(),
    hookData: take(length - FIXED_LENGTH),
  };
  if (message.version !== MESSAGE_VERSION || message.bodyVersion !== MESSAGE_VERSION) {
    throw new TypeError(
      `expected version ${MESSAGE_VERSION}, got ${message.version} with a body of ${message.bodyVersion}`,
    );
  }
  return message;
}

/** Encodes a message. Throws RangeError if a number does not fit its field. */
export function encodeBurnMessage(message: BurnMessage): Hex {
  const fixed = FIXED.map(([field, length]) => {
    const value = message[field];
    if (typeof value === "string") return value.slice(2);
    if (value < 0 || BigInt(value) >= 1n << BigInt(length * 8)) {
      throw new RangeError(`expected ${field} to fit ${length} bytes`);
    }
    return value.toString(16).padStart(length * 2, "0");
  });
  return `0x${fixed.join("")}${message.hookData.slice(2)}`;
}

/** Returns the fields in which a message differs from the expected values. */
export function listDifferences(message: BurnMessage, expected: Partial<BurnMessage>): Field[] {
  const fields: readonly Field[] = [...FIXED.map(([field]) => field), "hookData"];
  return fields.filter((field) => field in expected && message[field] !== expected[field]);
}

/** Fields that the attestation service fills in. */
const FILLED_IN: readonly Field[] = [
  "nonce",
  "finalityThresholdExecuted",
  "feeExecuted",
  "expirationBlock",
];

/**
 * Returns the fields that disqualify an attested message: emitted fields must be unchanged, and filled-in fields must be
 * within the bounds of the burn. Empty if the message may be relayed.
 */
export function findUnacceptable(sent: BurnMessage, attested: BurnMessage): Field[] {
  const unlike = listDifferences(attested, sent).filter((field) => !FILLED_IN.includes(field));
  if (attested.nonce === ZERO_WORD) unlike.push("nonce");
  if (attested.finalityThresholdExecuted < sent.minFinalityThreshold) {
    unlike.push("finalityThresholdExecuted");
  }
  if (attested.feeExecuted > sent.maxFee || attested.feeExecuted >= sent.amount) {
    unlike.push("feeExecuted");
  }
  return unlike;
}
