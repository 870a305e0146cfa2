/**
 * One chain node: anvil, detached from the launcher, so that a kill of the launcher leaves it running and the next
 * start adopts it. A node that was stopped keeps its chain in a state file and is started again from it.
 *
 * Beside the state file lie `NAME.pid.json` (which process, which port), `NAME.head.json` (the highest block that was
 * seen) and `NAME.log`.
 */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChainSpec } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import { createEvmClient, type EvmClient } from "./evm-client.ts";
import { asRecord, isErrno, readJson, writeJson } from "./json-file.ts";
import { assertPortFree, findFreePort } from "./ports.ts";
import {
  isRunning,
  type ProcessIdentity,
  readArguments,
  readProcessFile,
  stopProcess,
  writeProcessFile,
} from "./processes.ts";

const PLATFORM_PACKAGE = "@foundry-rs/anvil-linux-amd64";
const START_TIMEOUT_MS = 20_000;
const STOP_GRACE_MS = 20_000;
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
  const files = nodeFiles(options.dir, options.spec);
  const running = findRunning(options, files);
  if (running) {
    const wanted =
      options.port === undefined || options.port === 0 || options.port === running.port;
    const rpcUrl = urlOf(running.port);
    if (wanted && (await answers(createEvmClient(options.spec, rpcUrl)))) {
      return makeNode(options, files, { ...running, origin: "adopted" });
    }
    await stopProcess(running.process, STOP_GRACE_MS);
  }
  rmSync(files.pid, { force: true });
  return startNode(options, files);
}

/** Ends the node of a chain if one runs from this folder. */
export async function stopLeftNode(options: Pick<NodeOptions, "spec" | "dir">): Promise<void> {
  const files = nodeFiles(options.dir, options.spec);
  const running = findRunning(options, files);
  if (running) await stopProcess(running.process, STOP_GRACE_MS);
  rmSync(files.pid, { force: true });
}

type NodeFiles = ReturnType<typeof nodeFiles>;

function nodeFiles(dir: string, spec: ChainSpec) {
  const at = (suffix: string) => join(dir, `${spec.name}.${suffix}`);
  return {
    pid: at("pid.json"),
    head: at("head.json"),
    state: at("state.json"),
    log: at("log"),
    cache: at("cache"),
  };
}

interface Running {
  readonly process: ProcessIdentity;
  readonly port: number;
}

/** The node that the pid file names, if that process runs and is that node. */
function findRunning({ spec }: Pick<NodeOptions, "spec">, files: NodeFiles): Running | undefined {
  const found = readProcessFile(files.pid);
  if (!found || !isRunning(found.identity)) return undefined;
  const port = found.rest["port"];
  if (typeof port !== "number" || found.rest["evmChainId"] !== spec.evmChainId) return undefined;
  const args = readArguments(found.identity.pid);
  const isOurs = !args || (args.includes(files.state) && args.includes(String(port)));
  return isOurs ? { process: found.identity, port } : undefined;
}

async function startNode(options: NodeOptions, files: NodeFiles): Promise<Node> {
  const { spec } = options;
  const binary = options.anvil ?? locateAnvil();
  const wanted = options.port ?? spec.defaultPort;
  await assertPortFree(wanted, `the node of ${spec.name}`, `--${spec.name}-port`);
  const port = wanted === 0 ? await findFreePort() : wanted;
  mkdirSync(options.dir, { recursive: true });
  const head = readHead(files.head);

  const log = openSync(files.log, "a");
  const child = spawn(binary, anvilArguments(options, files, port), {
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  let failure: string | undefined;
  child.once("error", (error) => {
    failure = error.message;
  });
  child.once("exit", (code, signal) => {
    failure ??= `it ended with ${signal ?? `code ${code}`}`;
  });
  child.unref();
  if (child.pid === undefined) {
    throw new SandboxError(`${binary} could not be started: reinstall with npm ci`);
  }
  const identity = writeProcessFile(files.pid, child.pid, { port, evmChainId: spec.evmChainId });

  const origin = head === undefined ? "new" : "loaded";
  const node = makeNode(options, files, { process: identity, port, origin });
  try {
    await waitForAnswer(node.client, () => failure, files);
    if (head !== undefined) await assertNothingLost(node, head);
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
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
  options: NodeOptions,
  files: NodeFiles,
  running: Running & Pick<Node, "origin">,
): Node {
  const rpcUrl = urlOf(running.port);
  return {
    spec: options.spec,
    ...running,
    rpcUrl,
    client: createEvmClient(options.spec, rpcUrl),
    logPath: files.log,
    recordHead: (block) => writeJson(files.head, { block: block.toString() }),
    stop: async () => {
      await stopProcess(running.process, STOP_GRACE_MS);
      rmSync(files.pid, { force: true });
    },
  };
}

async function waitForAnswer(
  client: EvmClient,
  failure: () => string | undefined,
  files: NodeFiles,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const reason = failure() ?? (Date.now() > deadline ? "it does not answer" : undefined);
    if (reason !== undefined) {
      throw new SandboxError(
        `the node of ${client.chain.name} did not start: ${reason} (${lastLine(files.log)}, see ${files.log}); --fresh begins anew`,
      );
    }
    if (await answers(client)) return;
    await sleep(20);
  }
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

function lastLine(path: string): string {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.at(-1) || "its log is empty";
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
