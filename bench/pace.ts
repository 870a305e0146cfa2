/**
 * Follows a synthetic chain at the pace of a preset through a provider with latency, with the scanner's own loop, and
 * measures for each block how long after its production it was recorded, and the memory. Chain, provider and database run in
 * processes of their own.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type RemoteProvider, spawnProvider, spawnSyntheticChain } from "@sluice/sandbox/provider";
import { PRESETS } from "../packages/service/src/config/presets/index.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../packages/service/src/core/hex.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { startLoop } from "../packages/service/src/jobs/loop.ts";
import { createHeadPacing } from "../packages/service/src/scanner/index.ts";
import { systemClock } from "../packages/service/src/roles/system-ports.ts";
import { createLog } from "../packages/service/src/telemetry/log.ts";
import { createFollower, issueWallet } from "../packages/service/test/support/follower.ts";
import { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";
import { BLOCK_SECONDS, FINAL_SECONDS } from "../scripts/rpc/block-seconds.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const EVM_CHAIN_ID = 31_337;
const HEAD = 1_000_000;
/** Seconds between two deposits. */
const DEPOSIT_SECONDS = 10;
/** Seconds before the first measurement, in which code and caches warm up. */
const WARM_UP_SECONDS = 20;

interface Options {
  readonly chain: string;
  readonly minutes: number;
  readonly latencyMs: number;
  readonly nodes: number;
}

/** A chain's pace, and its preset's interval of polls. */
interface Pace {
  readonly blocksPerSecond: number;
  readonly finalDepth: number;
  readonly pollMs: number;
}

export async function benchPace(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      chain: { type: "string", default: "arbitrum" },
      minutes: { type: "string", default: "10" },
      latency: { type: "string", default: "80" },
      nodes: { type: "string", default: "1" },
    },
  });
  const options: Options = {
    chain: values.chain,
    minutes: Number(values.minutes),
    latencyMs: Number(values.latency),
    nodes: Number(values.nodes),
  };
  const pace = paceOf(options.chain);
  const server = await startThrowawayServer("sluice-bench");
  const database = await openDatabase(server.address, { max: 8 });
  try {
    await migrateToLatest(database.db);
    await follow(database.db, pace, options);
  } finally {
    await database.close();
    await server.stop();
  }
}

function paceOf(chain: string): Pace {
  const preset = PRESETS.find(({ name }) => name === chain);
  const blockSeconds = BLOCK_SECONDS[chain];
  const finalSeconds = FINAL_SECONDS[chain];
  if (!preset || blockSeconds === undefined || finalSeconds === undefined) {
    throw new Error(
      `chain ${chain}: expected one of ${PRESETS.map(({ name }) => name).join(", ")}`,
    );
  }
  return {
    blocksPerSecond: 1 / blockSeconds,
    finalDepth: Math.ceil(finalSeconds / blockSeconds),
    pollMs: preset.terms.pollIntervalMs,
  };
}

type Db = Parameters<typeof issueWallet>[0];

async function follow(db: Db, pace: Pace, options: Options): Promise<void> {
  const seconds = options.minutes * 60;
  const wallet = await issueWallet(db);
  const paid = Array.from({ length: Math.floor(seconds / DEPOSIT_SECONDS) }, (_, index) => ({
    block: HEAD + Math.round(pace.blocksPerSecond * DEPOSIT_SECONDS * (index + 0.5)),
    to: wallet,
    token: index % 2 === 0 ? TOKEN : "native",
    amount: 5_000_000n,
  }));
  const chain = await spawnSyntheticChain({
    head: HEAD,
    blocksPerSecond: pace.blocksPerSecond,
    finalDepth: pace.finalDepth,
    tokens: [TOKEN],
    chainId: EVM_CHAIN_ID,
    deposits: paid,
  });
  const providers: RemoteProvider[] = [];
  try {
    const { latencyMs } = options;
    for (let node = 0; node < options.nodes; node++) {
      providers.push(await spawnProvider({ upstream: chain.url, profile: "geth-like", latencyMs }));
    }
    const [first, ...others] = providers.map(({ url }) => url);
    if (first === undefined) throw new Error("nodes 0: expected a number from 1");
    const producedAtMs = await readProduction(chain.url, pace);
    const lags = createLags(producedAtMs);
    const follower = await createFollower({
      db,
      rpcUrls: [first, ...others],
      required: Math.floor(options.nodes / 2) + 1,
      evmChainId: EVM_CHAIN_ID,
      tokens: [TOKEN, NATIVE_TOKEN],
      startBlock: BigInt(HEAD + 1),
      onScanned: lags.scanned,
    });
    const pacing = createHeadPacing({
      clock: systemClock,
      intervalMs: pace.pollMs,
      wake: () => undefined,
    });
    const loop = startLoop({
      name: "scanner",
      intervalMs: pace.pollMs,
      pauseMs: pacing.pauseMs,
      clock: systemClock,
      log: createLog({ level: "warn", role: "scanner" }),
      poll: () => pacing.poll(follower.scan),
      onPoll: () => undefined,
    });
    const memory: Memory[] = [];
    let waitedBefore = 0;
    try {
      await sleepSeconds(WARM_UP_SECONDS);
      for (const part of [0, 1, 2]) {
        if (part === 0) {
          lags.forget();
          waitedBefore = readWaitedSeconds();
        } else await sleepSeconds((seconds - WARM_UP_SECONDS) / 2);
        memory.push(measureMemory());
      }
    } finally {
      await loop.stop();
    }
    const waited = (readWaitedSeconds() - waitedBefore) / (seconds - WARM_UP_SECONDS);
    const found = await follower.deposits();
    const height = Number(await follower.height());
    const due = paid.filter(({ block }) => block <= height).length;
    if (found.length !== due) throw new Error(`found ${found.length} of ${due} deposits`);
    const stats = await Promise.all(providers.map((provider) => provider.stats()));
    const [most] = stats.toSorted((one, other) => other.requests - one.requests);
    print({
      options,
      pace,
      lags: lags.read(),
      memory,
      blocks: follower.heights(),
      deposits: due,
      waited,
      most,
    });
  } finally {
    for (const provider of providers) await provider.close();
    await chain.close();
  }
}

