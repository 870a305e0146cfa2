/**
 * The limits of one node, shared by all clients of the process: back-off, requests at once, requests per second and per day.
 * Requests wait in the order in which they came, those that come first before the usual ones, each until its deadline.
 */
import { AWAKE, type Clock, type Random } from "../../core/ports.ts";
import { createBackOff } from "./back-off.ts";
import type { DayBudget } from "./day-budget.ts";
import { createLearnedRate } from "./learned-rate.ts";
import { createRequestWindow } from "./request-window.ts";
import {
  type Exchange,
  type NodeTraffic,
  type Precedence,
  type Turn,
  Withheld,
} from "./traffic.ts";

export interface NodeTrafficOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly observe: (exchange: Exchange) => void;
  /** Called by the caller's work before its requests wait for their turn, with their number. */
  readonly onRequests?: ((count: number) => void) | undefined;
  /** Undefined: as many as the node accepts. */
  readonly requestsPerSecond?: number | undefined;
  /** Undefined: no limit. */
  readonly dayBudget?: DayBudget | undefined;
}

/** The longest that a request waits for the end of a back-off: meanwhile other nodes answer. */
const BACK_OFF_WAIT_MAX_MS = 5_000;

/** HTTP requests at once. More do not help: a server queues them. */
const AT_ONCE_MAX = 32;
/** Batches that fit into a second: of larger ones the last would leave much of it unused. */
const BATCHES_PER_SECOND = 4;

/** Turns in a row that may be taken before a usual request that waits. */
const FIRST_IN_A_ROW_MAX = 3;

interface Waiting {
  readonly count: number;
  readonly precedence: Precedence;
  readonly deadlineMs: number;
  /** The latest end of a back-off that the request waits for. */
  readonly patientUntilMs: number;
  start(turn: Turn): void;
  refuse(error: Withheld): void;
}

export function createNodeTraffic(options: NodeTrafficOptions): NodeTraffic {
  const { clock, observe, onRequests, requestsPerSecond, dayBudget } = options;
  const backOff = createBackOff(options);
  const learned = createLearnedRate();
  const perSecond = () => requestsPerSecond ?? learned.now();
  const window = createRequestWindow(perSecond);
  /** In order of arrival. */
  let queue: Waiting[] = [];
  let open = 0;
  let firstInARow = 0;
  /** Ends the sleep of the pump, because a request ended. */
  let wake = new AbortController();
  let isPumping = false;

  function startOne({ count, start }: Waiting): void {
    const sentMs = clock.now();
    window.take(count, sentMs);
    open += 1;
    start({
      end(limited) {
        open -= 1;
        if (limited) {
          const { retryAfter } = limited;
          const isAtAnyRate = learned.isAtAnyRate();
          const isFirst = backOff.refused({ retryAfter, sentMs, isAtAnyRate });
          learned.refused(clock.now(), isFirst);
          refuseLate();
        } else {
          backOff.answered(sentMs);
          learned.accepted(count, clock.now());
        }
        if (isPumping) wake.abort(AWAKE);
      },
    });
  }

  /** Refuses everything that cannot start before its deadline because of the back-off. */
  function refuseLate(): void {
    const late = queue.filter(({ patientUntilMs }) => patientUntilMs < backOff.untilMs);
    queue = queue.filter((waiting) => !late.includes(waiting));
    for (const { refuse } of late) refuse(new Withheld("rate limited"));
  }

  /** Returns the request whose turn is next. */
  function findNext(): Waiting | undefined {
    const usual = queue.find(({ precedence }) => precedence === "usual");
    if (usual && firstInARow >= FIRST_IN_A_ROW_MAX) return usual;
    return queue.find(({ precedence }) => precedence !== "usual") ?? usual;
  }

  function leave(waiting: Waiting): void {
    queue.splice(queue.indexOf(waiting), 1);
    firstInARow = waiting.precedence === "usual" ? 0 : firstInARow + 1;
  }

  /** Starts waiting requests in order until none is left. */
  async function pump(): Promise<void> {
    if (isPumping) return;
    isPumping = true;
    for (let first = findNext(); first; first = findNext()) {
      const nowMs = clock.now();
      const freeMs = Math.max(backOff.untilMs, window.freeAt(first.count, nowMs));
      const isFull = open >= AT_ONCE_MAX;
      if (freeMs > first.deadlineMs || (isFull && nowMs >= first.deadlineMs)) {
        leave(first);
        first.refuse(new Withheld("too many requests waiting"));
      } else if (freeMs > nowMs || isFull) {
        await clock.sleep((isFull ? first.deadlineMs : freeMs) - nowMs, wake.signal);
        if (wake.signal.aborted) wake = new AbortController();
      } else {
        leave(first);
        startOne(first);
      }
    }
    isPumping = false;
  }

  return {
    now: () => clock.now(),
    get batchMax() {
      return Math.max(1, Math.floor(perSecond() / BATCHES_PER_SECOND));
    },
    observe,
    pause: (ms) => clock.sleep(ms),
    async enter(count, deadlineMs, precedence = "usual") {
      onRequests?.(count);
      const patientUntilMs = Math.min(deadlineMs, clock.now() + BACK_OFF_WAIT_MAX_MS);
      if (backOff.untilMs > patientUntilMs) throw new Withheld("rate limited");
      if (dayBudget && !(await dayBudget.take(count, precedence === "reserve"))) {
        throw new Withheld("daily budget used up");
      }
      try {
        return await new Promise<Turn>((start, refuse) => {
          queue.push({ count, precedence, deadlineMs, patientUntilMs, start, refuse });
          void pump();
        });
      } catch (error) {
        dayBudget?.giveBack(count);
        throw error;
      }
    },
  };
}
