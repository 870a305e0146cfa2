/** The scanner: per chain, one loop turns blocks into deposits and one finds deposits by balance. Holds no key. */
import { getChain } from "../routes/index.ts";
import { startOf } from "../config/index.ts";
import { maintainEvents } from "../events/index.ts";
import { chainLabel } from "../telemetry/metrics.ts";
import {
  createHeadPacing,
  createScan,
  getTip,
  lookAgain,
  PACE_OF_SLOTS,
  pollBalances,
  recordLag,
} from "../scanner/index.ts";
import type { BlockStreams } from "./block-streams.ts";
import type { Parts, RunningRole } from "./context.ts";
import { createIntakeDeps, INTAKE_PARTS } from "./settlement-deps.ts";
import { startReadings, startRoleLoop } from "./health.ts";
import { startPushes } from "./push.ts";

const RETENTION_POLL_MS = 3_600_000;
/** Between two ranges of final blocks that are read again. */
const SECOND_LOOK_MS = 60_000;

/** Parts of the scanner. */
export const SCANNER_PARTS = [...INTAKE_PARTS, "crashPoint", "pace", "random", "worksOn"] as const;

/**
 * @param context `chains` are the scanner's own readers, also for settlements, so that a wallet's balance is not older than
 * the block that paid it.
 * @param streams Streams of new blocks, by bridge chain id.
 */
export function startScanner(
  context: Parts<(typeof SCANNER_PARTS)[number]>,
  streams: ReadonlyMap<number, BlockStreams> = new Map(),
): RunningRole {
  const { db, clock, config, chains, worksOn } = context;
  const settlements = createIntakeDeps(context);
  const pushes: RunningRole[] = [];
  const worked = config.chains.filter(({ chainId }) => worksOn(chainId));
  const loops = worked.flatMap((chain) => {
    const log = context.log.child({ chainId: chain.chainId });
    const vitals = context.health.vitals.watchScanner(chain.chainId);
    const { scannedBlocks } = context.health.metrics;
    const pacing = createHeadPacing({
      clock,
      intervalMs: chain.pollIntervalMs,
      wake: () => loop.wake(),
    });
    const deps = {
      db,
      chain: getChain(chains, chain.chainId),
      tokens: chain.tokens.map((token) => token.address),
      traces: chain.kind === "evm" && chain.traces,
      startBlock: startOf(chain),
      settlements,
      clock,
      crashPoint: context.crashPoint,
      log,
      onScanned(heights: number, newest: bigint) {
        vitals.moved();
        pacing.scanned(newest);
        scannedBlocks.inc({ chain: chainLabel(chain.chainId) }, heights);
      },
      onCaughtUp: () => vitals.caughtUp(),
    };
    const scan = createScan(
      deps,
      chain.kind === "svm" ? { ...context.pace, ...PACE_OF_SLOTS } : context.pace,
    );
    const loop = startRoleLoop(context, "scanner", {
      name: `scanner of chain ${chain.chainId}`,
      intervalMs: chain.pollIntervalMs,
      pauseMs: pacing.pauseMs,
      log,
      poll: () => pacing.poll(scan),
    });
    pushes.push(startPushes({ ...context, log }, chain, pacing));
    const stream = streams.get(chain.chainId)?.start(pacing);
    if (stream) pushes.push(stream);
    return [
      loop,
      // A chain without state at a block needs no balance loop: its blocks show every payment.
      ...(chain.kind === "svm"
        ? []
        : [
            startRoleLoop(context, "scanner", {
              name: `balances of chain ${chain.chainId}`,
              intervalMs: chain.balanceCheckIntervalMs,
              log,
              poll: () => pollBalances(deps),
            }),
            startRoleLoop(context, "scanner", {
              name: `second look of chain ${chain.chainId}`,
              intervalMs: SECOND_LOOK_MS,
              log,
              poll: () => lookAgain(deps),
            }),
          ]),
    ];
  });
  // Only one process scans the first chain, so only one runs the retention of events.
  if (worked[0] === config.chains[0]) {
    loops.push(
      startRoleLoop(context, "scanner", {
        name: "retention of events",
        intervalMs: RETENTION_POLL_MS,
        async poll() {
          const { created, dropped, deleted } = await maintainEvents(db, clock.now());
          if (created.length + dropped.length + deleted > 0) {
            context.log.info({ created, dropped, deleted }, "event retention ran");
          }
          return false;
        },
      }),
    );
  }
  const readings = startReadings(
    context,
    worked.map((chain) => ({
      chain: getChain(chains, chain.chainId),
      head: true,
      lanes: [],
      inventory: [],
      async onHead(head: bigint) {
        const { chainId } = chain;
        const tip = await getTip(db, chainId);
        if (!tip) return;
        const blocks = head > tip.number ? head - tip.number : 0n;
        await recordLag(db, { chainId, blocks, nowMs: clock.now() });
      },
    })),
  );
  loops.push(...readings);
  return {
    async stop() {
      await Promise.all([...loops, ...pushes].map((part) => part.stop()));
    },
  };
}
