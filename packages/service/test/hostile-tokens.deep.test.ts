/** Tokens that misbehave, on real nodes: what is credited is what arrived, and nobody else waits for them. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { createSluiceClient, type Quote, type Swap } from "@sluice/sdk";
import { type Address, encodeFunctionData, type Hex, zeroAddress } from "viem";
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
async function troubled(address: Address, code: string): Promise<Swap> {
  let found: Swap | undefined;
  await world.until(`${address} shows ${code}`, async () => {
    found = (await world.swapsOf(address)).at(-1);
    return found?.error?.code === code;
  });
  if (!found) throw new Error("until saw it");
  expect(found.terminal).toBe(false);
  return found;
}

/** Another customer's deposit, by the same lanes: it is delivered whatever the strange token does. */
const othersGoOn = async () => expectDelivered(world, await deposit(world, 3n * USDC));

/** Blocks accounts on ethereum while `work` runs: what cannot reach them is not swept before a token changes its mind. */
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

/** The refund authority takes an address's balance itself, as it always may. */
async function refund(commitment: Quote["payDepositCommitment"]): Promise<Address> {
  if (!commitment) throw new Error("the quote has no commitment");
  const { client } = world.chains.ethereum;
  // CAST: the wire's schema holds these fields to 32 bytes of hex.
  const c = commitment as typeof commitment & Record<"integrator" | "userId", Hex>;
  const authority: Address = `0x${commitment.refundAuthority.slice(-40)}`;
  const request = (method: string, params: unknown) =>
    // CAST: the node's own methods, which the client's types do not know.
    client.request({ method, params } as never) as Promise<Hex>;
  await request("anvil_setBalance", [authority, "0xde0b6b3a7640000"]);
  await request("anvil_impersonateAccount", [authority]);
  const data = encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "refund",
    // CAST: as above.
    args: [c as never, odd.tokens.ethereum],
  });
  const call = { from: authority, to: world.factory, data, gas: "0x4c4b40" };
  const hash = await request("eth_sendTransaction", [call]);
  const { status } = await client.waitForTransactionReceipt({ hash });
  expect(status).toBe("success");
  return authority;
}

test("transfers that exist only as events are not deposits [T02] [T17]", async () => {
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
  ["answers nothing", { answer: ANSWER.nothing }],
  ["refuses zero", { refusesZero: true }],
  ["refuses to change an allowance", { refusesRace: true }],
  ["never uses an allowance up", { stickyAllowance: true }],
])("T14 a token that %s is delivered, on its chain and to another", async (_, conduct) => {
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
    await troubled(address, "SIMULATION_REVERTED");
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
  for (const { address } of deposits) await troubled(address, "SIMULATION_REVERTED");
  await othersGoOn();
  await odd.behave("ethereum", {});
  for (const { address } of deposits) await expectCompleted(address);
});

test.each(["wallet", "recipient"] as const)(
  "T09 a blocked %s waits, and its deposit is delivered once it is not",
  async (who) => {
    const { address, recipient } = await odd.quote("ethereum");
    const blocked = who === "wallet" ? address : recipient;
    await whileBlocked([recipient], async () => {
      await odd.pay(address, AMOUNT);
      await world.deposits(address, 1);
      await whileBlocked([blocked], async () => {
        await troubled(address, "SIMULATION_REVERTED");
        await othersGoOn();
      });
    });
    await expectCompleted(address);
    expect(await odd.balance("ethereum", recipient)).toBe(afterFee(AMOUNT));
  },
);

test.each([
  ["blocks the recipient", {}, true],
  ["starts to keep a part", { feeBps: 100 }, false],
  ["pretends", { pretends: true }, false],
])("T10 T74 a destination token that %s keeps it in flight", async (_, conduct, blocks) => {
  const { address, recipient } = await odd.quote("base");
  const block = (on: boolean) =>
    odd.call("base", { functionName: "blockAccount", args: [recipient, on] });
  await odd.behave("base", conduct);
  if (blocks) await block(true);
  await odd.pay(address, AMOUNT);
  await troubled(address, "SIMULATION_REVERTED");
  await othersGoOn();
  expect(await odd.balance("base", recipient)).toBe(0n);
  await odd.behave("base", {});
  if (blocks) await block(false);
  await expectCompleted(address);
  expect(await odd.balance("base", recipient)).toBe(afterFee(AMOUNT));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
});

test("a token that calls back gains nothing [T11]", async () => {
  const { address, recipient, quote } = await odd.quote("ethereum");
  const { payDepositCommitment } = quote;
  const data = encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "refund",
    // CAST: the wire's schema holds these fields to 32 bytes of hex.
    args: [payDepositCommitment as never, odd.tokens.ethereum],
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
])("T12 a token that %s waits alone", async (_, conduct) => {
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
  // Nodes ask in the name of the zero address, so that is not who hears the truth.
  const lie = { told: true, balance: AMOUNT, confidant: recipient };
  await odd.call("ethereum", { functionName: "lie", args: [lie] });
  await odd.call("ethereum", { functionName: "pretend", args: [address, address, AMOUNT, 1n] });
  await othersGoOn();
  expect(await world.deposits(address, 0)).toEqual([]);
  const client = createSluiceClient({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });
  const request = { walletAddress: address, tokenAddress: odd.tokens.ethereum, chain: 2 };
  expect(await client.requestIndex(request)).toMatchObject({ queued: true });
  await troubled(address, "SIMULATION_REVERTED");
  await odd.call("ethereum", { functionName: "lie", args: [{ ...lie, told: false }] });
  await troubled(address, "INSUFFICIENT_BALANCE");
  expect(await odd.balance("ethereum", recipient)).toBe(0n);
});
