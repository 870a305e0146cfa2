/** The signer's memory of lanes that sign calls to contracts: nonces and committed gas. It is rebuilt from the journal at start. */
import { createHash } from "node:crypto";
import type { Call } from "../chains/port/index.ts";
import type { Address, Hex, TxHash } from "../core/hex.ts";
import type { DailySum } from "./daily-sum.ts";
import type { JournalEntry } from "./journal.ts";
import { CLAIM_CAP_FACTOR_MAX, type SigningRequest } from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";

/** Limits of a lane that signs calls to contracts. */
export interface LaneRules {
  /** Returns the method that a call invokes. Throws `SignerRefusal` for a call that the lane may not sign. */
  readonly checkCall: (call: Call) => string;
  /** Checks a call against the chains, once, before its first signature. Throws `SignerRefusal` or `SignerWaits`. */
  readonly checkEvidence?: (call: Call, hints: readonly TxHash[]) => Promise<void>;
  readonly gasMax: bigint;
  /** Wei per gas; claims and cancellations may offer `CLAIM_CAP_FACTOR_MAX` times as much. */
  readonly gasPriceMax: bigint;
  /** Most wei committed to gas in 24 hours; undefined for no limit. */
  readonly dailyGasBudget: bigint | undefined;
  /** Wei of the budget that only claims and cancellations may use. */
  readonly claimReserve: bigint;
}

/** Number of a lane's newest nonces to remember; older nonces are refused. */
const NONCES_REMEMBERED = 10_000;

/** Largest step ahead of the highest nonce. A far nonce would make every real one older than the memory. */
const NONCES_AHEAD = 1_000;

/** The signed calls of one lane. */
export interface LaneMemory {
  /** By nonce: the call that was signed, and its maximum cost in wei. */
  readonly nonces: Map<number, { readonly callHash: string; readonly wei: bigint }>;
  highest: number;
  /** Wei committed to gas. */
  readonly spent: DailySum;
}

/** Returns the part of a daily budget that a lane that also claims keeps for claims: a quarter. */
export function reserveForClaims(dailyBudget: bigint | undefined): bigint {
  return (dailyBudget ?? 0n) / 4n;
}

/** The journal's name of a cancellation. */
export const CANCEL_METHOD = "cancel";

/** The methods that claim locks: they pay the treasury, in time or never. */
const CLAIM_METHODS: ReadonlySet<string> = new Set(["claim", "claimMany"]);

/** Most gas of a cancellation; rollups charge for layer 1 data in gas. */
const CANCEL_GAS_MAX = 1_000_000n;

/**
 * Returns whether a transaction only uses up its nonce: it transfers nothing, from the lane to itself. Every lane may sign
 * it, and for a nonce under which it signed another call.
 */
export function isCancellationOf(lane: Address, { call, gas }: SigningRequest): boolean {
  const { to, data, value } = call;
  return to === lane && data === "0x" && value === 0n && gas <= CANCEL_GAS_MAX;
}

/** Returns whether the journal has this call under its nonce, at this cost or a higher one. */
export function isRecorded(memory: LaneMemory, intent: SigningRequest): boolean {
  const known = memory.nonces.get(intent.nonce);
  return known?.callHash === hashCall(intent.call) && costOf(intent) <= known.wei;
}

/** Returns whether a call was signed for the nonce before, at any cost. */
export function isSignedCall(memory: LaneMemory, { nonce, call }: SigningRequest): boolean {
  return memory.nonces.get(nonce)?.callHash === hashCall(call);
}

/**
 * Throws `SignerRefusal` for a transaction that the rules or earlier signatures forbid, `SignerWaits` while the rest of the
 * budget is kept for claims.
 */
