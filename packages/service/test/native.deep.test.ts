/** Native coin on real nodes: however it reaches an address, it is detected once and delivered once. */
import { createSluiceClient } from "@sluice/sdk";
import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  isAddress,
  parseEther,
  zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { destroyedFor, forwarder, payingConstructor } from "./evm/payers.ts";
import { afterFee } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

const AMOUNT = parseEther("1");
const GAS = 500_000n;
const TERMINAL_MS = 60_000;

async function quoteNative(recipient: Address): Promise<Address> {
  const client = createSluiceClient({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });
  const { quotes } = await client.quote({
    amountIn64: AMOUNT.toString(),
    fromChain: "base",
    fromToken: zeroAddress,
    toChain: "base",
    toToken: zeroAddress,
    slippageBps: "auto",
    destinationAddress: recipient,
    payDeposit: true,
  });
  expect(quotes.map(({ type }) => type)).toEqual(["MONO_CHAIN"]);
  const address = quotes[0]?.payDepositAddress;
  if (!address || !isAddress(address)) throw new Error("the quote has no address");
  return address;
}

/** Sends from an unrelated account, with more gas than any call here uses, and waits for the block. */
async function send(call: { readonly to?: Address; readonly data?: Hex; readonly value?: bigint }) {
  const { client, rpcUrl } = world.chains.base;
  const account = privateKeyToAccount(generatePrivateKey());
  await client.setBalance({ address: account.address, value: 10n * AMOUNT });
  const wallet = createWalletClient({ account, chain: client.chain, transport: http(rpcUrl) });
  return client.waitForTransactionReceipt({
    hash: await wallet.sendTransaction({ ...call, gas: GAS }),
  });
}

const balanceOf = (address: Address) => world.chains.base.client.getBalance({ address });

const ways: [string, (address: Address) => Promise<unknown>][] = [
  ["a plain transfer", (address) => send({ to: address, value: AMOUNT })],
  [
    "a contract that is called",
    async (address) => {
      const { contractAddress } = await send({ data: forwarder() });
      if (!contractAddress) throw new Error("nothing was deployed");
      return send({ to: contractAddress, data: address, value: AMOUNT });
    },
  ],
  [
    "a contract's constructor",
    (address) => send({ data: payingConstructor(address), value: AMOUNT }),
  ],
  [
    "a contract that destroys itself",
    (address) => send({ data: destroyedFor(address), value: AMOUNT }),
  ],
  [
    "a block itself, as a reward or a withdrawal would (the node sets the balance)",
    async (address) => {
      await world.chains.base.client.setBalance({ address, value: AMOUNT });
      // No other transaction is pending to mine the blocks that make it final.
      await world.chains.mine(4, "base");
    },
  ],
];

describe("native coin", () => {
  test.each(ways)("native coin from %s is delivered once [T05]", async (_way, pay) => {
    const recipient = world.newRecipient();
    const address = await quoteNative(recipient);
    await pay(address);
    const swap = await world.settled(address);
    expect(swap).toMatchObject({
      status: "completed",
      tokenAddress: zeroAddress,
      amount: AMOUNT.toString(),
    });
    expect(await balanceOf(recipient)).toBe(afterFee(AMOUNT));
    expect(await balanceOf(address)).toBe(0n);
  });

  test("one address detects each kind of payment once, and nothing is left [T05]", async () => {
    const recipient = world.newRecipient();
    const address = await quoteNative(recipient);
    const [plain, called, constructed, destroyed] = ways;
    for (const way of [plain, called, constructed, destroyed]) await way?.[1](address);
    await world.until(
      "all of it is delivered",
      async () => (await balanceOf(recipient)) === 4n * afterFee(AMOUNT),
      TERMINAL_MS,
    );
    await world.chains.mine(6, "base");
    await world.until("nothing is active", async () =>
      (await world.swapsOf(address)).every(({ terminal }) => terminal),
    );
    const deposits = await world.deposits(address, 1);
    expect(deposits.every(({ tokenAddress }) => tokenAddress === zeroAddress)).toBe(true);
    expect(deposits.length).toBeLessThanOrEqual(4);
    expect(await balanceOf(address)).toBe(0n);
    expect(await balanceOf(recipient)).toBe(4n * afterFee(AMOUNT));
  });

  test("a failed transaction with a value is not a deposit [T03]", async () => {
    const recipient = world.newRecipient();
    const address = await quoteNative(recipient);
    await send({ to: address, value: AMOUNT });
    const first = await world.settled(address);
    const { status } = await send({ to: address, value: AMOUNT, data: "0xdeadbeef" });
    expect(status).toBe("reverted");
    await send({ to: address, value: AMOUNT });
    await world.settled(address, { after: first.id });
    expect((await world.deposits(address, 2)).length).toBe(2);
    expect(await balanceOf(recipient)).toBe(2n * afterFee(AMOUNT));
  });
});
