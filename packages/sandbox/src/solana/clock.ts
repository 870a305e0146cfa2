/** Lets slots pass by the clock. When nothing waits and everything is final they pass slowly, to spare the laptop. */
import type { Chain } from "./chain.ts";

/** How fast slots pass. */
export interface ClockOptions {
  /** Milliseconds of a slot. */
  readonly slotMs: number;
  /** Milliseconds of a slot while nothing waits and all transactions are final. Never less than `slotMs`. */
  readonly idleSlotMs: number;
}

/** A clock that drives a chain. */
export interface Clock {
  isRunning(): boolean;
  pause(): void;
  resume(): void;
}

/** A clock that was never started, for chains that are driven by hand. */
export const NO_CLOCK: Clock = {
  isRunning: () => false,
  pause: () => undefined,
  resume: () => undefined,
};

/** Starts a clock. */
export function startClock(chain: Chain, { slotMs, idleSlotMs }: ClockOptions): Clock {
  let timer: NodeJS.Timeout | undefined;
  let movedAt = performance.now();
  /** Height from which on everything is final, as far as was seen. */
  let quietFrom = chain.ledger.tip().height;

  const onTimer = (): void => {
    const { height } = chain.ledger.tip();
    const isBusy = chain.pendingCount() > 0 || height < quietFrom;
    if (!isBusy && performance.now() - movedAt < idleSlotMs) return;
    movedAt = performance.now();
    const block = chain.produceBlock();
    if (block.transactions.length === 0) return;
    // One more than finality needs, for readers that want it strictly below the newest final one.
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
