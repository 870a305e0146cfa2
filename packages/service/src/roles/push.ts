/** The subscriptions to new blocks: one per node with a `wsUrl`, for the scanner of a chain. */
import { NEW_HEADS, slotsAt } from "../chains/rpc/push-messages.ts";
import { type Push, startPush } from "../chains/rpc/push.ts";
import type { ChainConfig } from "../config/index.ts";
import type { HeadPacing } from "../scanner/index.ts";
import { chainLabel } from "../telemetry/metrics.ts";
import type { Parts, RunningRole } from "./context.ts";
import { labelOf } from "./node-traffic.ts";

/** Subscribes to the nodes of a chain. Their notices start the scanner's polls, and are otherwise ignored. */
export function startPushes(
  { clock, random, log, health }: Parts<"clock" | "random" | "log" | "health">,
  chain: ChainConfig,
  pacing: HeadPacing,
): RunningRole {
  const { chainId } = chain;
  const { rpcPushConnected, rpcPushNotices } = health.metrics;
  const subscription = chain.kind === "evm" ? NEW_HEADS : slotsAt(chain.detectAt);
  const pushes = chain.nodes.all.flatMap(({ wsUrl }, position): Push[] => {
    if (wsUrl === undefined) return [];
    const labels = {
      chain: chainLabel(chainId),
      node: labelOf({ chainId, view: "service", position }),
    };
    rpcPushConnected.set(labels, 0);
    rpcPushNotices.inc(labels, 0);
    let isReported = false;
    const push = startPush({
      wsUrl,
      subscription,
      clock,
      random,
      onHead(height) {
        rpcPushNotices.inc(labels);
        pacing.announce(height);
      },
      onConnected() {
        isReported = false;
        rpcPushConnected.set(labels, 1);
        log.info({ node: position }, "push connected");
        pacing.connected();
      },
      onDisconnected({ reason, wasConnected, isStopped }) {
        rpcPushConnected.set(labels, 0);
        if (wasConnected) pacing.disconnected();
        if (isStopped || isReported) return;
        // Once per outage: the further failures are attempts to connect.
        isReported = true;
        log.warn({ node: position, reason }, "push disconnected, polling");
      },
    });
    return [push];
  });
  return {
    async stop() {
      await Promise.all(pushes.map((push) => push.stop()));
    },
  };
}
