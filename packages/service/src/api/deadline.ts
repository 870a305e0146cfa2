/** Deadline for answers that wait for a node. */
import { OperatingError } from "../core/errors.ts";
import { AWAKE, type Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";

/** From the arrival of a request. Shorter than the connection timeout, so that the answer arrives. */
export const ANSWER_DEADLINE_MS = 12_000;

/**
 * Returns the result of some work if it arrives in time after the request, whose admission may have waited. Late work continues, and a repeated request finds its effect.
 * @throws OperatingError RPC_UNAVAILABLE after the deadline.
 */
export async function answerInTime<Result>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { elapsedMs, requestId }: { readonly elapsedMs: number; readonly requestId: string },
  work: Promise<Result>,
): Promise<Result> {
  const leftMs = Math.max(0, ANSWER_DEADLINE_MS - elapsedMs);
  const done = new AbortController();
  const late = clock.sleep(leftMs, done.signal).then(() => {
    if (done.signal.aborted) return work;
    work.catch((error: unknown) =>
      log.warn({ err: error, requestId }, "request failed after its deadline"),
    );
    throw new OperatingError("RPC_UNAVAILABLE", "The node took too long: try again.", {
      details: { reason: "timeout" },
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort(AWAKE);
  }
}
