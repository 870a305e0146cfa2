/** The streams of new blocks: one per Solana node with a `grpcUrl`, for the scanner. */
import { type BlockStream, createBlockStream } from "../chains/solana/yellowstone/block-stream.ts";
import type { ChainConfig } from "../config/index.ts";
import type { HeadPacing } from "../scanner/index.ts";
import { chainLabel } from "../telemetry/metrics.ts";
import type { Parts, RunningRole } from "./context.ts";
import { labelOf } from "./node-traffic.ts";

export interface BlockStreams {
  /** The stream of each node by its position; undefined: it has none. */
  readonly ofNodes: readonly (BlockStream | undefined)[];
  /** Connects to the nodes. Their blocks start the scanner's polls. */
  start(pacing: HeadPacing): RunningRole;
}

/** Creates the streams of a chain, without a connection. */
export function createBlockStreams(
  { clock, random, log, health }: Parts<"clock" | "random" | "log" | "health">,
  chain: ChainConfig,
): BlockStreams {
  const { chainId } = chain;
  const ofNodes = chain.nodes.all.map(({ grpcUrl, grpcToken }) =>
    grpcUrl === undefined || chain.kind !== "svm"
      ? undefined
      : createBlockStream({
          url: grpcUrl,
          token: grpcToken,
          commitment: chain.detectAt,
          clock,
          random,
        }),
  );

  function startOne(stream: BlockStream, position: number, pacing: HeadPacing): void {
    const { rpcStreamConnected, rpcStreamBlocks, rpcBytes } = health.metrics;
    const labels = {
      chain: chainLabel(chainId),
      node: labelOf({ chainId, view: "service", position }),
    };
    rpcStreamConnected.set(labels, 0);
    rpcStreamBlocks.inc(labels, 0);
    let isReported = false;
    stream.start({
      onBytes: (bytes) => rpcBytes.inc({ ...labels, direction: "received" }, bytes),
      onBlock(slot) {
        rpcStreamBlocks.inc(labels);
        pacing.announce(slot);
      },
      onConnected() {
        isReported = false;
        rpcStreamConnected.set(labels, 1);
        log.info({ node: position }, "block stream connected");
        pacing.connected();
      },
      onDisconnected({ reason, wasConnected, isStopped }) {
        rpcStreamConnected.set(labels, 0);
        if (wasConnected) pacing.disconnected();
        if (isStopped || isReported) return;
        // Once per outage: the further failures are attempts to connect.
        isReported = true;
        log.warn({ node: position, reason }, "block stream disconnected, requesting blocks");
      },
    });
  }

  return {
    ofNodes,
    start(pacing) {
      for (const [position, stream] of ofNodes.entries()) {
        if (stream) startOne(stream, position, pacing);
      }
      return {
        async stop() {
          await Promise.all(ofNodes.map((stream) => stream?.stop()));
        },
      };
    },
  };
}
