/** Runs the Solana chain as a detached process, which is stored in a file and adopted by the next start. */
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

/** Options of `openSolanaNode`. */
export interface SolanaNodeOptions {
  /** Directory of the nodes' files. */
  readonly dir: string;
  /** Port to listen on, with the next one; 0 for any free two. Absent: the port of the running node, otherwise 8510. */
  readonly port?: number;
  /** Slot time, in milliseconds. Default 100. With 0, slots pass only by the controls. */
  readonly slotMs?: number;
  /** Slot time while idle, in milliseconds. Default 1000. */
  readonly idleSlotMs?: number;
}

/** The running node. */
export interface SolanaNode {
  readonly rpcUrl: string;
  /** Subscriptions, at the next port; `rpcUrl` accepts WebSockets too. */
  readonly wsUrl: string;
  readonly controls: SolanaControls;
  readonly process: DetachedNode["process"];
  readonly logPath: string;
  /** A `new` chain, one `loaded` from its file, or a running node that was `adopted`. */
  readonly origin: "new" | "loaded" | "adopted";
  stop(): Promise<void>;
}

/** Adopts the node if it is running, otherwise starts it. An adopted node keeps the slot times of its start. */
export async function openSolanaNode(options: SolanaNodeOptions): Promise<SolanaNode> {
  const { dir, port, slotMs = DEFAULT_SLOT_MS, idleSlotMs = DEFAULT_IDLE_SLOT_MS } = options;
  const identity = identityOf(dir);
  const started = existsSync(identity.statePath) ? "loaded" : "new";
  const node = await openDetached({
    ...identity,
    ...(port === undefined ? {} : { port }),
    defaultPort: SOLANA_SPEC.defaultPort,
    usesNextPort: true,
    command: (chosen) => ({
      binary: process.execPath,
      args: [MAIN, identity.statePath, ...[chosen, slotMs, idleSlotMs].map(String)],
    }),
    isReady,
  });
  return {
    rpcUrl: node.rpcUrl,
    wsUrl: `ws://127.0.0.1:${node.port + 1}`,
    controls: connectSolanaControls(node.rpcUrl),
    process: node.process,
    logPath: node.logPath,
    origin: node.isAdopted ? "adopted" : started,
    stop: node.stop,
  };
}

/** Stops the node if one is running from this directory. */
export async function stopLeftoverSolanaNode(dir: string): Promise<void> {
  await stopLeftoverDetached(identityOf(dir));
}

function identityOf(dir: string): NodeIdentity {
  const { name, chainId } = SOLANA_SPEC;
  return { name, dir, statePath: join(dir, `${name}.chain`), chainId };
}

/** Reports whether the node responds as the sandbox's chain. */
async function isReady(rpcUrl: string): Promise<boolean> {
  try {
    return (await createSolanaRpc(rpcUrl).getGenesisHash().send()) === GENESIS_HASH;
  } catch (error) {
    // Nothing listens yet, or another process does.
    if (isSolanaError(error) || error instanceof TypeError || error instanceof SyntaxError) {
      return false;
    }
    throw error;
  }
}