export function checkTransaction(
  memory: LaneMemory,
  intent: SigningRequest,
  rules: LaneRules,
  { nowMs, method }: { readonly nowMs: number; readonly method: string },
): void {
  const { call, nonce, gas, fees } = intent;
  const { gasMax, dailyGasBudget, claimReserve } = rules;
  const isCancellation = method === CANCEL_METHOD;
  // A cancellation may free the nonce before that of a claim.
  const isUrgent = isCancellation || CLAIM_METHODS.has(method);
  const gasPriceMax = rules.gasPriceMax * (isUrgent ? CLAIM_CAP_FACTOR_MAX : 1n);
  if (call.value !== 0n) throw new SignerRefusal("transaction carries native coin");
  if (gas > gasMax) throw new SignerRefusal(`gas ${gas} above ${gasMax}`);
  if (fees.gasPriceMax > gasPriceMax) {
    throw new SignerRefusal(`fees above ${gasPriceMax} wei`, "lane");
  }
  if (fees.tipMax > fees.gasPriceMax) {
    throw new SignerRefusal("priority fee above the maximum fee", "lane");
  }
  const known = memory.nonces.get(nonce);
  // A cancellation takes the nonce from another call: at most one of both is mined.
  if (known && known.callHash !== hashCall(call) && !isCancellation) {
    throw new SignerRefusal(`another call was signed for nonce ${nonce}`, "nonce");
  }
  if (memory.highest >= 0 && nonce > memory.highest + NONCES_AHEAD) {
    throw new SignerRefusal(
      `nonce ${nonce} is too far ahead of the lane's highest, ${memory.highest}`,
      "lane",
    );
  }
  if (!known && nonce <= memory.highest - NONCES_REMEMBERED) {
    throw new SignerRefusal(`nonce ${nonce} is too old`, "nonce");
  }
  if (dailyGasBudget === undefined) return;
  const spent = memory.spent.at(nowMs);
  // A replacement adds only the difference: one attempt of a nonce is mined.
  const more = costOf(intent) - (known?.wei ?? 0n);
  const budget = isUrgent ? dailyGasBudget : dailyGasBudget - claimReserve;
  if (more > 0n && spent + more > budget) {
    const reason = `daily gas budget of ${budget} wei exceeded`;
    // The call steps aside: claims behind it may use what is left.
    if (!isUrgent && claimReserve > 0n) throw new SignerWaits(reason);
    throw new SignerRefusal(reason, "lane");
  }
}

/** Takes a journaled transaction into the memory. */
export function rememberTransaction(
  memory: LaneMemory,
  entry: JournalEntry & { readonly kind: "transaction" },
  atMs: number,
): void {
  const { nonce } = entry;
  const known = memory.nonces.get(nonce);
  const before = known?.wei ?? 0n;
  const wei = BigInt(entry.gas) * BigInt(entry.maxFeePerGas);
  // The call that a cancellation is to replace keeps its nonce, and may be signed again.
  const isKept = known !== undefined && entry.method === CANCEL_METHOD;
  const callHash = isKept ? known.callHash : callHashOf(entry);
  memory.nonces.set(nonce, { callHash, wei: wei > before ? wei : before });
  if (wei > before) memory.spent.add(wei - before, atMs);
  memory.highest = Math.max(memory.highest, nonce);
  memory.nonces.delete(memory.highest - NONCES_REMEMBERED);
}

/** Returns the journal's fields of a transaction. */
export function describe({ call, nonce, gas, fees }: SigningRequest) {
  return {
    nonce,
    to: call.to,
    dataHash: hashData(call.data),
    value: call.value.toString(),
    gas: gas.toString(),
    maxFeePerGas: fees.gasPriceMax.toString(),
    maxPriorityFeePerGas: fees.tipMax.toString(),
  };
}

function costOf({ gas, fees }: SigningRequest): bigint {
  return gas * fees.gasPriceMax;
}

function hashCall({ to, data, value }: Call): string {
  return callHashOf({ to, dataHash: hashData(data), value: value.toString() });
}

function callHashOf(call: {
  readonly to: string;
  readonly dataHash: string;
  readonly value: string;
}) {
  return `${call.to} ${call.dataHash} ${call.value}`;
}

function hashData(data: Hex): Hex {
  return `0x${createHash("sha256").update(data.slice(2), "hex").digest("hex")}`;
}
