/**
 * The attestor's look at payouts that other attestors signed. Each one for a lock that is not final counts in its signer's
 * journal beside its own signatures, so that its early payouts close when others have used up the exposure.
 */
import type {
  Chain,
  Chains,
  FoundDelivery,
  Payout,
  PayoutSearch,
} from "../../../chains/port/index.ts";
import { type Hex32, padAddress } from "../../../core/hex.ts";
import type { Clock } from "../../../core/ports.ts";
import type { CountedPayout, EarlyCount } from "../../../signers/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { EarlyRulesByChain } from "./rules.ts";

/** Pause between two looks at a destination. */
const LOOK_EVERY_MS = 5_000;
/** A complete look that is older shows too little. */
const STALE_MS = 60_000;
/** Pause between two notes of the progress, which is read again after a restart. */
const NOTE_EVERY_MS = 3_600_000;
/** The most blocks of a part, and the most parts of a poll. */
const PART_BLOCKS_MAX = 1_000n;
const PARTS_PER_POLL = 20;

export interface OthersDeps {
  readonly count: EarlyCount;
  readonly rules: EarlyRulesByChain;
  readonly chains: Chains;
  /** Delivery ids whose loss the configuration accepts. */
  readonly acceptedLosses: ReadonlySet<Hex32>;
  readonly payoutWindowS: bigint;
  readonly clock: Clock;
  readonly log: Log;
}

/** The look at the payouts of one destination. */
export interface OthersWatch {
  /**
   * Reports whether early payouts must wait: the payouts of the destination were not all counted in the last minute, or the
   * lock of one of them is not known.
   */
  isClosed(): boolean;
  /** Counts the new payouts of others. Returns true if there are more. */
  poll(): Promise<boolean>;
}

/**
 * Follows the payouts of a destination with the attestor's own readers: to its head, so that a payout counts at once, and a
 * second time as far as blocks are final, so that a reorganisation or a server that was behind hides none.
 */
export function watchOthers(
  deps: OthersDeps,
  { destination, search }: { readonly destination: Chain; readonly search: PayoutSearch },
): OthersWatch {
  const { count, clock, log } = deps;
  const { chainId } = destination;
  /** The last block that was read, at the head and among final blocks. */
  const read: { head: bigint; final: bigint | null } = { head: -1n, final: null };
  const part = { blocks: PART_BLOCKS_MAX };
  const unnamed = new Set<Hex32>();
  let completeMs = -STALE_MS;
  let dueMs = 0;
  let noteMs = 0;

  return {
    isClosed: () => clock.now() >= completeMs + STALE_MS || unnamed.size > 0,
    async poll() {
      if (clock.now() < dueMs) return false;
      const final = await destination.getFinalNumber();
      const { number: head } = await destination.getHead();
      read.final ??= (await count.getReadTo(chainId)) ?? (await findStart());
      read.final = await readOn(read.final, final);
      // Where there is much to read, the final blocks are first.
      if (read.final < final) return true;
      await note(read.final);
      read.head = await readOn(read.head > final ? read.head : final, head);
      if (read.head < head) return true;
      completeMs = clock.now();
      dueMs = completeMs + LOOK_EVERY_MS;
      return false;
    },
  };

  /** Counts the payouts after a block, as many parts as a poll may. Returns the last block that was read. */
  async function readOn(after: bigint, to: bigint): Promise<bigint> {
    let last = after;
    for (let parts = 0; parts < PARTS_PER_POLL && last < to; parts += 1) {
      const end = last + part.blocks < to ? last + part.blocks : to;
      try {
        await countAll(await search.listIn({ from: last + 1n, to: end }));
      } catch (error) {
        // The part may be too large for a node.
        part.blocks = part.blocks > 1n ? part.blocks / 2n : 1n;
        throw error;
      }
      if (part.blocks < PART_BLOCKS_MAX) part.blocks += 1n;
      last = end;
    }
    return last;
  }

  /** Returns the block before the first that can have paid a lock which is not final. */
  async function findStart(): Promise<bigint> {
    const times = await Promise.all(
      [...deps.rules.keys()].map(async (srcChain) => deps.chains.get(srcChain)?.getTime("final")),
    );
    const [first = 0n, ...others] = times.filter((time) => time !== undefined);
    const oldest = others.reduce((least, time) => (time < least ? time : least), first);
    return (await search.findBlockAt(oldest)) - 1n;
  }

  /** Notes the progress, which a restart continues. It stays before a payout that could not be looked up. */
  async function note(block: bigint): Promise<void> {
    if (unnamed.size > 0 || clock.now() < noteMs) return;
    await count.recordReadTo(chainId, block);
    noteMs = clock.now() + NOTE_EVERY_MS;
  }

  async function countAll(payouts: readonly FoundDelivery[]): Promise<void> {
    const others = await count.listOthers(payouts.map(({ deliveryId }) => deliveryId));
    for (const paid of payouts) {
      if (others.includes(paid.deliveryId)) await countOne(paid);
    }
  }

  async function countOne(paid: FoundDelivery): Promise<void> {
    const { deliveryId, txHash } = paid;
    if (deps.acceptedLosses.has(deliveryId)) return;
    const orders = await search.listOrdered(txHash);
    const order = orders.find((one) => destination.deliveryIdOfPayout(one) === deliveryId);
    if (!order) {
      if (!unnamed.has(deliveryId)) {
        log.error(
          { deliveryId, chainId, txHash },
          "payout without an order, signing no early payouts",
        );
      }
      unnamed.add(deliveryId);
      return;
    }
    const payout = await weigh(paid, order);
    if (!payout) return;
    await count.countOther(payout);
    const { srcChain } = payout;
    log.info({ deliveryId, chainId: srcChain }, "counting an early payout that others signed");
  }

  /** Returns the payout as it counts; null if its lock is final, or its chain has no early payouts here. */
  async function weigh(paid: FoundDelivery, order: Payout): Promise<CountedPayout | null> {
    const { srcChain, srcToken, lockedAmount, minOut, seq, windowStart } = order;
    const rules = deps.rules.get(srcChain);
    const source = deps.chains.get(srcChain);
    if (!rules || !source) return null;
    const lock = {
      commitment: destination.hashCommitment(order.commitment),
      delivery: padAddress(destination.addresses.delivery),
      token: srcToken,
      amount: lockedAmount,
      minOut,
      seq,
    };
    const { escrow } = source.addresses;
    const isOurs = padAddress(order.escrow) === padAddress(escrow);
    if (isOurs && (await source.getLock(lock, "final"))) return null;
    const { token, amount, deliveryId } = paid;
    const worth = await rules.readWorth({ destChain: chainId, token, amount });
    return {
      deliveryId,
      srcChain,
      destChain: chainId,
      escrow: isOurs ? escrow : order.escrow,
      lock,
      // Without a price it may be worth anything.
      worth: worth ?? rules.terms.exposure,
      deadline: windowStart + deps.payoutWindowS,
      signedAtMs: clock.now(),
    };
  }
}
