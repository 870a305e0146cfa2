/**
 * Measures the scanner on Solana with blocks of the usual size: slots per second behind the head, and the bytes of a block.
 * The node runs in a process of its own and delays each answer.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { NATIVE_SOL } from "../packages/service/src/core/hex.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { type OpenDatabase, openDatabase } from "../packages/service/src/db/pool.ts";
import { systemClock } from "../packages/service/src/roles/system-ports.ts";
import { solana } from "../packages/service/src/config/presets/index.ts";
import { fromBase58 } from "../packages/service/src/chains/solana/base58.ts";
import { createBlockText } from "../packages/service/test/recorded/solana-load.ts";
import { createSolanaScanner } from "../packages/service/test/rpc/solana-scanner.ts";
import { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";

const START = 1_000n;
const SLOTS_PER_DAY = 216_000;
/** Slots after which pace and memory are shown, to see whether they last. */
const PART_SLOTS = 1_000n;

export async function benchSolana(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      latency: { type: "string", default: "80" },
      slots: { type: "string", default: "500" },
      nodes: { type: "string", default: "1" },
    },
  });
  const slots = Number(values.slots);
  const nodes = Array.from({ length: Number(values.nodes) }, () =>
    fork(new URL("./solana-node.ts", import.meta.url), [values.slots, values.latency]),
  );
  const server = await startThrowawayServer("sluice-bench");
  const open = await openDatabase(server.address, { max: 8 });
  try {
    const urls = await Promise.all(nodes.map(urlOf));
    await migrateToLatest(open.db);
    const { seconds, found, cpuMs, rssMiB } = await catchUp(open, urls, START + BigInt(slots));
    const text = createBlockText(0);
    const [bytes, packed] = [text.length, gzipSync(text).length];
    console.log(`${found} slots in ${seconds.toFixed(1)} s: ${(found / seconds).toFixed(1)}/s`);
    console.log(
      `${(cpuMs / found).toFixed(0)} ms of processor time per slot, at most ${rssMiB.toFixed(0)} MiB resident`,
    );
    console.log(
      `a block has ${show(bytes, 1e6)} MB, ${show(packed, 1e6)} MB compressed; per day and node` +
        ` ${show(bytes * SLOTS_PER_DAY, 1e9)} GB, ${show(packed * SLOTS_PER_DAY, 1e9)} GB compressed`,
    );
  } finally {
    for (const node of nodes) node.kill();
    await open.close();
    await server.stop();
  }
}

function show(bytes: number, unit: number): string {
  return (bytes / unit).toFixed(1);
}

async function urlOf(node: ReturnType<typeof fork>): Promise<string> {
  const [started] = await once(node, "message");
  // CAST: what solana-node.ts sends.
  return (started as { url: string }).url;
}

async function catchUp({ db }: OpenDatabase, urls: readonly string[], head: bigint) {
  const { scan, tip } = createSolanaScanner({
    db,
    urls,
    level: "finalized",
    startBlock: START,
    clock: systemClock,
    tokens: [
      NATIVE_SOL,
      ...solana.tokens.flatMap(({ address }) =>
        address === "native" ? [] : [fromBase58(address)],
      ),
    ],
  });
  const startMs = performance.now();
  const start = process.cpuUsage();
  let rssMiB = 0;
  let part = { number: START, ms: startMs, rssMiB: 0 };
  for (;;) {
    await scan();
    const nowMiB = process.memoryUsage().rss / 2 ** 20;
    rssMiB = Math.max(rssMiB, nowMiB);
    part.rssMiB = Math.max(part.rssMiB, nowMiB);
    const number = (await tip()) ?? START;
    if (number >= part.number + PART_SLOTS) {
      const ms = performance.now();
      const perSecond = (Number(number - part.number) * 1_000) / (ms - part.ms);
      console.log(
        `slot ${number - START}: ${perSecond.toFixed(1)}/s, at most ${part.rssMiB.toFixed(0)} MiB`,
      );
      part = { number, ms, rssMiB: 0 };
    }
    // The newest 31 slots are not final.
    if (number >= head - 40n) {
      const { user, system } = process.cpuUsage(start);
      const seconds = (performance.now() - startMs) / 1_000;
      return { seconds, found: Number(number - START), cpuMs: (user + system) / 1_000, rssMiB };
    }
  }
}
