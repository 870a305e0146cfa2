/** Finds the lock of a payout where it may be paid: in a final block, or deep enough for its tier. */
import type { BlockId, Chain, Lock, LockFacts } from "../../../chains/port/index.ts";
import type { TxHash } from "../../../core/hex.ts";
import { type Depth, depthFor, type EarlyRules, type Paid } from "./rules.ts";

/** A lock that may be paid. */
export interface Payable {
  readonly lock: Lock;
  /**
   * The latest start of the payout window, in Unix seconds: the lock's time where it is final, else that of a final block
   * without it. Whichever block holds the lock in the end is later, so no payout is possible after its return.
   */
  readonly windowStart: bigint;
  /** Value at risk in US dollars times 1e18; null for a final lock. */
  readonly worth: bigint | null;
  /** How deep the lock is; null for a final lock. */
  readonly after: Depth | null;
}

/** Returns the lock with these facts if it may be paid now, or null. Without rules it must be final. */
export async function findPayable(
  source: Chain,
  facts: LockFacts,
  options: {
    readonly hints: readonly TxHash[];
    readonly rules: EarlyRules | undefined;
    readonly paid: Paid;
    /** The time of its block where that is known, in Unix seconds: before, no final block is asked for it. */
    readonly lockedAt?: bigint;
  },
): Promise<Payable | null> {
  const { hints, rules, paid, lockedAt = 0n } = options;
  const mayBeFinal = lockedAt === 0n || (await source.getTime("final")) >= lockedAt;
  const final = mayBeFinal ? await source.getLock(facts, "final", hints) : null;
  if (final) return { lock: final, windowStart: final.lockedAt, worth: null, after: null };
  if (!rules) return null;
  const worth = await rules.readWorth(paid);
  if (worth === null) return null;
  const { destChain } = paid;
  const after = depthFor(rules.terms, { token: facts.token, destChain, worth });
  if (after === null) return null;
  const { number: finalNumber, hash } = await source.getFinalBlock();
  if (hash === null) return null;
  const seenIn = await findBlockAt(source, after);
  if (!seenIn || seenIn.number <= finalNumber) return null;
  const finalBlock = { number: finalNumber, hash };
  const [lock, known] = await Promise.all([
    source.getLock(facts, seenIn, hints),
    source.getLock(facts, finalBlock, hints),
  ]);
  // The chain became final meanwhile: the next look finds the lock there, with its time.
  if (known || lock?.state !== "locked") return null;
  return { lock, windowStart: await source.getTime(finalBlock), worth, after };
}

/** Returns the newest block that is this deep; null if the node does not have it. */
async function findBlockAt(source: Chain, after: Depth): Promise<BlockId | null> {
  if (after === "safe") {
    const { number, hash } = await source.getSafeBlock();
    return hash === null ? null : { number, hash };
  }
  const head = await source.getHead();
  const number = head.number - BigInt(after) + 1n;
  return number < 0n ? null : source.getBlock(number);
}
