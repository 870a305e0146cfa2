/** A synthetic chain in a process of its own, so that its processor time is apart from the measured program's. */
import { type Child, spawnMain } from "../child.ts";
import { createUpstream } from "../upstream.ts";
import type { SyntheticChainOptions } from "./chain.ts";
import type { SyntheticDeposit } from "./deposits.ts";

/** A chain in another process. */
export interface RemoteSyntheticChain extends Child {
  /** Pays in the next block, and returns its height. */
  deposit(deposit: Omit<SyntheticDeposit, "block" | "fork">): Promise<number>;
  reorg(depth: number): Promise<void>;
  setHead(head: number): Promise<void>;
}

/** Starts a chain in its own process and waits until it answers. */
export async function spawnSyntheticChain(
  options: SyntheticChainOptions = {},
): Promise<RemoteSyntheticChain> {
  const child = await spawnMain(new URL("./main.ts", import.meta.url), options);
  const node = createUpstream(child.url);
  return {
    ...child,
    deposit: async (deposit) =>
      Number(await node.ask("synthetic_deposit", [{ ...deposit, amount: String(deposit.amount) }])),
    reorg: async (depth) => void (await node.ask("synthetic_reorg", [depth])),
    setHead: async (head) => void (await node.ask("synthetic_setHead", [head])),
    close: async () => {
      node.close();
      await child.close();
    },
  };
}
