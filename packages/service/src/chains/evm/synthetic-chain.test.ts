/** The synthetic chain of the sandbox answers in the form that the EVM adapter reads, its readers of balances included. */
import { type SyntheticChain, startSyntheticChain } from "@sluice/sandbox/provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { BlockRef } from "../port/index.ts";
import { parseBlock } from "./answers.ts";
import { listNativeBalances, listNativeTransfers } from "./native.ts";
import { createRpc } from "./rpc.ts";
import { listTokenBalances } from "./token-balances.ts";
import { listTransfers } from "./transfers.ts";

const TOKEN = toEvmAddress(`0x${"11".repeat(20)}`);
const WALLET = toEvmAddress(`0x${"22".repeat(20)}`);
const OTHER = toEvmAddress(`0x${"33".repeat(20)}`);

let chain: SyntheticChain;

beforeAll(async () => {
  chain = await startSyntheticChain({
    head: 500,
    tokens: [TOKEN],
    listedShare: 0.5,
    deposits: [
      { block: 400, to: WALLET, token: TOKEN, amount: 7n },
      { block: 400, to: WALLET, token: "native", amount: 9n },
    ],
  });
});
afterAll(async () => {
  await chain.close();
});

function read(number: number) {
  const rpc = createRpc({ chainId: 2, rpcUrl: chain.url, timeoutMs: 10_000 });
  const block: BlockRef = {
    number: BigInt(number),
    hash: toHex32(chain.hashAt(number)),
    parentHash: toHex32(chain.hashAt(number - 1)),
  };
  return { rpc, block };
}

test("a header, the transfers of its block and the native payments are read", async () => {
  const { rpc, block } = read(400);
  expect(await rpc.ask("eth_getBlockByHash", [block.hash, false], parseBlock)).toMatchObject({
    number: 400n,
    parentHash: block.parentHash,
    hasLogs: true,
  });
  const transfers = await listTransfers(rpc, block, [TOKEN]);
  expect(transfers.length).toBeGreaterThan(100);
  expect(transfers.at(-1)).toMatchObject({ token: TOKEN, to: WALLET, amount: 7n });
  const payments = await listNativeTransfers(rpc, block, async () => new Set([WALLET]));
  expect(payments).toMatchObject([{ to: WALLET, amount: 9n }]);
});

test("balances of a block are the deposits up to it", async () => {
  const holdings = [WALLET, OTHER].map((wallet) => ({ token: TOKEN, wallet }));
  for (const [number, token, native] of [
    [399, 0n, 0n],
    [400, 7n, 9n],
  ] as const) {
    const { rpc, block } = read(number);
    expect(await listTokenBalances(rpc, block.hash, holdings)).toEqual([token, 0n]);
    expect(await listNativeBalances(rpc, block, [WALLET, OTHER])).toEqual([native, 0n]);
  }
});
