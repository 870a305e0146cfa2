import type { Swap } from "../wire/index.ts";
import { mayPass, SluiceTimeoutError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { createEnd, createPause, untilAborted } from "./wait.ts";

/** Which settlement to wait for, and for how long. */
export interface WaitOptions {
  /** The deposit address. */
  readonly walletAddress: string;
  /** Id of a settlement of the same address that does not count: an earlier one. */
  readonly after?: string;
  /** In milliseconds; for ever without it. */
  readonly timeoutMs?: number;
  /** Between two looks, in milliseconds. Default 2000. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  /** Called with each new status. */
  readonly onStatus?: (swap: Swap) => void;
}

const POLL_MS = 2_000;

/**
 * Waits until the newest settlement of a deposit address has ended, and returns it: `completed` is success, `dead` is not.
 * Trouble that passes is waited out.
 * @throws SluiceTimeoutError as soon as the time is over or the signal aborts; SluiceApiError when the key is refused;
 *   SluiceResponseError when something else answers, and not for a while only
 */
export async function waitForSettlement(
  client: Pick<SluiceClient, "listSwaps">,
  options: WaitOptions,
): Promise<Swap> {
  const { walletAddress, after, timeoutMs, pollMs = POLL_MS, signal, onStatus } = options;
  const end = createEnd(timeoutMs, signal);
  const pause = createPause(end.signal);
  let seen = "";
  try {
    while (!end.signal.aborted) {
      const looked = findNewest(client, walletAddress, end.signal);
      const swap = (await untilAborted(looked, end.signal))?.value;
      if (swap && swap.id !== after) {
        const state = `${swap.id} ${swap.status} ${swap.retryCount}`;
        if (state !== seen) onStatus?.(swap);
        seen = state;
        if (swap.terminal) return swap;
      }
      await pause.wait(pollMs);
    }
  } finally {
    end.release();
  }
  throw new SluiceTimeoutError(walletAddress);
}

/** The newest of an address; undefined while there is none, or nobody answers. */
async function findNewest(
  client: Pick<SluiceClient, "listSwaps">,
  walletAddress: string,
  signal: AbortSignal,
): Promise<Swap | undefined> {
  try {
    const { items } = await client.listSwaps({ walletAddress, limit: 100 }, { signal });
    // A service that does not know the filter answers with all.
    return items.find((swap) => swap.walletAddress.toLowerCase() === walletAddress.toLowerCase());
  } catch (error) {
    if (!mayPass(error)) throw error;
    return undefined;
  }
}
