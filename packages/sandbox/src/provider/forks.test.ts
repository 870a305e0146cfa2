import { expect, test } from "vitest";
import { startProvider } from "./provider.ts";
import { startSyntheticChain } from "./synthetic/chain.ts";
import { useClosing } from "./test-node.ts";

const closing = useClosing();

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
}

/** A chain of 20 blocks a second whose blocks are final after ten, behind a provider that often makes reorgs. */
async function start(seed: number) {
  const chain = await startSyntheticChain({
    blocksPerSecond: 20,
    finalDepth: 10,
    transactionsPerBlock: 1,
    transfersPerBlock: 1,
  });
  closing.push(chain.close);
  const provider = await startProvider({
    upstream: chain.url,
    reorg: 0.2,
    reorgDepth: 8,
    lagBlocks: 3,
    seed,
  });
  closing.push(provider.close);
  const ask = async (method: string, ...params: readonly unknown[]) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(provider.url, { method: "POST", body });
    return JSON.parse(await response.text()).result;
  };
  return { provider, ask };
}

test("final blocks never change, and blocks that are not final do", async () => {
  const { provider, ask } = await start(1);
  const finals = new Map<string, string>();
  const newest = new Map<string, Set<string>>();
  const look = async () => {
    const final: Block = await ask("eth_getBlockByNumber", "finalized", false);
    expect(finals.get(final.number) ?? final.hash).toBe(final.hash);
    finals.set(final.number, final.hash);
    const head: Block = await ask("eth_getBlockByNumber", "latest", false);
    const height = `0x${(Number(head.number) - 3).toString(16)}`;
    // A replica may not have the block yet.
    const block: Block | null = await ask("eth_getBlockByNumber", height, false);
    if (block === null) return;
    newest.set(block.number, (newest.get(block.number) ?? new Set()).add(block.hash));
  };
  // Until all has been seen, however slow the machine; the limit of the test's time ends it otherwise.
  const changed = () => [...newest.values()].some((hashes) => hashes.size > 1);
  while (finals.size <= 10 || !changed() || provider.stats().reorgs <= 5) {
    await Promise.all(Array.from({ length: 4 }, look));
  }
  expect(provider.stats().nodeFailures).toBe(0);
});

test("a block and its logs name the same hash, or the block is unknown", async () => {
  const { ask } = await start(2);
  const links: (readonly [string | number, string | number])[] = [];
  for (let round = 0; round < 60; round += 1) {
    const head: Block = await ask("eth_getBlockByNumber", "latest", false);
    const filter = { blockHash: head.hash };
    const logs: { blockHash: string }[] | undefined = await ask("eth_getLogs", filter);
    const parent: Block | null = await ask("eth_getBlockByHash", head.parentHash, false);
    links.push(...(logs ?? []).map(({ blockHash }) => [blockHash, head.hash] as const));
    if (parent === null) continue;
    links.push([parent.hash, head.parentHash]);
    links.push([Number(parent.number), Number(head.number) - 1]);
  }
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(([answered, asked]) => answered !== asked)).toEqual([]);
});
