import { type Node, openNode } from "./anvil.ts";
import { CHAIN_SPECS, type ChainName, type ChainSpec, FINALITY_BLOCKS } from "./chain-specs.ts";
import { SandboxError } from "./errors.ts";
import type { EvmClient } from "./evm-client.ts";
import { acquireLock, type Lock } from "./lock.ts";
import { mineBlocks, type MiningDriver, type MiningOptions, startMining } from "./mining.ts";
import { clearState } from "./clear-state.ts";
import { isRunning } from "./processes.ts";
import { claimStateDir, markStateDir, statePaths } from "./state-paths.ts";

/** Options of `startChains`. */
export interface ChainsOptions {
  /** State directory; created if it is missing. */
  readonly stateDir: string;
  /** Delete existing state first. */
  readonly fresh?: boolean;
  /** Called once the state directory is locked and, with `fresh`, empty, before the nodes start. */
  readonly onClaimed?: (stateDir: string) => Promise<void>;
  /** Ports of the nodes; 0 for any free port. Default 8502 and 8530. */
  readonly ports?: Partial<Readonly<Record<ChainName, number>>>;
  /** Block production; with false, only `mine` produces blocks. */
  readonly mining?: MiningOptions | false;
  /** Path of an anvil binary to use instead of the one from npm. */
  readonly anvil?: string;
  /** Epoch length: blocks are final two epochs behind the head. Default 1; deep reorgs need more. */
  readonly slotsInAnEpoch?: number;
  /** Blocks of which the nodes keep state and transactions, so that they stay fast for hours. Default all. */
  readonly blocksKept?: number;
  /** Called once when a node stops responding, until it responds again; `ended` if its process has ended. */
  readonly onProblem?: (problem: SandboxError, ended: boolean) => void;
}

/** A running chain. */
export interface SandboxChain extends ChainSpec {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly client: EvmClient;
  /** The node's process id. */
  readonly pid: number;
  readonly origin: Node["origin"];
}

/** Both chains. */
export interface SandboxChains {
  readonly stateDir: string;
  readonly all: readonly SandboxChain[];
  readonly ethereum: SandboxChain;
  readonly base: SandboxChain;
  /** Mines blocks immediately, on one chain or on both. */
  mine(blocks: number, chain?: ChainName): Promise<void>;
  /** Runs work during which only the work itself mines a chain. */
  holdBlocks<T>(chain: ChainName, work: () => Promise<T>): Promise<T>;
  /** Stops mining and, unless they are kept, the nodes; then unlocks the state directory. */
  stop(options?: { readonly keepNodes?: boolean }): Promise<void>;
}

/** Starts or adopts both chains and mines them. Throws a `SandboxError` if another sandbox has locked the directory. */
export async function startChains(options: ChainsOptions): Promise<SandboxChains> {
  const stateDir = claimStateDir(options.stateDir, options);
  const paths = statePaths(stateDir);
  const lock = acquireLock(paths.lock, stateDir);
  try {
    if (options.fresh) {
      await clearState(stateDir);
      markStateDir(stateDir);
    }
    await options.onClaimed?.(stateDir);
    const nodes = await openNodes(options, paths.nodes);
    return await runChains(options, { stateDir, nodes, lock });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Opens all nodes or none: if one does not start, the others are stopped. */
async function openNodes(options: ChainsOptions, dir: string): Promise<readonly Node[]> {
  const results = await Promise.allSettled(
    CHAIN_SPECS.map((spec) => {
      const port = options.ports?.[spec.name];
      return openNode({
        spec,
        dir,
        ...(port === undefined ? {} : { port }),
        ...(options.anvil === undefined ? {} : { anvil: options.anvil }),
        ...(options.slotsInAnEpoch && { slotsInAnEpoch: options.slotsInAnEpoch }),
        ...(options.blocksKept && { blocksKept: options.blocksKept }),
      });
    }),
  );
  const nodes = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = results.find((result) => result.status === "rejected");
  if (!failed) return nodes;
  await Promise.all(nodes.map((node) => node.stop()));
  throw failed.reason;
}

async function runChains(
  options: ChainsOptions,
  { stateDir, nodes, lock }: { stateDir: string; nodes: readonly Node[]; lock: Lock },
): Promise<SandboxChains> {
  // A restarted node has only the state of its head. Three more blocks make the state of the final block readable.
  const loaded = nodes.filter((node) => node.origin === "loaded");
  await Promise.all(loaded.map((node) => mineBlocks(node.client, FINALITY_BLOCKS + 1)));

  const drivers = new Map<ChainName, MiningDriver>(
    options.mining === false ? [] : nodes.map((node) => [node.spec.name, drive(node, options)]),
  );
  const all = nodes.map(toChain);
  const chain = (name: ChainName): SandboxChain => {
    const found = all.find((one) => one.name === name);
    if (!found) throw new Error(`no chain ${name}`);
    return found;
  };
  return {
    stateDir,
    all,
    ethereum: chain("ethereum"),
    base: chain("base"),
    mine: async (blocks, name) => {
      const chosen = nodes.filter((node) => name === undefined || node.spec.name === name);
      await Promise.all(
        chosen.map(async (node) => {
          await mineBlocks(node.client, blocks);
          node.recordHead(await node.client.getBlockNumber());
        }),
      );
    },
    holdBlocks: (name, work) => drivers.get(name)?.hold(work) ?? work(),
    stop: async ({ keepNodes = false } = {}) => {
      try {
        await Promise.all([...drivers.values()].map((driver) => driver.stop()));
        if (!keepNodes) await Promise.all(nodes.map(recordAndStop));
      } finally {
        lock.release();
      }
    },
  };
}

function drive(node: Node, { mining, onProblem }: ChainsOptions): MiningDriver {
  return startMining(node.client, mining || {}, {
    onHead: (block) => node.recordHead(block),
    onProblem: (cause) => {
      const ended = !isRunning(node.process);
      const problem = `the node of ${node.spec.name} ${ended ? "has exited" : "does not respond"}`;
      onProblem?.(new SandboxError(`${problem}: see ${node.logPath}`, { cause }), ended);
    },
  });
}

async function recordAndStop(node: Node): Promise<void> {
  // If the node no longer responds, the head that was recorded last stays.
  const head = await node.client.getBlockNumber().catch(() => undefined);
  if (head !== undefined) node.recordHead(head);
  await node.stop();
}

function toChain(node: Node): SandboxChain {
  const { spec, rpcUrl, client, origin } = node;
  const wsUrl = rpcUrl.replace(/^http/, "ws");
  return { ...spec, rpcUrl, wsUrl, client, pid: node.process.pid, origin };
}
