/** The synthetic chain of the sandbox answers in the form that the EVM adapter reads, its readers of balances included. */
import { type SyntheticChain, startSyntheticChain } from "@sluice/sandbox/provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NATIVE_TOKEN, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { BlockRef } from "../port/index.ts";
import { createNativeBalanceReader } from "./native.ts";
import { createRpc } from "./rpc.ts";
import { createSectionReader } from "./sections.ts";
import { createTokenBalanceReader } from "./token-balances.ts";

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

test("sections of blocks are read, with the transfers and native payments to our wallets", async () => {
  const rpc = createRpc({ chainId: 2, rpcUrl: chain.url, timeoutMs: 10_000 });
  const readSection = createSectionReader(rpc, {
    contracts: { factory: OTHER, escrow: OTHER, delivery: OTHER },
    evmChainId: 1,
  });
  for (const isFinal of [true, false]) {
    const section = await readSection({
      after: 398n,
      max: 3,
      isFinal,
      isOld: isFinal,
      tokens: [TOKEN, NATIVE_TOKEN],
      choose: async () => new Set([WALLET]),
    });
    expect(section?.parentHash).toBe(chain.hashAt(398));
    const blocks = section?.blocks.filter(({ transfers }) => transfers.length > 0);
    expect(blocks).toMatchObject([
      {
        number: 400n,
        hash: chain.hashAt(400),
        transfers: [
          { token: TOKEN, to: WALLET, amount: 7n },
          { token: NATIVE_TOKEN, to: WALLET, amount: 9n },
        ],
      },
    ]);
  }
});

test("balances of a block are the deposits up to it", async () => {
  const holdings = [WALLET, OTHER].map((wallet) => ({ token: TOKEN, wallet }));
  for (const [number, token, native] of [
    [399, 0n, 0n],
    [400, 7n, 9n],
  ] as const) {
    const { rpc, block } = read(number);
    expect(await createTokenBalanceReader(rpc)(block.hash, holdings)).toEqual([token, 0n]);
    const readBalances = createNativeBalanceReader(rpc);
    expect(await readBalances(block, [WALLET, OTHER])).toEqual([native, 0n]);
  }
});
