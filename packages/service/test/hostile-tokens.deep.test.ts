/** Hostile tokens on real nodes: the credited amount is the received one, and no other deposit waits for them. */
import { GOVERNED } from "../src/core/commitment.ts";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { createSluiceClient, type Quote, type Swap } from "@sluice/sdk";
import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { afterFee, deposit, expectDelivered, USDC } from "./support/deposits.ts";
import { ANSWER, type HostileTokens, listHostileTokens } from "./support/hostile-tokens.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let odd: HostileTokens;

beforeAll(async () => {
  world = await openWorld({ delaySeconds: 0 });
  odd = await listHostileTokens(world);
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  await odd.behave("ethereum", {});
  await odd.behave("base", {});
});

const AMOUNT = 10n * USDC;

/** Waits until the newest settlement of an address shows an error, and returns it. */
async function failingWith(address: Address, code: string): Promise<Swap> {
  let found: Swap | undefined;
  await world.until(`${address} shows ${code}`, async () => {
    found = (await world.swapsOf(address)).at(-1);
    return found?.error?.code === code;
  });
  if (!found) throw new Error("until saw it");
  expect(found.terminal).toBe(false);
  return found;
}

/** Expects another user's deposit through the same lanes to be delivered despite the hostile token. */
const othersGoOn = async () => expectDelivered(world, await deposit(world, 3n * USDC));

/** Blocks accounts on ethereum while `work` runs, so that nothing is swept before the token changes its behaviour. */
async function whileBlocked(accounts: readonly Address[], work: () => Promise<unknown>) {
  const block = async (on: boolean) => {
    for (const account of accounts) {
      await odd.call("ethereum", { functionName: "blockAccount", args: [account, on] });
    }
  };
  await block(true);
  await work();
  await block(false);
}

async function expectCompleted(address: Address): Promise<Swap> {
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await odd.balance("ethereum", address)).toBe(0n);
  return swap;
}

/** Refunds the balance of an address by the refund authority itself, which is always possible. */
async function refund(commitment: Quote["payDepositCommitment"]): Promise<Address> {
  if (!commitment) throw new Error("the quote has no commitment");
  const { client } = world.chains.ethereum;
  // CAST: the wire's schema checks that these fields are 32 bytes of hex.
  const c = { ...GOVERNED, ...commitment } as never;
  const authority: Address = `0x${commitment.refundAuthority.slice(-40)}`;
  const request = (method: string, params: unknown) =>
    // CAST: methods of the node that the client's types do not include.
    client.request({ method, params } as never) as Promise<Hex>;
  await request("anvil_setBalance", [authority, "0xde0b6b3a7640000"]);
  await request("anvil_impersonateAccount", [authority]);
  const data = encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "refund",
    args: [c, odd.tokens.ethereum, maxUint256],
  });
  const call = { from: authority, to: world.factory, data, gas: "0x4c4b40" };
  const hash = await request("eth_sendTransaction", [call]);
  const { status } = await client.waitForTransactionReceipt({ hash });
  expect(status).toBe("success");
  return authority;
}

test("transfers that exist only as events are not deposits [T02, T17]", async () => {
  const { address } = await odd.quote("base");
  await odd.call("ethereum", { functionName: "pretend", args: [address, address, AMOUNT, 3n] });
  await odd.behave("ethereum", { pretends: true });
  await odd.pay(address, AMOUNT);
  await odd.behave("ethereum", { pretends: true, answer: ANSWER.false });
  await odd.pay(address, AMOUNT);
  await othersGoOn();
  expect(await world.deposits(address, 0)).toEqual([]);
  expect(await world.swapsOf(address)).toEqual([]);
});

test("extra transfer events beside a real transfer are ignored [T02]", async () => {
  const { address, recipient } = await odd.quote("base");
  await odd.call("ethereum", { functionName: "pretend", args: [address, address, AMOUNT, 1n] });
  await odd.pay(address, AMOUNT);
  const swap = await expectCompleted(address);
  expect(swap.amount).toBe(AMOUNT.toString());
  expect(await odd.balance("base", recipient)).toBe(afterFee(AMOUNT));
});

