/** Native coin across chains on real nodes: to whoever takes it, and back to its address where nobody does. */
import { type Address, createWalletClient, type Hex, http, parseEther, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ payoutWindowSeconds: 20 });
});
afterAll(async () => {
  await world.close();
});

const ETHER = parseEther("1");
const afterFee = (amount: bigint) => amount - amount / 1000n;

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

  test("T19 a recipient that refuses or burns all gas holds up nobody, and loses nothing", async () => {
    // revert; and an endless loop.
    const refusing = await deployOnBase("0x60006000fd");
    const burning = await deployOnBase("0x5b600056");
    const stuck = await Promise.all([refusing, burning].map((recipient) => quoteNative(recipient)));
    for (const { address } of stuck) await world.payNative("ethereum", address, ETHER);
    for (const { address } of stuck) {
      await world.until("it is locked", async () => {
        return (await world.nativeBalance("ethereum", address)) === 0n;
      });
    }
    const recipient = world.newRecipient();
    const { address } = await quoteNative(recipient);
    await world.payNative("ethereum", address, ETHER);
    expect((await world.settled(address)).status).toBe("completed");

    for (const { address: back } of stuck) {
      await world.until(
        "the coin is back at its address",
        async () => (await world.nativeBalance("ethereum", back)) === ETHER,
        90_000,
      );
      const swaps = await world.swapsOf(back);
      expect(swaps).toHaveLength(1);
      await world.until("the settlement says why", async () => {
        const events = await world.statusEvents(swaps[0]?.id ?? "");
        return events.some(({ error }) => error?.details?.["reason"] === "returned");
      });
      expect(await world.deposits(back, 1)).toHaveLength(1);
    }
    expect(await world.nativeBalance("base", refusing)).toBe(0n);
    expect(await world.nativeBalance("base", burning)).toBe(0n);
  });
});
