/**
 * Memos: the public record of an order's effects in its transaction. One JSON object per order, with addresses and ids
 * in base58 and amounts as decimal strings. The signers are not in the text: the memo program requires that the
 * accounts of a memo signed it.
 */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Instruction } from "@solana/kit";
import { AccountRole, address } from "@solana/kit";
import { type Address, type Hex32, toHex32 } from "../../core/hex.ts";
import {
  numberOfReason,
  reasonOfNumber,
  REFUND_REASONS,
  type RefundReason,
} from "../../core/refund-reason.ts";
import { fromBase58, toBase58 } from "./base58.ts";

/** Version 3 of the memo program. */
export const MEMO_PROGRAM = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

/** A lock was opened. */
export interface LockMemo {
  readonly kind: "lock";
  readonly deliveryId: Hex32;
  readonly vault: Address;
  readonly commitment: Hex32;
  readonly token: Address;
  /** Base units that left the vault. */
  readonly amount: bigint;
  readonly minOut: bigint;
  readonly seq: bigint;
  readonly lockedAt: bigint;
  readonly delivery: Hex32;
  readonly asOf: bigint;
}

/** A lock went to the treasury. */
export interface ClaimMemo {
  readonly kind: "claim";
  readonly deliveryId: Hex32;
  readonly token: Address;
  readonly amount: bigint;
  readonly paidAmount: bigint;
}

