/**
 * Runs the node of an EVM chain: anvil, detached from the launcher. A stopped node saves its chain to a state file, from
 * which it is started again. `NAME.head.json` next to it has the highest known block.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { ChainSpec } from "./chain-specs.ts";
import {
  type DetachedNode,
  type NodeIdentity,
  openDetached,
  stopLeftoverDetached,
} from "./detached-node.ts";
import { SandboxError } from "./errors.ts";
import { createEvmClient, type EvmClient } from "./evm-client.ts";
import { asRecord, isErrno, readJson, writeJson } from "./json-file.ts";
import type { ProcessIdentity } from "./processes.ts";

const PLATFORM_PACKAGE = "@foundry-rs/anvil-linux-amd64";
/** How often a running node saves its chain, in case it is killed. It always saves when it stops. */
const SAVE_INTERVAL_SECONDS = 5;
/** Number of old block states kept on disk in addition to the newest 500 in memory; each takes about 300 KB. */
const OLD_STATES_MAX = 100;
/**
 * Enough for all contracts, and for the 16 largest batches that a lane has open: anvil leaves out a transaction that does not fit
 * into a block, finds the nonce of the next one too high and drops it. Real nodes keep both.
 */
const BLOCK_GAS_LIMIT = 200_000_000;

/** A running node. */
export interface Node {
  readonly spec: ChainSpec;
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly rpcUrl: string;
  readonly client: EvmClient;
  readonly logPath: string;
  /** A `new` chain, one `loaded` from its state file, or a running node that was `adopted`. */
  readonly origin: "new" | "loaded" | "adopted";
  /** Stores the head, so that the next start detects lost blocks. */
  recordHead(block: bigint): void;
  /** Stops the node, which saves its chain. */
  stop(): Promise<void>;
}

/** How to run a node. */
export interface NodeOptions {
  readonly spec: ChainSpec;
  /** Directory of the nodes' files. */
  readonly dir: string;
  /** Port to listen on; 0 for any free port. Absent: the port of the running node, otherwise the chain's default. */
  readonly port?: number;
  /** Path of an anvil binary to use instead of the one from npm. */
  readonly anvil?: string;
  /** Epoch length: a block is final two epochs behind the head. Default 1. */
  readonly slotsInAnEpoch?: number;
  /** Blocks of which state and transactions are kept. Absent: all, saved every few seconds, which takes longer with each. */
  readonly blocksKept?: number;
}

/** Returns the path of the anvil binary from npm. Throws a `SandboxError` that names the package if it is missing. */
export function locateAnvil(
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): string {
  try {
    return resolve(`${PLATFORM_PACKAGE}/bin/anvil`);
  } catch (error) {
    if (!isErrno(error, "MODULE_NOT_FOUND")) throw error;
    throw new SandboxError(
      `the package ${PLATFORM_PACKAGE} is missing (this is ${process.platform} ${process.arch}): run npm ci on Linux x64 with glibc, or pass an anvil binary with --anvil FILE`,
    );
  }
}

/** Adopts the node if it is running, otherwise starts it. */
export async function openNode(options: NodeOptions): Promise<Node> {
  const { spec, dir, port } = options;
  const files = nodeFiles(dir, spec);
  const binary = options.anvil ?? locateAnvil();
  const head = readHead(files.head);
  const detached = await openDetached({
    ...identityOf(options),
    ...(port === undefined ? {} : { port }),
    defaultPort: spec.defaultPort,
    command: (chosen) => ({ binary, args: anvilArguments(options, files, chosen) }),
    isReady: (rpcUrl) => isReady(createEvmClient(spec, rpcUrl)),
  });
  const started = head === undefined ? "new" : "loaded";
  const node = createNode(options, detached, detached.isAdopted ? "adopted" : started);
  try {
    if (node.origin === "loaded" && head !== undefined) await assertNoBlocksLost(node, head);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** Stops the node of a chain if one is running from this directory. */
export async function stopLeftoverNode(options: Pick<NodeOptions, "spec" | "dir">): Promise<void> {
  await stopLeftoverDetached(identityOf(options));
}

function identityOf({ spec, dir }: Pick<NodeOptions, "spec" | "dir">): NodeIdentity {
  const { state: statePath } = nodeFiles(dir, spec);
  return { name: spec.name, dir, statePath, chainId: spec.evmChainId };
}

type NodeFiles = ReturnType<typeof nodeFiles>;

function nodeFiles(dir: string, spec: ChainSpec) {
  const at = (suffix: string) => join(dir, `${spec.name}.${suffix}`);
  return { head: at("head.json"), state: at("state.json"), cache: at("cache") };
}

function anvilArguments(
  { spec, slotsInAnEpoch = 1, blocksKept }: NodeOptions,
  files: NodeFiles,
  port: number,
): readonly string[] {
  const settings = {
    "--host": "127.0.0.1",
    "--port": String(port),
    "--chain-id": String(spec.evmChainId),
    "--slots-in-an-epoch": String(slotsInAnEpoch),
    "--order": "fifo",
    "--accounts": "0",
    "--gas-limit": String(BLOCK_GAS_LIMIT),
    "--state": files.state,
    ...(blocksKept === undefined
      ? {
          "--state-interval": String(SAVE_INTERVAL_SECONDS),
          "--cache-path": files.cache,
          "--max-persisted-states": String(OLD_STATES_MAX),
        }
      : {
          "--prune-history": String(blocksKept),
          "--transaction-block-keeper": String(blocksKept),
        }),
  };
  return [...Object.entries(settings).flat(), "--no-mining", "--no-request-size-limit", "--quiet"];
}

function createNode(
  { spec, dir }: NodeOptions,
  detached: DetachedNode,
  origin: Node["origin"],
): Node {
  const { process, port, rpcUrl, logPath, stop } = detached;
  return {
    spec,
    process,
    port,
    rpcUrl,
    client: createEvmClient(spec, rpcUrl),
    logPath,
    origin,
    recordHead: (block) => writeJson(nodeFiles(dir, spec).head, { block: block.toString() }),
    stop,
  };
}

/** Reports whether the node responds with its chain id. No response is expected while it starts. */
async function isReady(client: EvmClient): Promise<boolean> {
  try {
    return (await client.getChainId()) === client.chain.id;
  } catch {
    return false;
  }
}

/** Throws if a killed node came back without its last blocks: the service's rows would refer to missing blocks. */
async function assertNoBlocksLost(node: Node, recorded: bigint): Promise<void> {
  const head = await node.client.getBlockNumber();
  if (head >= recorded) return;
  throw new SandboxError(
    `the node of ${node.spec.name} was killed and lost its last ${recorded - head} blocks, so this state cannot be resumed: start again with --fresh`,
  );
}

function readHead(path: string): bigint | undefined {
  const block = asRecord(readJson(path))?.["block"];
  return typeof block === "string" ? BigInt(block) : undefined;
}
