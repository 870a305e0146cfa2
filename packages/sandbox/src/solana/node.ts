/** The Solana chain as a node of the sandbox: a process of its own, adopted by the next start, kept in a file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createSolanaRpc, isSolanaError } from "@solana/kit";
import {
  type DetachedNode,
  type NodeIdentity,
  openDetached,
  stopLeftoverDetached,
} from "../detached-node.ts";
import type { SolanaControls } from "./controls.ts";
import { GENESIS_HASH } from "./genesis.ts";
import { connectSolanaControls } from "./remote-controls.ts";
import { DEFAULT_IDLE_SLOT_MS, DEFAULT_SLOT_MS, SOLANA_SPEC } from "./spec.ts";

const MAIN = fileURLToPath(new URL("node-main.ts", import.meta.url));

/** How to start the node. */
export interface SolanaNodeOptions {
  /** Folder of the nodes' files. */
  readonly dir: string;
  /** Port to listen on; 0 for any. Absent: where it already runs, else 8501. */
  readonly port?: number;
  /** Milliseconds of a slot, 100 unless given; 0 lets slots pass by the controls alone. */
  readonly slotMs?: number;
  /** Milliseconds of a slot while nothing happens; 1000 unless given. */
  readonly idleSlotMs?: number;
}

/** The running node. */
export interface SolanaNode {
  readonly rpcUrl: string;
  readonly controls: SolanaControls;
  readonly process: DetachedNode["process"];
  readonly logPath: string;
  /** `new` chain, `loaded` from its file, or `adopted` while running. */
  readonly origin: "new" | "loaded" | "adopted";
  stop(): Promise<void>;
}

/** Adopts the node if it runs, else starts it. A node that is adopted keeps the slots it was started with. */
export async function openSolanaNode(options: SolanaNodeOptions): Promise<SolanaNode> {
  const { dir, port, slotMs = DEFAULT_SLOT_MS, idleSlotMs = DEFAULT_IDLE_SLOT_MS } = options;
  const identity = identityOf(dir);
  const started = existsSync(identity.statePath) ? "loaded" : "new";
  const node = await openDetached({
    ...identity,
    ...(port === undefined ? {} : { port }),
    defaultPort: SOLANA_SPEC.defaultPort,
    command: (chosen) => ({
      binary: process.execPath,
      args: [MAIN, identity.statePath, ...[chosen, slotMs, idleSlotMs].map(String)],
    }),
    isReady,
  });
  return {
    rpcUrl: node.rpcUrl,
    controls: connectSolanaControls(node.rpcUrl),
    process: node.process,
    logPath: node.logPath,
    origin: node.isAdopted ? "adopted" : started,
    stop: node.stop,
  };
}

/** Ends the node if one runs from this folder. */
export async function stopLeftoverSolanaNode(dir: string): Promise<void> {
  await stopLeftoverDetached(identityOf(dir));
}

function identityOf(dir: string): NodeIdentity {
  const { name, chainId } = SOLANA_SPEC;
  return { name, dir, statePath: join(dir, `${name}.chain`), chainId };
}

/** True when the node isReady as the sandbox's chain. */
async function isReady(rpcUrl: string): Promise<boolean> {
  try {
    return (await createSolanaRpc(rpcUrl).getGenesisHash().send()) === GENESIS_HASH;
  } catch (error) {
    // Nobody listens yet, or somebody else does.
    if (isSolanaError(error) || error instanceof TypeError || error instanceof SyntaxError) {
      return false;
    }
    throw error;
  }
}