/** Returns the time at which the chain produces a height, after watching it produce one. */
async function readProduction(
  url: string,
  { blocksPerSecond }: Pace,
): Promise<(height: number) => number> {
  const readHead = async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
    const answer: unknown = await (await fetch(url, { method: "POST", body })).json();
    return Number(Reflect.get(Object(answer), "result"));
  };
  const before = await readHead();
  let head = before;
  while (head === before) head = await readHead();
  const nowMs = performance.now();
  return (height) => nowMs + ((height - head) / blocksPerSecond) * 1_000;
}

/** Collects the milliseconds from the production of each block to its record. */
function createLags(producedAtMs: (height: number) => number) {
  let all: number[] = [];
  let last = HEAD;
  return {
    scanned(newest: bigint): void {
      const nowMs = performance.now();
      for (; last < Number(newest); last++) all.push(nowMs - producedAtMs(last + 1));
    },
    /** Begins the measurement. */
    forget(): void {
      all = [];
    },
    read: (): readonly number[] => all.toSorted((one, other) => one - other),
  };
}

interface Memory {
  readonly heapMiB: number;
  readonly rssMiB: number;
}

setFlagsFromString("--expose-gc");
// CAST: the function that the flag adds to a new context.
const collectGarbage = runInNewContext("gc") as () => void;

/** Measures the memory that is in use after a collection. */
function measureMemory(): Memory {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMiB: heapUsed / 2 ** 20, rssMiB: rss / 2 ** 20 };
}

/** Reads how long this process has been ready to run without a processor: high values void a measurement. */
function readWaitedSeconds(): number {
  const [, waitedNs] = readFileSync("/proc/self/schedstat", "utf8").split(" ");
  return Number(waitedNs) / 1e9;
}

function sleepSeconds(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}

function print(measured: {
  readonly options: Options;
  readonly pace: Pace;
  readonly lags: readonly number[];
  readonly memory: readonly Memory[];
  readonly blocks: number;
  readonly deposits: number;
  readonly waited: number;
  readonly most: Awaited<ReturnType<RemoteProvider["stats"]>> | undefined;
}): void {
  const { options, pace, lags, memory, blocks, deposits, waited, most } = measured;
  const { chain, minutes, latencyMs, nodes } = options;
  const lag = (share: number) =>
    ((lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? NaN) / 1_000).toFixed(2);
  const each = (value: (one: Memory) => number) =>
    memory.map((one) => value(one).toFixed(0)).join(", ");
  const per = (count = 0) => (count / blocks).toFixed(3);
  const text = [
    `${chain}: ${pace.blocksPerSecond.toFixed(2)} blocks/s, ${minutes} min, ${nodes} node(s), ${latencyMs} ms, polls every ${pace.pollMs} ms`,
    `blocks ${blocks}, deposits found ${deposits} of ${deposits}`,
    `lag s: p50 ${lag(0.5)}, p99 ${lag(0.99)}, max ${lag(1)}`,
    `heap MiB: ${each(({ heapMiB }) => heapMiB)}; rss MiB: ${each(({ rssMiB }) => rssMiB)} (start, middle, end)`,
    `share of the time that this process was ready and had no processor: ${waited.toFixed(2)}`,
    `requests per block ${per(most?.requests)}, kB per block ${per((most?.bytesOut ?? 0) / 1_000)}`,
    ...Object.entries(most?.byMethod ?? {}).map(([method, count]) => `  ${method} ${per(count)}`),
    ...Object.entries(most?.refusals ?? {}).map(([id, count]) => `  refused ${id} ${count}`),
  ];
  console.log(text.join("\n"));
}
