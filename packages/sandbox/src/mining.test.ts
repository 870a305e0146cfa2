import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Node, openNode } from "./anvil.ts";
import { CHAIN_SPECS } from "./chain-specs.ts";
import { type EvmClient } from "./evm-client.ts";
import { reorganise, startMining } from "./mining.ts";
import { pay } from "./tokens.ts";

const [spec] = CHAIN_SPECS;
const payer = privateKeyToAccount(generatePrivateKey());

let dir: string;
let node: Node;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sluice-mining-"));
  node = await openNode({ spec, dir, port: 0 });
  await node.client.setBalance({ address: payer.address, value: parseEther("10") });
});

afterAll(async () => {
  await node.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Wraps a client so that it counts the polls of the driver. */
function countPolls(client: EvmClient) {
  let polls = 0;
  const counted: EvmClient = {
    ...client,
    getTxpoolStatus: () => {
      polls += 1;
      return client.getTxpoolStatus();
    },
  };
  const untilPolls = (more: number) => {
    const goal = polls + more;
    return vi.waitFor(() => expect(polls).toBeGreaterThanOrEqual(goal), { timeout: 10_000 });
  };
  return { counted, untilPolls };
}

describe("mining driver", () => {
  test("mines until a transaction is final, then pauses", async () => {
    const { counted, untilPolls } = countPolls(node.client);
    const heads: bigint[] = [];
    const driver = startMining(
      counted,
      { intervalMs: 20, idleIntervalMs: 60_000 },
      { onHead: (head) => heads.push(head) },
    );
    const hash = await pay(node.client, { from: payer, to: payer.address, amount: 1n });
    const { blockNumber } = await node.client.getTransactionReceipt({ hash });
    await vi.waitFor(async () => {
      const { number } = await node.client.getBlock({ blockTag: "finalized" });
      expect(number).toBeGreaterThan(blockNumber);
    }, 10_000);
    await untilPolls(10);
    await driver.stop();
    expect(await node.client.getBlockNumber()).toBe(blockNumber + 3n);
    expect(heads.at(-1)).toBe(blockNumber + 3n);
  });

  test("mines at the idle interval when nothing is pending", async () => {
    const before = await node.client.getBlockNumber();
    const { counted, untilPolls } = countPolls(node.client);
    const driver = startMining(counted, { intervalMs: 10, idleIntervalMs: 50 });
    await vi.waitFor(async () => {
      expect(await node.client.getBlockNumber()).toBeGreaterThan(before);
    }, 10_000);
    await untilPolls(1);
    await driver.stop();
  });

  test("returns to the wall clock after a reorganisation of old blocks", async () => {
    const { client } = node;
    await client.mine({ blocks: 1 });
    const before = await client.getBlock();
    await vi.waitFor(
      () => expect(Date.now() / 1000 - Number(before.timestamp)).toBeGreaterThan(4),
      10_000,
    );
    await reorganise(client, 1);
    expect((await client.getBlock()).hash).not.toBe(before.hash);
    await client.mine({ blocks: 1 });
    const { timestamp } = await client.getBlock();
    expect(Date.now() / 1000 - Number(timestamp)).toBeLessThan(3);
  });

  test("uses the wall clock for block timestamps, even for many blocks in one second", async () => {
    await node.client.mine({ blocks: 30 });
    const { timestamp } = await node.client.getBlock();
    const seconds = Math.floor(Date.now() / 1000);
    expect(Math.abs(seconds - Number(timestamp))).toBeLessThanOrEqual(1);
  });

  test("reports a failing node once", async () => {
    const { counted, untilPolls } = countPolls({
      ...node.client,
      getTxpoolStatus: () => Promise.reject(new Error("node stopped")),
    });
    const problems: unknown[] = [];
    const driver = startMining(
      counted,
      { intervalMs: 5 },
      { onProblem: (error) => problems.push(error) },
    );
    await untilPolls(5);
    await driver.stop();
    expect(problems).toEqual([new Error("node stopped")]);
  });
});