/** A lock returned to its vault. */
export interface ReturnMemo {
  readonly kind: "return";
  readonly deliveryId: Hex32;
  readonly vault: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** A delivery was paid. */
export interface DeliverMemo {
  readonly kind: "deliver";
  readonly deliveryId: Hex32;
  readonly commitment: Hex32;
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** A vault paid its committed wallet. */
export interface TransferMemo {
  readonly kind: "transfer";
  readonly vault: Address;
  readonly to: Address;
  readonly token: Address;
  /** Base units that left the vault. */
  readonly amount: bigint;
  /** Of these, base units that the treasury got. */
  readonly fee: bigint;
  readonly asOf: bigint;
}

/** A vault paid its refund authority. */
export interface RefundMemo {
  readonly kind: "refund";
  readonly vault: Address;
  readonly to: Address;
  readonly token: Address;
  readonly amount: bigint;
  readonly reason: RefundReason | null;
}

export type Memo = LockMemo | ClaimMemo | ReturnMemo | DeliverMemo | TransferMemo | RefundMemo;

const exact = { additionalProperties: false } as const;
const Quantity = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$" });
const Word = Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$" });

/** The JSON form of each kind of memo. */
const WireMemo = Type.Union([
  Type.Object(
    {
      sluice: Type.Literal("lock"),
      id: Word,
      commitment: Word,
      token: Word,
      amount: Quantity,
      minOut: Quantity,
      seq: Quantity,
      at: Quantity,
      delivery: Word,
      asOf: Quantity,
    },
    exact,
  ),
  Type.Object(
    { sluice: Type.Literal("claim"), id: Word, token: Word, amount: Quantity, paid: Quantity },
    exact,
  ),
  Type.Object(
    { sluice: Type.Literal("return"), id: Word, vault: Word, token: Word, amount: Quantity },
    exact,
  ),
  Type.Object(
    {
      sluice: Type.Literal("deliver"),
      id: Word,
      commitment: Word,
      to: Word,
      token: Word,
      amount: Quantity,
    },
    exact,
  ),
  Type.Object(
    {
      sluice: Type.Literal("transfer"),
      to: Word,
      token: Word,
      amount: Quantity,
      fee: Quantity,
      asOf: Quantity,
    },
    exact,
  ),
  Type.Object(
    {
      sluice: Type.Literal("refund"),
      to: Word,
      token: Word,
      amount: Quantity,
      reason: Type.Integer({ minimum: 0, maximum: REFUND_REASONS.length }),
    },
    exact,
  ),
]);
type WireMemo = Static<typeof WireMemo>;
const Checked = Compile(WireMemo);

/** Builds a memo instruction. The first signer is the account that alone may act, the second a lock's vault. */
export function buildMemo(memo: Memo, signers: readonly [Address, ...Address[]]): Instruction {
  return {
    programAddress: MEMO_PROGRAM,
    accounts: signers.map((signer) => ({
      address: toBase58(signer),
      role: AccountRole.READONLY_SIGNER,
    })),
    data: Buffer.from(JSON.stringify(writeMemo(memo))),
  };
}

/** Parses a memo from its text and signers; null for a memo that is not ours. */
export function parseMemo(text: string, signers: readonly Address[]): Memo | null {
  try {
    const written: unknown = JSON.parse(text);
    return Checked.Check(written) ? readMemo(written, signers) : null;
  } catch {
    // Anybody can write any memo.
    return null;
  }
}

function writeMemo(memo: Memo): WireMemo {
  switch (memo.kind) {
    case "lock":
      return {
        sluice: "lock",
        id: toBase58(memo.deliveryId),
        commitment: toBase58(memo.commitment),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
        minOut: memo.minOut.toString(),
        seq: memo.seq.toString(),
        at: memo.lockedAt.toString(),
        delivery: toBase58(memo.delivery),
        asOf: memo.asOf.toString(),
      };
    case "claim":
      return {
        sluice: "claim",
        id: toBase58(memo.deliveryId),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
        paid: memo.paidAmount.toString(),
      };
    case "return":
      return {
        sluice: "return",
        id: toBase58(memo.deliveryId),
        vault: toBase58(memo.vault),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
      };
    case "deliver":
      return {
        sluice: "deliver",
        id: toBase58(memo.deliveryId),
        commitment: toBase58(memo.commitment),
        to: toBase58(memo.to),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
      };
    case "transfer":
      return {
        sluice: "transfer",
        to: toBase58(memo.to),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
        fee: memo.fee.toString(),
        asOf: memo.asOf.toString(),
      };
    case "refund":
      return {
        sluice: "refund",
        to: toBase58(memo.to),
        token: toBase58(memo.token),
        amount: memo.amount.toString(),
        reason: numberOfReason(memo.reason),
      };
  }
}

/** Returns null when a signer is missing. Throws on words that are not 32 bytes. */
function readMemo(wire: WireMemo, [first, second]: readonly Address[]): Memo | null {
  if (first === undefined) return null;
  const token = fromBase58(wire.token);
  const amount = BigInt(wire.amount);
  switch (wire.sluice) {
    case "lock":
      if (second === undefined) return null;
      return {
        kind: "lock",
        deliveryId: readWord(wire.id),
        vault: second,
        commitment: readWord(wire.commitment),
        token,
        amount,
        minOut: BigInt(wire.minOut),
        seq: BigInt(wire.seq),
        lockedAt: BigInt(wire.at),
        delivery: readWord(wire.delivery),
        asOf: BigInt(wire.asOf),
      };
    case "claim":
      return {
        kind: "claim",
        deliveryId: readWord(wire.id),
        token,
        amount,
        paidAmount: BigInt(wire.paid),
      };
    case "return":
      return {
        kind: "return",
        deliveryId: readWord(wire.id),
        vault: fromBase58(wire.vault),
        token,
        amount,
      };
    case "deliver":
      return {
        kind: "deliver",
        deliveryId: readWord(wire.id),
        commitment: readWord(wire.commitment),
        to: fromBase58(wire.to),
        token,
        amount,
      };
    case "transfer":
      return {
        kind: "transfer",
        vault: first,
        to: fromBase58(wire.to),
        token,
        amount,
        fee: BigInt(wire.fee),
        asOf: BigInt(wire.asOf),
      };
    case "refund":
      return {
        kind: "refund",
        vault: first,
        to: fromBase58(wire.to),
        token,
        amount,
        reason: reasonOfNumber(wire.reason),
      };
  }
}

function readWord(text: string): Hex32 {
  return toHex32(fromBase58(text));
}
