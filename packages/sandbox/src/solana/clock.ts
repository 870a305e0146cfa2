/** Produces slots by the clock, more slowly while no transaction is pending and everything is final, to save CPU. */
import type { Chain } from "./chain.ts";

/** Slot times. */
interface ClockOptions {
  /** Slot time, in milliseconds. */
  readonly slotMs: number;
  /** Slot time while no transaction is pending and all are final, in milliseconds. At least `slotMs`. */
  readonly idleSlotMs: number;
}

/** A clock that drives a chain. */
export interface Clock {
  isRunning(): boolean;
  pause(): void;
  resume(): void;
}

/** A clock that never runs, for chains whose slots are produced by the controls. */
export const NO_CLOCK: Clock = {
  isRunning: () => false,
  pause: () => undefined,
  resume: () => undefined,
};

/** Starts a clock. */
export function startClock(chain: Chain, { slotMs, idleSlotMs }: ClockOptions): Clock {
  let timer: NodeJS.Timeout | undefined;
  let movedAt = performance.now();
  /** From this height on, every transaction produced so far is final. */
  let quietFrom = chain.ledger.tip().height;

  const onTimer = (): void => {
    const { height } = chain.ledger.tip();
    const isBusy = chain.pendingCount() > 0 || height < quietFrom;
    if (!isBusy && performance.now() - movedAt < idleSlotMs) return;
    movedAt = performance.now();
    const block = chain.produceBlock();
    if (block.transactions.length === 0) return;
    // One more than finality needs, so that the block is below the newest final one.
    quietFrom = block.height + BigInt(chain.ledger.lags().finalized) + 1n;
  };
  const resume = (): void => {
    timer ??= setInterval(onTimer, slotMs).unref();
  };
  resume();
  return {
    isRunning: () => timer !== undefined,
    pause: () => {
      clearInterval(timer);
      timer = undefined;
    },
    resume,
  };
}