test.each([
  ["returns nothing from a transfer", { answer: ANSWER.nothing }],
  ["refuses an approval of zero", { refusesZero: true }],
  ["refuses to change an allowance that is not zero", { refusesRace: true }],
  ["never decreases an allowance", { stickyAllowance: true }],
])("a token that %s is delivered, on its chain and to another [T14]", async (_, conduct) => {
  await odd.behave("ethereum", conduct);
  await odd.behave("base", conduct);
  const [stays, goes] = [await odd.quote("ethereum"), await odd.quote("base")];
  await odd.pay(stays.address, AMOUNT);
  await odd.pay(goes.address, AMOUNT);
  await expectCompleted(stays.address);
  await expectCompleted(goes.address);
  expect(await odd.balance("ethereum", stays.recipient)).toBe(afterFee(AMOUNT));
  expect(await odd.balance("base", goes.recipient)).toBe(afterFee(AMOUNT));
});

test("credits and quotes the received amount of a token with a transfer fee [T07]", async () => {
  await odd.behave("ethereum", { feeBps: 30 });
  const { address, recipient } = await odd.quote("ethereum");
  await odd.pay(address, AMOUNT);
  const arrived = AMOUNT - (AMOUNT * 30n) / 10_000n;
  const swap = await expectCompleted(address);
  expect(swap.amount).toBe(arrived.toString());
  const sent = afterFee(arrived);
  expect(await odd.balance("ethereum", recipient)).toBe(sent - (sent * 30n) / 10_000n);
});

test("a transfer fee above the cap pays nobody, and leaves the deposit to the refund authority [T07]", async () => {
  await odd.behave("ethereum", { feeBps: 5_000 });
  const deposits = [await odd.quote("ethereum"), await odd.quote("base")];
  for (const { address } of deposits) await odd.pay(address, AMOUNT);
  for (const { address, recipient, quote } of deposits) {
    await failingWith(address, "SIMULATION_REVERTED");
    expect(await odd.balance("ethereum", address)).toBe(AMOUNT / 2n);
    expect(await odd.balance("ethereum", recipient)).toBe(0n);
    expect(await odd.balance("base", recipient)).toBe(0n);
    await refund(quote.payDepositCommitment);
    expect(await odd.balance("ethereum", address)).toBe(0n);
  }
  await othersGoOn();
});

test("settles the balance after a rebase, and waits below the minimum [T08]", async () => {
  const { address, recipient } = await odd.quote("ethereum");
  await whileBlocked([recipient], async () => {
    await odd.pay(address, AMOUNT);
    await world.deposits(address, 1);
    await odd.behave("ethereum", { index: 10n ** 16n });
  });
  await world.until("it waits", async () =>
    (await world.swapsOf(address)).some(({ error }) => error?.code === "AMOUNT_TOO_SMALL"),
  );
  await odd.behave("ethereum", { index: 2n * 10n ** 18n });
  const swap = await expectCompleted(address);
  expect(swap.status).toBe("completed");
  expect(await odd.balance("ethereum", recipient)).toBe(afterFee(2n * AMOUNT));
});

test("a paused token waits and is delivered later; other tokens are delivered meanwhile [T09]", async () => {
  const deposits = [await odd.quote("ethereum"), await odd.quote("base")];
  const { escrow } = world.deployment.chains.ethereum;
  await whileBlocked([escrow, ...deposits.map(({ recipient }) => recipient)], async () => {
    for (const { address } of deposits) await odd.pay(address, AMOUNT);
    for (const { address } of deposits) await world.deposits(address, 1);
    await odd.behave("ethereum", { paused: true });
  });
  for (const { address } of deposits) await failingWith(address, "SIMULATION_REVERTED");
  await othersGoOn();
  await odd.behave("ethereum", {});
  for (const { address } of deposits) await expectCompleted(address);
});

test.each(["wallet", "recipient"] as const)(
  "a deposit of a blocked %s waits, and is delivered once it is unblocked [T09]",
  async (who) => {
    const { address, recipient } = await odd.quote("ethereum");
    const blocked = who === "wallet" ? address : recipient;
    await whileBlocked([recipient], async () => {
      await odd.pay(address, AMOUNT);
      await world.deposits(address, 1);
      await whileBlocked([blocked], async () => {
        await failingWith(address, "SIMULATION_REVERTED");
        await othersGoOn();
      });
    });
    await expectCompleted(address);
    expect(await odd.balance("ethereum", recipient)).toBe(afterFee(AMOUNT));
  },
);

