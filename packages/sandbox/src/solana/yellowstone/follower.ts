/** The blocks of one commitment level in their order, each as soon as it reaches the level. */
import type { BlockJson, Level, Upstream } from "./block-json.ts";

export interface SlotBlock {
  readonly slot: bigint;
  readonly block: BlockJson;
}

export interface Follower {
  /** Begins at an earlier slot. Returns the server's reason if it does not keep that many, otherwise null. */
  goBackTo(slot: bigint, slotsMax: number): string | null;
  /** Returns the blocks that reached the level since the last call. After a fork it continues at the fork. */
  next(): Promise<readonly SlotBlock[]>;
}

/** Creates a follower, which begins after the newest block of its level. */
export async function createFollower(upstream: Upstream, level: Level): Promise<Follower> {
  const first = await upstream.getSlot(level);
  /** Blocks that were returned, the newest last. */
  let passed: SlotBlock[] = [];
  let from = first;

  /** Drops the blocks that are no longer on the chain. */
  async function leaveFork(): Promise<void> {
    for (let last = passed.at(-1); last; last = passed.at(-1)) {
      const found = await upstream.getBlock(last.slot, level);
      if (found?.blockhash === last.block.blockhash) break;
      passed.pop();
      from = passed.at(-1)?.slot ?? first;
    }
  }

  return {
    goBackTo(slot, slotsMax) {
      if (slotsMax === 0) return "from_slot is not supported";
      const oldest = first - BigInt(slotsMax);
      if (slot < oldest) {
        return `broadcast from ${slot} is not available, last available: ${oldest}`;
      }
      from = slot - 1n;
      return null;
    },
    async next() {
      await leaveFork();
      const blocks: SlotBlock[] = [];
      const to = await upstream.getSlot(level);
      for (const slot of await upstream.listSlots(from + 1n, to, level)) {
        const block = await upstream.getBlock(slot, level);
        // Forked meanwhile: the next call continues there.
        if (!block) break;
        blocks.push({ slot, block });
        from = slot;
      }
      passed = [...passed, ...blocks].slice(-100);
      return blocks;
    },
  };
}
