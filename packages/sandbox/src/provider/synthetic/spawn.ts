/** A synthetic chain in a process of its own, so that its processor time is apart from the measured program's. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SandboxError } from "../../errors.ts";
import { asRecord } from "../../json-file.ts";
import { createUpstream } from "../upstream.ts";
import type { SyntheticChainOptions } from "./chain.ts";
import type { SyntheticDeposit } from "./deposits.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

/** A chain in another process. */
export interface RemoteSyntheticChain {
  readonly url: string;
  readonly wsUrl: string;
  readonly pid: number;
  /** Pays in the next block, and returns its height. */
  deposit(deposit: Omit<SyntheticDeposit, "block" | "fork">): Promise<number>;
  reorg(depth: number): Promise<void>;
  setHead(head: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a chain in its own process and waits until it answers. */
export async function spawnSyntheticChain(
  options: SyntheticChainOptions = {},
): Promise<RemoteSyntheticChain> {
  const child = fork(MAIN, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ended = once(child, "exit");
  child.send(writeOptions(options));
  const [started] = await Promise.race([
    once(child, "message"),
    ended.then(() => {
      throw new SandboxError("the synthetic chain ended at its start");
    }),
  ]);
  const { url, wsUrl } = asRecord(started) ?? {};
  const node = createUpstream(String(url));
  return {
    url: String(url),
    wsUrl: String(wsUrl),
    pid: child.pid ?? 0,
    deposit: async (deposit) =>
      Number(await node.ask("synthetic_deposit", [{ ...deposit, amount: String(deposit.amount) }])),
    reorg: async (depth) => void (await node.ask("synthetic_reorg", [depth])),
    setHead: async (head) => void (await node.ask("synthetic_setHead", [head])),
    close: async () => {
      node.close();
      child.kill();
      await ended;
    },
  };
}

function writeOptions(options: SyntheticChainOptions): string {
  return JSON.stringify(options, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}
