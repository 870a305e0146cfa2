/**
 * A circuit breaker per route: whoever stands behind it (a bridge's service, a pool, a price) and fails again and again
 * is left alone for a while, so that the next route of the pair is taken at once and nobody waits for time-outs.
 *
 * Only failures of the provider count. What a route says about a deposit (too small, not covered, no inventory) is an
 * answer.
 */
import type { ErrorCode } from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import type { Route } from "./port.ts";

/** Failures one after the other that pause a route. */
const FAILURES_MAX = 5;
/** How long it is paused; then one question is let through, and its answer decides. */
const PAUSE_MS = 30_000;

const FAILURE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "RPC_UNAVAILABLE",
  "RESOLVE_FAILED",
  "INTERNAL",
]);

/** Guards what a route asks of its provider before it commits to anything; what follows a sweep goes on regardless. */
export function withBreaker(
  route: Route,
  deps: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Route {
  const { routesPaused } = deps.metrics;
  const labels = { chain: chainLabel(route.pair.srcChain), kind: route.kind };
  // Nothing paused is a number too.
  routesPaused.inc(labels, 0);
  const facts = { route: route.kind, contract: route.contract, ...route.pair };
  const guard = createBreaker({
    clock: deps.clock,
    onPause(error) {
      routesPaused.inc(labels);
      deps.log.warn({ ...facts, err: error }, "a route is paused: it failed again and again");
    },
    onResume() {
      routesPaused.dec(labels);
      deps.log.info(facts, "a paused route answers again");
    },
  });
  return {
    ...route,
    quote: (...args) => guard(() => route.quote(...args)),
    readBridgeFee: (...args) => guard(() => route.readBridgeFee(...args)),
    prepareSweep: (...args) => guard(() => route.prepareSweep(...args)),
    readInventory: () => guard(() => route.readInventory()),
  };
}

type State =
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "paused"; readonly untilMs: number }
  /** One question is under way. */
  | { readonly kind: "trying" };

/** @returns a guard that throws RPC_UNAVAILABLE with the reason `provider_paused` instead of asking while it is paused. */
export function createBreaker(options: {
  readonly clock: Clock;
  readonly onPause: (error: unknown) => void;
  readonly onResume: () => void;
}): <T>(ask: () => Promise<T>) => Promise<T> {
  const { clock, onPause, onResume } = options;
  let state: State = { kind: "closed", failures: 0 };

  return async (ask) => {
    const isPaused = state.kind === "paused" && clock.now() < state.untilMs;
    if (isPaused || state.kind === "trying") throw paused();
    if (state.kind === "paused") state = { kind: "trying" };
    try {
      const answer = await ask();
      settle(true);
      return answer;
    } catch (error) {
      settle(!isFailure(error), error);
      throw error;
    }
  };

  function settle(answered: boolean, error?: unknown): void {
    const before = state;
    if (answered) {
      // What was asked before a pause began says nothing about now.
      if (before.kind === "paused") return;
      state = { kind: "closed", failures: 0 };
      if (before.kind === "trying") onResume();
      return;
    }
    if (before.kind === "paused") return;
    const failures = before.kind === "trying" ? FAILURES_MAX : before.failures + 1;
    if (failures < FAILURES_MAX) {
      state = { kind: "closed", failures };
      return;
    }
    state = { kind: "paused", untilMs: clock.now() + PAUSE_MS };
    if (before.kind === "closed") onPause(error);
  }
}

function isFailure(error: unknown): boolean {
  return !(error instanceof OperatingError) || FAILURE_CODES.has(error.code);
}

function paused(): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    "The route's provider failed again and again; it is left alone for a moment.",
    {
      details: { reason: "provider_paused" },
    },
  );
}
