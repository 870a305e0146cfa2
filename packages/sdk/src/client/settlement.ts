import type { Swap } from "../wire/index.ts";
import { isRetryable, SluiceTimeoutError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { createDeadline, createPause, untilAborted } from "./wait.ts";

/** Options of `waitForSettlement`. */
export interface WaitOptions {
  /** The deposit address. */
  readonly walletAddress: string;
  /** Id of an earlier settlement of the address, to be ignored. */
  readonly after?: string;
  /** In milliseconds. Default: no timeout. */
  readonly timeoutMs?: number;
  /** Time between two polls, in milliseconds. Default 2000. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  /** Called with each new status. */
  readonly onStatus?: (swap: Swap) => void;
}

const POLL_MS = 2_000;

/**
 * Waits until the newest settlement of a deposit address has ended, and returns it: `completed` is success, `dead` is
 * failure. Retryable errors are retried.
 * @throws SluiceTimeoutError at the timeout or when the signal aborts; SluiceApiError when the key is rejected;
 *   SluiceResponseError when a response does not match the interface and is not retryable
 */
export async function waitForSettlement(
  client: Pick<SluiceClient, "listSwaps">,
  options: WaitOptions,
): Promise<Swap> {
  const { walletAddress, after, timeoutMs, pollMs = POLL_MS, signal, onStatus } = options;
  const deadline = createDeadline(timeoutMs, signal);
  const pause = createPause(deadline.signal);
  let reported = "";
  try {
    while (!deadline.signal.aborted) {
      const newest = findNewest(client, walletAddress, deadline.signal);
      const swap = (await untilAborted(newest, deadline.signal))?.value;
      if (swap && swap.id !== after) {
        const state = `${swap.id} ${swap.status} ${swap.retryCount}`;
        if (state !== reported) onStatus?.(swap);
        reported = state;
        if (swap.terminal) return swap;
      }
      await pause.wait(pollMs);
    }
  } finally {
    deadline.release();
  }
  throw new SluiceTimeoutError(walletAddress);
}

/** Returns the newest settlement of an address; undefined if there is none, or after a retryable error. */
async function findNewest(
  client: Pick<SluiceClient, "listSwaps">,
  walletAddress: string,
  signal: AbortSignal,
): Promise<Swap | undefined> {
  try {
    const { items } = await client.listSwaps({ walletAddress, limit: 100 }, { signal });
    // A service that does not implement the filter returns the settlements of all addresses.
    return items.find((swap) => swap.walletAddress.toLowerCase() === walletAddress.toLowerCase());
  } catch (error) {
    if (!isRetryable(error)) throw error;
    return undefined;
  }
}
