/**
 * Circuit breaker per route. A provider (Circle's attestation service, a pool, a price source) that fails repeatedly is not
 * called for a while: the next route of the pair is chosen at once, without waiting for time-outs.
 *
 * Only failures of the provider count. An answer about the deposit (too small, fee not covered, no inventory) is a success.
 */
import type { ErrorCode } from "@sluice/sdk/wire";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import type { Route } from "./port.ts";

/** Consecutive failures that pause a route. */
const FAILURES_MAX = 5;
/** Length of a pause in milliseconds. One probe then goes through, and its answer ends or extends the pause. */
const PAUSE_MS = 30_000;

const FAILURE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "RPC_UNAVAILABLE",
  "RESOLVE_FAILED",
  "INTERNAL",
]);

/** Guards the provider calls that a route makes before it commits to a sweep. Calls that follow a sweep are never paused. */
export function withBreaker(
  route: Route,
  deps: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Route {
  const { routesPaused } = deps.metrics;
  const labels = { chain: chainLabel(route.pair.srcChain), kind: route.kind };
  // Exports the gauge as 0 before the first pause.
  routesPaused.inc(labels, 0);
  const facts = { route: route.kind, contract: route.contract, ...route.pair };
  const guard = createBreaker({
    clock: deps.clock,
    onPause(error) {
      routesPaused.inc(labels);
      deps.log.warn({ ...facts, err: error }, "route paused: provider failed repeatedly");
    },
    onResume() {
      routesPaused.dec(labels);
      deps.log.info(facts, "route resumed: provider answers");
    },
  });
  return {
    ...route,
    quote: (...args) => guard(() => route.quote(...args)),
    readBridgeFee: (...args) => guard(() => route.readBridgeFee(...args)),
    prepareSweep: (...args) => guard(() => route.prepareSweep(...args)),
    readInventory: () => guard(() => route.readInventory()),
    readCapacity: (...args) => guard(() => route.readCapacity(...args)),
  };
}

type State =
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "paused"; readonly untilMs: number }
  /** One probe is under way. */
  | { readonly kind: "trying" };

/** Returns a guard. While it is paused it throws RPC_UNAVAILABLE with reason `provider_paused` without calling the provider. */
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
      // A call that began before the pause says nothing about the provider now.
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
    "The route's provider failed repeatedly. The route is paused for up to 30 seconds.",
    {
      details: { reason: "provider_paused" },
    },
  );
}
