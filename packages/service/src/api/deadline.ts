/** A bound on what waits for a node: whoever asked gets an answer, however slow the node is. */
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";

/** Less than the connection lives without a word, so that the answer arrives. */
export const ANSWER_DEADLINE_MS = 12_000;

/**
 * The result of some work, if it comes in time. Work that does not goes on by itself; what it still does is done, and a
 * request that is made again finds it.
 * @throws OperatingError RPC_UNAVAILABLE after the deadline.
 */
export async function answerInTime<Result>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  work: Promise<Result>,
): Promise<Result> {
  const done = new AbortController();
  const late = clock.sleep(ANSWER_DEADLINE_MS, done.signal).then(() => {
    if (done.signal.aborted) return work;
    work.catch((error: unknown) => log.warn({ err: error }, "late work failed"));
    throw new OperatingError("RPC_UNAVAILABLE", "The node took too long: try again.", {
      details: { reason: "timeout" },
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
