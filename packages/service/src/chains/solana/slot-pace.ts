/**
 * Estimates how many slots have got a block since the last read, so that the scanner reads new blocks without first
 * asking for a list of them. A wrong estimate costs a request or a delay; it decides nothing.
 */
import type { Clock } from "../../core/ports.ts";

/** Solana's target; the measured pace replaces it. */
const SLOT_MS = 400;
const SLOT_MS_MIN = 50;
const SLOT_MS_MAX = 4_000;
/** Slots from one list to the next, which shows the pace, and whether there are more blocks than expected. */
const SLOTS_FIRST = 32;
const SLOTS_MAX = 128;
/** Reads without a block before a list, whatever the clock says. */
const EMPTY_READS_MAX = 4;
/** Most slots to read without a list. */
const EXPECTED_MAX = 8;

export interface SlotPace {
  /** Returns the number of slots after this one to read, at most `max`; 0 if a list is needed. */
  expect(after: bigint, max: number): number;
  /** Records a read of the expected slots after this one, and the newest that had a block; false if a list is needed. */
  saw(after: bigint, newest: bigint | null): boolean;
  /** Records that at a time this was the newest slot with a block. */
  caughtUp(newest: bigint, atMs: number): void;
}

export function createSlotPace(clock: Clock): SlotPace {
  let slotMs = SLOT_MS;
  /** The newest block that was read; null if a list is needed. */
  let tip: bigint | null = null;
  /** The block after which none came when it was due: until one comes, a list is needed. */
  let stalledAt: bigint | null = null;
  /** The time at which the slot after the tip is expected to have a block. */
  let nextMs = 0;
  /** The last list. */
  let start = { slot: 0n, ms: 0, isMeasured: false };
  let emptyReads = 0;
  /** The last read: the numbers of slots that were due and that were read, and whether none had a block. */
  let last = { due: 0, asked: 0, isEmpty: false };

  return {
    expect(after, max) {
      const slots = Number(after - start.slot);
      if (tip !== after || slots >= (start.isMeasured ? SLOTS_MAX : SLOTS_FIRST)) return 0;
      const due = 1 + Math.floor(Math.max(0, clock.now() - nextMs) / slotMs);
      // The slot before was perhaps skipped, and counts for nothing.
      const most = last.isEmpty ? max + 1 : max;
      const asked = Math.min(due, most, EXPECTED_MAX);
      last = { due, asked, isEmpty: false };
      return asked;
    },
    saw(after, newest) {
      const nowMs = clock.now();
      if (newest === null) {
        last = { ...last, isEmpty: true };
        emptyReads += 1;
        // The chain is slow, or slots were skipped.
        const isOverdue = last.due > 1 || emptyReads >= EMPTY_READS_MAX;
        if (isOverdue) {
          stalledAt = after;
          tip = null;
        }
        return !isOverdue;
      }
      tip = newest;
      emptyReads = 0;
      const found = Number(newest - after);
      nextMs += found * slotMs;
      // Expects each slot a little earlier, until one is not there yet.
      if (found >= last.asked) nextMs = Math.min(nextMs, nowMs + slotMs) - (found * slotMs) / 160;
      else if (last.asked === last.due) nextMs = Math.max(nextMs, nowMs + slotMs / 2);
      return true;
    },
    caughtUp(newest, atMs) {
      if (newest === stalledAt) return;
      const slots = Number(newest - start.slot);
      const isMeasured = tip !== null && slots >= SLOTS_FIRST;
      if (isMeasured) {
        const measuredMs = (atMs - start.ms) / slots;
        // Half of it, because both ends are inexact by a slot or two.
        slotMs = Math.min(SLOT_MS_MAX, Math.max(SLOT_MS_MIN, (slotMs + measuredMs) / 2));
      }
      // After a stall the pace is measured from here.
      if (isMeasured || tip === null) start = { slot: newest, ms: atMs, isMeasured };
      tip = newest;
      emptyReads = 0;
      nextMs = atMs + slotMs / 2;
    },
  };
}
