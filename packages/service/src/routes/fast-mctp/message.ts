/**
 * The message of a burn as Circle's CCTP v2 contracts send and take it: a header of 148 bytes, and behind it the body of
 * a burn, at least 228 bytes. Integers are big-endian; addresses are padded to 32 bytes on the left.
 *
 * Layout: circlefin/evm-cctp-contracts, `src/messages/v2/MessageV2.sol` and `src/messages/v2/BurnMessageV2.sol`.
 *
 * What the source chain emits has zeros in four fields that the attestation service fills in: the nonce, the finality at
 * which it looked, the fee that it took and the block until which the message can be used. Everything else stays as it
 * was burned, and a message that differs in anything else is not of our burn.
 */
import { type Hex, type Hex32, toHex32 } from "../../core/hex.ts";

/** Both the message and its body carry this version in CCTP v2. */
export const MESSAGE_VERSION = 1;

/** Finality thresholds: from `FAST` on a message is attested before its block is final, from `STANDARD` on after. */
export const FINALITY = { FAST: 1000, STANDARD: 2000 } as const;

/** `0x` and 32 zero bytes. */
export const ZERO_WORD = toHex32(`0x${"0".repeat(64)}`);

/** Every field of a burn message, in their order on the wire. */
export interface BurnMessage {
  readonly version: number;
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** Zero as emitted. */
  readonly nonce: Hex32;
  /** The token messenger of the source. */
  readonly sender: Hex32;
  /** The token messenger of the destination. */
  readonly recipient: Hex32;
  /** Who alone may relay it; zero for anybody. */
  readonly destinationCaller: Hex32;
  readonly minFinalityThreshold: number;
  /** Zero as emitted. */
  readonly finalityThresholdExecuted: number;
  readonly bodyVersion: number;
  readonly burnToken: Hex32;
  readonly mintRecipient: Hex32;
  /** Base units of the source token that were burned. */
  readonly amount: bigint;
  /** Who burned. */
  readonly messageSender: Hex32;
  /** The most that may be kept of the amount at the destination. */
  readonly maxFee: bigint;
  /** What is kept of it; zero as emitted. */
  readonly feeExecuted: bigint;
  /** The block of the destination from which on the message is refused; zero for never, and as emitted. */
  readonly expirationBlock: bigint;
  readonly hookData: Hex;
}

type Field = keyof BurnMessage;

/** Where each field begins, in bytes, and how long it is; `hookData` is the rest. */
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

/** Far above any message of ours, and below what the contracts refuse. */
const LENGTH_MAX = 8_192;

/**
 * Reads a burn message; nothing may be missing, and only hook data may follow.
 * @throws TypeError when the bytes are not one, or of another version.
 */
export function parseBurnMessage(bytes: string): BurnMessage {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(bytes)) throw new TypeError("expected 0x and whole bytes");
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

/** The bytes of a message. Throws RangeError on a number that its field cannot hold. */
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

/** The fields in which a message is not what was expected of it. */
export function listDifferences(message: BurnMessage, expected: Partial<BurnMessage>): Field[] {
  const fields: readonly Field[] = [...FIXED.map(([field]) => field), "hookData"];
  return fields.filter((field) => field in expected && message[field] !== expected[field]);
}

/** What the attestation service writes into a message. */
const FILLED_IN: readonly Field[] = [
  "nonce",
  "finalityThresholdExecuted",
  "feeExecuted",
  "expirationBlock",
];

/**
 * The fields that speak against an attested message being that of a burn: what was burned must be there unchanged, and
 * what was filled in must be within what the burn allowed. Empty when it may be relayed.
 */
export function findUnlike(sent: BurnMessage, attested: BurnMessage): Field[] {
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
