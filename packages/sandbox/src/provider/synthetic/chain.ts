/**
 * A synthetic EVM chain: blocks of real size and shape that are computed on demand from a seed, at any pace and any height. It
 * executes nothing: balances are the sums of the deposits, and roots are random. It is for load and for measurements; anvil
 * is the chain to settle on.
 */
import { SandboxError } from "../../errors.ts";
import { asRecord } from "../../json-file.ts";
import { createBlocks } from "./blocks.ts";
import { createBloomMaker } from "./bloom.ts";
import { createContents } from "./contents.ts";
import { createDepositBook, parseDeposit, type SyntheticDeposit } from "./deposits.ts";
import { createHistory, type SyntheticReorg } from "./history.ts";
import { createJsonWriter } from "./json.ts";
import { createLogReader } from "./logs.ts";
import { createMethods } from "./methods.ts";
import { createNoise } from "./noise.ts";
import { startChainServer } from "./server.ts";

export interface SyntheticChainOptions {
  /** The head at the start (1,000,000). */
  readonly head?: number;
  /** New blocks per second: 4 is Arbitrum's pace. 0 keeps the head fixed until `setHead` (default). */
  readonly blocksPerSecond?: number;
  readonly transactionsPerBlock?: number;
  /** Transfers of strangers in each block. */
  readonly transfersPerBlock?: number;
  /** Blocks below the head that are not final (64). */
  readonly finalDepth?: number;
  /** Addresses of the listed tokens. */
  readonly tokens?: readonly string[];
  /** Share of the strangers' transfers that are of listed tokens; all of them by default, which is the hardest. */
  readonly listedShare?: number;
  readonly deposits?: readonly SyntheticDeposit[];
  /** Reorganisations at certain heads. */
  readonly reorgAt?: readonly SyntheticReorg[];
  readonly chainId?: number;
  readonly seed?: number;
  readonly host?: string;
  readonly port?: number;
}

export interface SyntheticChain {
  readonly url: string;
  readonly wsUrl: string;
  head(): number;
  /** Moves the head of a chain without a pace. */
  setHead(head: number): void;
  /** Pays in the next block, and returns its height. `native` is the native coin. */
  deposit(deposit: Omit<SyntheticDeposit, "block" | "fork">): number;
  /** Replaces the newest blocks now. */
  reorg(depth: number): void;
  /** Returns the hash of the canonical block at a height. */
  hashAt(number: number): string;
  close(): Promise<void>;
}

/** Starts a chain in this process. `spawnSyntheticChain` starts one in its own, for measurements. */
export async function startSyntheticChain(
  options: SyntheticChainOptions = {},
): Promise<SyntheticChain> {
  const { seed = 1, blocksPerSecond = 0, reorgAt = [], chainId = 31_337 } = options;
  const tokens = (options.tokens ?? []).map((token) => token.toLowerCase());
  const clock = createClock(options.head ?? 1_000_000, blocksPerSecond);
  const { head } = clock;
  const deposits = createDepositBook();
  for (const deposit of options.deposits ?? []) deposits.add(deposit);
  const noise = createNoise(seed);
  const history = createHistory({ seed, head, reorgs: reorgAt });
  const writer = createJsonWriter(chainId, noise, createBloomMaker());
  const contents = createContents(
    {
      seed,
      tokens,
      transactionsPerBlock: options.transactionsPerBlock ?? 150,
      transfersPerBlock: options.transfersPerBlock ?? 300,
      listedShare: options.listedShare ?? 1,
    },
    noise,
    deposits,
  );
  const blocks = createBlocks({ contents, history, writer, timestampOf: clock.timestampOf });
  const logs = createLogReader({ blocks, history, deposits, noise, writer });
  const deposit: SyntheticChain["deposit"] = (payment) => {
    const block = head() + 1;
    deposits.add({ ...payment, block });
    return block;
  };
  const answer = createMethods({
    chainId,
    tokens,
    head,
    finalDepth: options.finalDepth ?? 64,
    history,
    blocks,
    logs,
    deposits,
    writer,
    controls: {
      synthetic_deposit: (param) => deposit(parseDeposit({ ...asRecord(param), block: 0 })),
      synthetic_reorg: (depth) => history.reorg(parseCount("depth", depth)),
      synthetic_setHead: (number) => clock.setHead(parseCount("head", number)),
    },
  });
  const hashAt = (number: number) => history.hashOf(history.blockAt(number));
  const server = await startChainServer({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    answer,
    head,
    header: (number) => writer.header(blocks.get(history.blockAt(number))),
    hashAt,
  });
  return {
    ...server,
    head,
    setHead: clock.setHead,
    deposit,
    reorg: history.reorg,
    hashAt,
  };
}

function parseCount(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new SandboxError(`${name} ${JSON.stringify(value)}: expected an integer from 0`);
}

/** Returns the clock of a chain: the head follows the time, or is set. */
function createClock(start: number, blocksPerSecond: number) {
  const startedAt = Date.now();
  let fixed = start;
  const pace = blocksPerSecond > 0 ? blocksPerSecond : 1;
  return {
    head: () =>
      blocksPerSecond > 0
        ? start + Math.floor(((Date.now() - startedAt) / 1000) * blocksPerSecond)
        : fixed,
    setHead: (number: number) => {
      fixed = number;
    },
    /** Unix seconds; the block at the start has the time of the start. */
    timestampOf: (number: number) =>
      Math.max(1, Math.floor(startedAt / 1000 + (number - start) / pace)),
  };
}
