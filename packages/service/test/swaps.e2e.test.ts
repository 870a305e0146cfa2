/** Pool swaps on one chain: the bytecode of Uniswap v3, at the attestor's price. */
import { type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NATIVE_TOKEN, toEvmAddress } from "../src/core/hex.ts";
import { listGas } from "../src/fees/index.ts";
import { SWAP_GAS } from "../src/routes/mono-chain/swap.ts";
import { quoteEtherToUsdc } from "./support/pool-trader.ts";
import { openWorld, type World } from "./support/world.ts";

const ETHER = parseEther("1");
const USDC = 1_000_000n;

/** Either of two tokens. */
const PAIR = {
  srcChain: 2,
  srcToken: NATIVE_TOKEN,
  destChain: 2,
  destToken: toEvmAddress(`0x${"a0".repeat(20)}`),
};

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

test("native coin arrives as USDC on the same chain, at the pool's price", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await quoteEtherToUsdc(world, recipient);
  expect(quote).toMatchObject({ type: "MONO_CHAIN", protocolBps: 10 });
  expect(BigInt(quote.minReceivedBaseUnits)).toBeGreaterThan(2_950n * USDC);
  await world.payNative("ethereum", address, ETHER);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  const received = await world.balance("ethereum", recipient);
  // The pool is deep and takes 5 basis points.
  expect(received).toBeGreaterThan(2_995n * USDC);
  expect(received).toBeLessThan(2_996n * USDC);
  expect(received).toBe(BigInt(quote.expectedAmountOutBaseUnits));
  // The value from which fees are computed where gas is charged; the sweep is the wallet's first.
  const [{ gas = 0n } = {}] = listGas({ pair: PAIR, gasSteps: SWAP_GAS }, true);
  const { client } = world.chains.ethereum;
  // CAST: the wire's schema checks that it is a hash.
  const receipt = await client.getTransactionReceipt({ hash: swap.swapTxHash as Hex });
  expect(receipt.gasUsed).toBeLessThan(gas);
  expect(receipt.gasUsed).toBeGreaterThan((gas * 7n) / 10n);
  expect(await world.nativeBalance("ethereum", address)).toBe(0n);
});

test("USDC arrives as native coin on the same chain", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await world.quote({
    from: "ethereum",
    to: "ethereum",
    recipient,
    toToken: zeroAddress,
    amount: 3_000n * USDC,
  });
  expect(quote.type).toBe("MONO_CHAIN");
  await world.pay("ethereum", address, 3_000n * USDC);
  expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
  const received = await world.nativeBalance("ethereum", recipient);
  expect(received).toBeGreaterThan((ETHER * 998n) / 1000n);
  expect(received).toBeLessThan((ETHER * 999n) / 1000n);
  expect(await world.balance("ethereum", address)).toBe(0n);
});