test("a destination token that blocks the recipient leaves the deposit in its wallet [T10, T150]", async () => {
  const { address, recipient } = await odd.quote("base");
  const block = (on: boolean) =>
    odd.call("base", { functionName: "blockAccount", args: [recipient, on] });
  await block(true);
  await odd.pay(address, AMOUNT);
  await failingWith(address, "NO_ROUTE");
  await othersGoOn();
  expect(await odd.balance("ethereum", address)).toBe(AMOUNT);
  await block(false);
  await expectCompleted(address);
  expect(await odd.balance("base", recipient)).toBe(afterFee(AMOUNT));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
});

test.each([
  ["starts to charge a transfer fee", { feeBps: 100 }],
  ["reports transfers that it does not make", { pretends: true }],
])("a destination token that %s keeps the settlement in flight [T10, T74]", async (_, conduct) => {
  const { address, recipient } = await odd.quote("base");
  await odd.behave("base", conduct);
  await odd.pay(address, AMOUNT);
  await failingWith(address, "SIMULATION_REVERTED");
  await othersGoOn();
  expect(await odd.balance("base", recipient)).toBe(0n);
  await odd.behave("base", {});
  await expectCompleted(address);
  expect(await odd.balance("base", recipient)).toBe(afterFee(AMOUNT));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
});

test("a token that calls the factory back during a transfer gains nothing [T11]", async () => {
  const { address, recipient, quote } = await odd.quote("ethereum");
  const { payDepositCommitment } = quote;
  const data = encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "refund",
    // CAST: the wire's schema checks that these fields are 32 bytes of hex.
    args: [{ ...GOVERNED, ...payDepositCommitment } as never, odd.tokens.ethereum, maxUint256],
  });
  await odd.call("ethereum", { functionName: "hook", args: [world.factory, data] });
  await odd.pay(address, AMOUNT);
  await expectCompleted(address);
  expect(await odd.balance("ethereum", recipient)).toBe(afterFee(AMOUNT));
  await odd.call("ethereum", { functionName: "hook", args: [zeroAddress, "0x"] });
});

test.each([
  ["burns gas in every transfer", { waste: 2_500_000n }],
  ["never ends in balanceOf", { endless: true }],
  ["answers with a megabyte", { bomb: 1_000_000 }],
])("a token that %s delays no other token [T12]", async (_, conduct) => {
  const { address, recipient } = await odd.quote("ethereum");
  await whileBlocked([recipient], async () => {
    await odd.pay(address, AMOUNT);
    await world.deposits(address, 1);
    await odd.behave("ethereum", conduct);
  });
  await world.until("it waits", async () =>
    (await world.swapsOf(address)).some(({ error }) => error !== null),
  );
  await othersGoOn();
  await odd.behave("ethereum", {});
  await expectCompleted(address);
});

test("a token that reports a false balance settles nothing [T13]", async () => {
  const { address, recipient } = await odd.quote("ethereum");
  // Nodes make calls from the zero address, so the one account that is told the truth must be another.
  const lie = { told: true, balance: AMOUNT, confidant: recipient };
  await odd.call("ethereum", { functionName: "lie", args: [lie] });
  await odd.call("ethereum", { functionName: "pretend", args: [address, address, AMOUNT, 1n] });
  await othersGoOn();
  expect(await world.deposits(address, 0)).toEqual([]);
  const client = createSluiceClient({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });
  const request = { walletAddress: address, tokenAddress: odd.tokens.ethereum, chain: 2 };
  expect(await client.requestIndex(request)).toMatchObject({ queued: true });
  await failingWith(address, "SIMULATION_REVERTED");
  await odd.call("ethereum", { functionName: "lie", args: [{ ...lie, told: false }] });
  await failingWith(address, "INSUFFICIENT_BALANCE");
  expect(await odd.balance("ethereum", recipient)).toBe(0n);
});
