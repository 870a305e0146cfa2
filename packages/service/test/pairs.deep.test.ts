/**
 * Pairs across chains on real nodes: native coin, which returns to its deposit address where the recipient cannot take it,
 * and pairs of different assets, at a price that the attestor signs.
 */
import { type Address, createWalletClient, type Hex, http, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterFee } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ payoutWindowSeconds: 12 });
});
afterAll(async () => {
  await world.close();
});

const ETHER = parseEther("1");

/** Deploys up to 255 bytes of runtime code on base. */
async function deployOnBase(runtime: Hex): Promise<Address> {
  const { client, rpcUrl } = world.chains.base;
  const account = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: account.address, value: ETHER });
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });
  const size = ((runtime.length - 2) / 2).toString(16).padStart(2, "0");
  const data: Hex = `0x60${size}80600b6000396000f3${runtime.slice(2)}`;
  const hash = await wallet.sendTransaction({ data, gas: 500_000n });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("nothing was deployed");
  return contractAddress;
}

const quoteNative = (recipient: Address) =>
  world.quote({
    from: "ethereum",
    to: "base",
    recipient,
    fromToken: zeroAddress,
    toToken: zeroAddress,
    amount: ETHER,
  });

describe("native coin to native coin of the other chain", () => {
  test("goes through the escrow and is paid from inventory", async () => {
    const recipient = world.newRecipient();
    const { address, quote } = await quoteNative(recipient);
    expect(quote.type).toBe("SWIFT");
    await world.payNative("ethereum", address, ETHER);
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", tokenAddress: zeroAddress, error: null });
    expect(await world.nativeBalance("base", recipient)).toBe(afterFee(ETHER));
    expect(await world.nativeBalance("ethereum", address)).toBe(0n);
    await world.until("the lock is claimed", async () => (await world.openLocks()) === 0);
    const { escrow } = world.deployment.chains.ethereum;
    expect(await world.nativeBalance("ethereum", escrow)).toBe(0n);
  });

  test("delays nobody else and locks nothing for a recipient that reverts or burns all gas [T19, T150]", async () => {
    // revert; and an endless loop.
    const refusing = await deployOnBase("0x60006000fd");
    const burning = await deployOnBase("0x5b600056");
    const stuck = await Promise.all([refusing, burning].map((recipient) => quoteNative(recipient)));
    for (const { address } of stuck) await world.payNative("ethereum", address, ETHER);
    for (const { address: back } of stuck) {
      await world.until("the settlement says why", async () => {
        const [swap] = await world.swapsOf(back);
        return swap?.error?.details?.["reason"] === "recipient_refuses";
      });
    }
    const recipient = world.newRecipient();
    const { address } = await quoteNative(recipient);
    await world.payNative("ethereum", address, ETHER);
    expect((await world.settled(address)).status).toBe("completed");

    for (const { address: back } of stuck) {
      expect(await world.nativeBalance("ethereum", back)).toBe(ETHER);
      expect(await world.swapsOf(back)).toHaveLength(1);
      expect(await world.deposits(back, 1)).toHaveLength(1);
    }
    expect(await world.nativeBalance("base", refusing)).toBe(0n);
    expect(await world.nativeBalance("base", burning)).toBe(0n);
  });
});

describe("pairs of different assets", () => {
  /** One ether of the sandbox is 3,000 USDC. */
  const PRICE = 3000n;
  /** Rates have 18 decimals and are rounded down; a payout is computed from the promised minimum. */
  const isFair = (paid: bigint, fair: bigint) => {
    const expected = afterFee(fair);
    const apart = paid > expected ? paid - expected : expected - paid;
    expect(apart).toBeLessThanOrEqual(expected / 10n ** 12n + 2n);
  };

  test("USDC on ethereum arrives as native coin on base", async () => {
    const recipient = world.newRecipient();
    const { address, quote } = await world.quote({
      from: "ethereum",
      to: "base",
      recipient,
      toToken: zeroAddress,
      amount: 60_000_000n,
    });
    expect(quote).toMatchObject({ type: "SWIFT", effectiveAmountIn64: "60000000" });
    expect(Number(quote.price)).toBeCloseTo(0.999 / 3000, 9);
    await world.pay("ethereum", address, 60_000_000n);
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null });
    isFair(await world.nativeBalance("base", recipient), (60n * ETHER) / PRICE);
    expect(await world.balance("ethereum", address)).toBe(0n);
  });

  test("native coin on base arrives as USDC on ethereum, a later deposit at a new price", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({
      from: "base",
      to: "ethereum",
      recipient,
      fromToken: zeroAddress,
      amount: ETHER,
    });
    await world.payNative("base", address, ETHER / 2n);
    const first = await world.settled(address);
    isFair(await world.balance("ethereum", recipient), 1_500_000_000n);
    await world.payNative("base", address, ETHER / 3n);
    await world.settled(address, { after: first.id });
    isFair(await world.balance("ethereum", recipient), 2_500_000_000n - 1n);
    expect(await world.nativeBalance("base", address)).toBe(0n);
  });

  test("every lock ends claimed", async () => {
    const { escrow } = world.deployment.chains.base;
    await world.until(
      "the escrow of base is empty",
      async () => (await world.nativeBalance("base", escrow)) === 0n,
    );
    // USDC has an escrow of its own.
    expect(await world.escrowBalance("base")).toBe(0n);
  });
});
