import type { Swap } from "../wire/index.ts";
import { SluiceApiError, SluiceResponseError, SluiceTimeoutError } from "./errors.ts";
import type { SluiceClient } from "./rest-client.ts";
import { createPause } from "./wait.ts";

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
 * @throws SluiceTimeoutError when the time is over or the signal aborted; SluiceApiError when the key is refused
 */
export async function waitForSettlement(
  client: Pick<SluiceClient, "listSwaps">,
  options: WaitOptions,
): Promise<Swap> {
  const { walletAddress, after, timeoutMs, pollMs = POLL_MS, signal, onStatus } = options;
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const pause = createPause(signal);
  let seen = "";
  while (!signal?.aborted && Date.now() < deadline) {
    const swap = await findNewest(client, walletAddress);
    if (swap && swap.id !== after) {
      const state = `${swap.id} ${swap.status} ${swap.retryCount}`;
      if (state !== seen) onStatus?.(swap);
      seen = state;
      if (swap.terminal) return swap;
    }
    await pause.wait(Math.min(pollMs, Math.max(0, deadline - Date.now())));
  }
  throw new SluiceTimeoutError(walletAddress);
}

/** The newest of an address; undefined while there is none, or nobody answers. */
async function findNewest(
  client: Pick<SluiceClient, "listSwaps">,
  walletAddress: string,
): Promise<Swap | undefined> {
  try {
    const { items } = await client.listSwaps({ walletAddress, limit: 100 });
    // A service that does not know the filter answers with all.
    return items.find((swap) => swap.walletAddress.toLowerCase() === walletAddress.toLowerCase());
  } catch (error) {
    const passes =
      error instanceof SluiceApiError || error instanceof SluiceResponseError
        ? error.retryable
        : true;
    if (!passes) throw error;
    return undefined;
  }
}
