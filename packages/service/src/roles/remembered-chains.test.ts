/** Quotes that ask the same questions cost a node one request in three seconds [T204]. */
import { expect, onTestFinished, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { startHttpNode } from "../../test/rpc/http-node.ts";
import { createEvmChain } from "../chains/evm/evm-chain.ts";
import { toEvmAddress, toHex32 } from "../core/hex.ts";
import { rememberPrices } from "../prices/index.ts";
import { getChain } from "../routes/index.ts";
import { rememberChains } from "./remembered-chains.ts";

const address = (digit: string) => toEvmAddress(`0x${digit.repeat(40)}`);
const USD = 10n ** 18n;

async function open() {
  let isDown = false;
  const node = await startHttpNode(({ requests: [request] }) => {
    if (isDown) return { status: 503, body: "" };
    return { body: { jsonrpc: "2.0", id: request?.id, result: `0x${"0".repeat(63)}7` } };
  });
  onTestFinished(() => node.stop());
  const clock = createStillClock();
  const chain = createEvmChain({
    chainId: 2,
    evmChainId: 1,
    rpcUrl: node.url,
    contracts: { factory: address("1"), escrow: address("2"), delivery: address("3") },
    timeoutMs: 2_000,
  });
  const { wallets } = getChain(rememberChains(new Map([[2, chain]]), clock), 2);
  if (wallets.kind !== "contract") throw new Error("an EVM chain has contracts");
  return {
    clock,
    wallets,
    requests: () => node.received.length,
    fail: (down: boolean) => (isDown = down),
  };
}

test("equal reads of many callers are one request, and others are their own", async () => {
  const { clock, wallets, requests } = await open();
  const wallet = address("a");
  const read = await Promise.all(Array.from({ length: 20 }, () => wallets.hasCode(wallet)));
  expect(new Set(read)).toEqual(new Set([true]));
  expect(requests()).toBe(1);
  clock.advance(2_999);
  await wallets.hasCode(wallet);
  expect(requests()).toBe(1);
  await wallets.hasCode(address("b"));
  await wallets.hasCode(wallet, { number: 7n, hash: toHex32(`0x${"c".repeat(64)}`) });
  await wallets.hasCode(wallet, { number: 8n, hash: toHex32(`0x${"c".repeat(64)}`) });
  expect(requests()).toBe(4);
  clock.advance(1);
  await wallets.hasCode(wallet);
  expect(requests()).toBe(5);
});

test("a failure is not remembered, and a clock that is set back does not lengthen a memory", async () => {
  const { clock, wallets, requests, fail } = await open();
  fail(true);
  await expect(wallets.hasCode(address("a"))).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  fail(false);
  expect(await wallets.hasCode(address("a"))).toBe(true);
  const before = requests();
  clock.advance(-60_000);
  await wallets.hasCode(address("a"));
  expect(requests()).toBe(before + 1);
});

test("quotes of a pair read the sources of its tokens once in three seconds", async () => {
  const clock = createStillClock();
  let reads = 0;
  const prices = rememberPrices(
    {
      async readReport() {
        reads += 1;
        return { result: { kind: "price", usd: 2n * USD }, sources: [] };
      },
      readUsd: () => Promise.reject(new Error("read past the memory")),
      readRate: () => Promise.reject(new Error("read past the memory")),
    },
    clock,
  );
  const [from, to] = [
    { chainId: 2, token: address("1") },
    { chainId: 30, token: address("2") },
  ];
  for (let n = 0; n < 10; n += 1) {
    expect(await prices.readUsd(from)).toBe(2n * USD);
    expect(await prices.readRate(from, to)).toBe(USD);
  }
  expect(reads).toBe(2);
  clock.advance(3_000);
  await prices.readUsd(from);
  expect(reads).toBe(3);
});
