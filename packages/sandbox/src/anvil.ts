/**
 * The node of an EVM chain: anvil, detached from the launcher. One that was stopped keeps its chain in a state file and
 * is started again from it. Beside the state file lies `NAME.head.json`: the highest block that was seen.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { ChainSpec } from "./chain-specs.ts";
import {
  type DetachedNode,
  type NodeIdentity,
  openDetached,
  stopLeftDetached,
} from "./detached-node.ts";
import { SandboxError } from "./errors.ts";
import { createEvmClient, type EvmClient } from "./evm-client.ts";
import { asRecord, isErrno, readJson, writeJson } from "./json-file.ts";
import type { ProcessIdentity } from "./processes.ts";

const PLATFORM_PACKAGE = "@foundry-rs/anvil-linux-amd64";
/** How often a node saves its chain while it runs, for the case that it is killed. It always saves at its end. */
const SAVE_INTERVAL_SECONDS = 5;
/** States of old blocks kept on disk beside the newest 500 in memory; each takes some 300 KB. */
const OLD_STATES_MAX = 100;

/** A running node. */
export interface Node {
  readonly spec: ChainSpec;
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly rpcUrl: string;
  readonly client: EvmClient;
  readonly logPath: string;
  /** `new` chain, `loaded` from its state file, or `adopted` while running. */
  readonly origin: "new" | "loaded" | "adopted";
  /** Remembers the head, so that the next start notices blocks that were lost. */
  recordHead(block: bigint): void;
  /** Ends the node, which saves its chain. */
  stop(): Promise<void>;
}

/** What a node needs. */
export interface NodeOptions {
  readonly spec: ChainSpec;
  /** Folder of the nodes' files. */
  readonly dir: string;
  /** Port to listen on; 0 for any. Absent: where it already runs, else the chain's default. */
  readonly port?: number;
  /** An anvil binary instead of the one from npm. */
  readonly anvil?: string;
  /** A block is final two epochs behind the head. Default 1. */
  readonly slotsInAnEpoch?: number;
}

/** Path of the anvil binary from npm; a `SandboxError` names the package where it is missing. */
export function locateAnvil(
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): string {
  try {
    return resolve(`${PLATFORM_PACKAGE}/bin/anvil`);
  } catch (error) {
    if (!isErrno(error, "MODULE_NOT_FOUND")) throw error;
    throw new SandboxError(
      `the package ${PLATFORM_PACKAGE} is missing (this is ${process.platform} ${process.arch}): run npm ci on Linux x64 with glibc, or name an anvil binary with --anvil`,
    );
  }
}

/** Adopts the node if it runs, else starts it. */
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
    answers: (rpcUrl) => answers(createEvmClient(spec, rpcUrl)),
  });
  const started = head === undefined ? "new" : "loaded";
  const node = makeNode(options, detached, detached.isAdopted ? "adopted" : started);
  try {
    if (node.origin === "loaded" && head !== undefined) await assertNothingLost(node, head);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}

/** Ends the node of a chain if one runs from this folder. */
export async function stopLeftNode(options: Pick<NodeOptions, "spec" | "dir">): Promise<void> {
  await stopLeftDetached(identityOf(options));
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
  { spec, slotsInAnEpoch = 1 }: NodeOptions,
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
    "--state": files.state,
    "--state-interval": String(SAVE_INTERVAL_SECONDS),
    "--cache-path": files.cache,
    "--max-persisted-states": String(OLD_STATES_MAX),
  };
  return [...Object.entries(settings).flat(), "--no-mining", "--no-request-size-limit", "--quiet"];
}

function makeNode(
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

/** True when the node answers with its chain id. No answer is an expected outcome while it starts. */
async function answers(client: EvmClient): Promise<boolean> {
  try {
    return (await client.getChainId()) === client.chain.id;
  } catch {
    return false;
  }
}

/** A node that was killed comes back without its last blocks; rows of the service would then speak of nothing. */
async function assertNothingLost(node: Node, recorded: bigint): Promise<void> {
  const head = await node.client.getBlockNumber();
  if (head >= recorded) return;
  throw new SandboxError(
    `the node of ${node.spec.name} was killed and lost ${recorded - head} blocks, which cannot be resumed: begin anew with --fresh`,
  );
}

function readHead(path: string): bigint | undefined {
  const block = asRecord(readJson(path))?.["block"];
  return typeof block === "string" ? BigInt(block) : undefined;
}
