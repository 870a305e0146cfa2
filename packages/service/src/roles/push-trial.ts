/** One attempt to subscribe to the new blocks of a node. */
import { NEW_HEADS, slotsAt } from "../chains/rpc/push-messages.ts";
import { startPush } from "../chains/rpc/push.ts";
import type { ChainConfig } from "../config/index.ts";
import type { PushTrial } from "../doctor/index.ts";
import { systemClock, systemRandom } from "./system-ports.ts";

/** Subscribes as the scanner does, and ends the subscription at once. */
export async function tryPush(chain: ChainConfig, wsUrl: string): Promise<PushTrial> {
  const startMs = systemClock.now();
  const { promise, resolve } = Promise.withResolvers<PushTrial>();
  const push = startPush({
    wsUrl,
    subscription: chain.kind === "evm" ? NEW_HEADS : slotsAt(chain.detectAt),
    clock: systemClock,
    random: systemRandom,
    onHead: () => undefined,
    onConnected: () => resolve({ kind: "subscribed", durationMs: systemClock.now() - startMs }),
    onDisconnected: ({ reason }) => resolve({ kind: "failed", reason }),
  });
  const trial = await promise;
  await push.stop();
  return trial;
}
