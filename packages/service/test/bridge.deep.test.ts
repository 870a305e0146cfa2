/** The bridge when its attestation service, its price or another relayer interferes, and after a pool swap. */
import {
  cctpRouteAbi,
  sandboxMessageTransmitterV2Abi,
  sandboxTokenMessengerV2Abi,
} from "@sluice/contracts/abi";
import { balanceOf } from "@sluice/sandbox";
import {
  type Address,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseAbi,
  parseEther,
  parseEventLogs,
} from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { NATIVE_TOKEN } from "../src/core/hex.ts";
import { listGas } from "../src/fees/index.ts";
import { SWAP_BRIDGE_GAS } from "../src/routes/fast-mctp/swap.ts";
import { afterFast, afterStandard, bridgeFee, expectProvedBooks } from "./support/bridge.ts";
import { USDC } from "./support/deposits.ts";
import { createPoolTrader } from "./support/pool-trader.ts";
import { openWorld, type World } from "./support/world.ts";

const wethAbi = parseAbi([
  "function deposit() payable",
  "function transfer(address to, uint256 amount) returns (bool)",
]);

let world: World;

beforeAll(async () => {
  world = await openWorld({ bridge: true });
});
afterAll(async () => {
  await world.close();
});
afterEach(() => {
  const { controls } = world.attestations;
  controls.down = false;
  controls.unknown = false;
  controls.paused = false;
  controls.rateLimitSeconds = null;
  controls.tamper = null;
  controls.allowance = 10_000_000n * USDC;
  controls.expiryBlocks = 10_000n;
});

/** Pays a new address once the bridge is available again; before that, inventory would pay. */
async function pay(
  amount: bigint,
  quoted = afterFast(10n * USDC),
): Promise<{ address: Address; recipient: Address }> {
  await untilQuoted(quoted);
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, amount);
  return { address, recipient };
}

/** Waits until the service sees the bridge's present state, which it caches for 15 seconds. */
async function untilQuoted(amountOut: bigint | null): Promise<void> {
  const recipient = world.newRecipient();
  await world.until("the bridge is quoted as it is", async () => {
    const { quotes } = await world.quote({ from: "ethereum", to: "base", recipient });
    const bridged = quotes.find(({ type }) => type === "FAST_MCTP");
    return bridged?.expectedAmountOutBaseUnits === amountOut?.toString();
  });
}

/** The transaction that burned the deposit of an address. */
async function burnOf(address: Address): Promise<Hex> {
  let hash: Hex | undefined;
  await world.until(`${address} is burned`, async () => {
    const events = await world.chains.ethereum.client.getContractEvents({
      abi: cctpRouteAbi,
      eventName: "Burned",
      args: { wallet: address },
      fromBlock: 0n,
    });
    hash = events[0]?.transactionHash;
    return hash !== undefined;
  });
  if (!hash) throw new Error("until saw it");
  return hash;
}

/** Sets the most USDC that one message may burn on ethereum, as Circle does. */
async function limitBurns(limit: bigint): Promise<void> {
  const { messenger, token } = world.deployment.chains.ethereum;
  const call = { functionName: "setMaxBurnAmountPerMessage", args: [token, limit] } as const;
  const data = encodeFunctionData({ abi: sandboxTokenMessengerV2Abi, ...call });
  await world.asOwner("ethereum", { to: messenger, data });
}

/** Waits for a number of burns of an address, and returns their amounts, oldest first. */
async function burnsOf(address: Address, count: number): Promise<readonly bigint[]> {
  let amounts: readonly bigint[] = [];
  await world.until(`${address} is burned ${count} times`, async () => {
    const events = await world.chains.ethereum.client.getContractEvents({
      abi: cctpRouteAbi,
      eventName: "Burned",
      args: { wallet: address },
      fromBlock: 0n,
    });
    amounts = events.map(({ args }) => args.amount ?? 0n);
    return amounts.length >= count;
  });
  return amounts;
}

async function allCompleted(address: Address, count: number): Promise<void> {
  await world.until(`${count} settlements of ${address} are completed`, async () => {
    const swaps = await world.swapsOf(address);
    return swaps.length === count && swaps.every(({ status }) => status === "completed");
  });
}

describe("Circle's attestation service", () => {
  test("unavailable after the burn: the settlement waits, shows the delay, and completes [T73]", async () => {
    const { controls } = world.attestations;
    controls.paused = true;
    const { address, recipient } = await pay(10n * USDC);
    await burnOf(address);
    controls.down = true;
    controls.paused = false;
    await world.until("it is shown", async () => {
      const [swap] = await world.swapsOf(address);
      return swap?.error?.code === "RPC_UNAVAILABLE";
    });
    expect((await world.swapsOf(address))[0]).toMatchObject({
      status: "failed_swap",
      terminal: false,
    });
    controls.down = false;
    const swap = await world.settled(address);
    expect(await world.statuses(swap.id)).toEqual(
      expect.arrayContaining(["swapping", "failed_swap", "completed"]),
    );
    expect(await world.balance("base", recipient)).toBe(afterFast(10n * USDC));
  });

  test("unavailable before the burn: nothing is burned, and inventory pays [T73]", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
    world.attestations.controls.down = true;
    await untilQuoted(null);
    await world.pay("ethereum", address, 4n * USDC);
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("base", recipient)).toBe(afterStandard(4n * USDC));
    expect(await world.countDeliveries("base", recipient)).toBe(1);
  });

  test("refuses the fast transfer after the burn: the standard one follows, without the bridge fee [T73]", async () => {
    const { controls } = world.attestations;
    controls.paused = true;
    const { address, recipient } = await pay(6n * USDC);
    await burnOf(address);
    controls.allowance = 1n;
    controls.paused = false;
    const swap = await world.settled(address);
    expect(swap.status).toBe("completed");
    expect(await world.balance("base", recipient)).toBe(afterStandard(6n * USDC));
  });

  test("has no fast allowance before the burn: the burn is standard, and quoted so [T73]", async () => {
    world.attestations.controls.allowance = 1n;
    const { address, recipient } = await pay(7n * USDC, afterStandard(10n * USDC));
    const receipt = await world.chains.ethereum.client.getTransactionReceipt({
      hash: await burnOf(address),
    });
    const burned = parseEventLogs({ abi: cctpRouteAbi, logs: receipt.logs, eventName: "Burned" });
    expect(burned.map(({ args }) => args.maxFee)).toEqual([0n]);
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("base", recipient)).toBe(afterStandard(7n * USDC));
  });

  test("returns an attestation that expires before it is submitted: a new one is requested [T73]", async () => {
    const { controls } = world.attestations;
    controls.paused = true;
    const { address, recipient } = await pay(8n * USDC);
    await burnOf(address);
    controls.expiryBlocks = 1n;
    const asked = controls.requests.reattest;
    controls.paused = false;
    await world.until("it is requested again", async () => controls.requests.reattest > asked);
    expect((await world.settled(address)).status).toBe("completed");
    // The burn is final by then.
    expect(await world.balance("base", recipient)).toBe(afterStandard(8n * USDC));
  });

  test("attests another recipient: that message is not submitted, and the true one is once attested [T70]", async () => {
    const thief = world.newRecipient();
    const { controls } = world.attestations;
    // The mint recipient, at byte 148 + 36.
    controls.tamper = (message) => {
      const at = 2 + (148 + 36) * 2;
      return `0x${message.slice(2, at)}${thief.slice(2).toLowerCase().padStart(64, "0")}${message.slice(at + 64)}`;
    };
    const { address, recipient } = await pay(9n * USDC);
    await world.until("it is refused", async () => {
      const [swap] = await world.swapsOf(address);
      return swap?.error?.details?.["differs"] === "mintRecipient";
    });
    expect(await world.balance("base", thief)).toBe(0n);
    controls.tamper = null;
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("base", recipient)).toBe(afterFast(9n * USDC));
    expect(await world.balance("base", thief)).toBe(0n);
  });
});

describe("a token other than USDC", () => {
  const ETHER = parseEther("1");
  /** One ether at the sandbox's price, less the fee of 10 basis points and the committed slippage of 1 %. */
  const LEAST_OF_ETHER = (2_997n * USDC * 99n) / 100n;

  async function toBase(recipient: Address) {
    const { weth } = world.deployment.chains.ethereum;
    const asked = { from: "ethereum", to: "base", fromToken: weth, amount: ETHER } as const;
    return world.quote({ ...asked, recipient });
  }
  async function payWeth(to: Address, amount: bigint): Promise<void> {
    const { weth } = world.deployment.chains.ethereum;
    const payer = world.stranger();
    await world.payNative("ethereum", payer.address, amount);
    const deposit = encodeFunctionData({ abi: wethAbi, functionName: "deposit" });
    await world.sendAs("ethereum", payer, { to: weth, data: deposit, value: amount });
    const args = [to, amount] as const;
    const transfer = encodeFunctionData({ abi: wethAbi, functionName: "transfer", args });
    await world.sendAs("ethereum", payer, { to: weth, data: transfer });
  }
  const wethOf = (owner: Address) =>
    balanceOf(world.chains.ethereum.client, {
      owner,
      token: world.deployment.chains.ethereum.weth,
    });

  test("is swapped for USDC and burned in one transaction, and minted to the recipient on base", async () => {
    const recipient = world.newRecipient();
    const { address, quote } = await toBase(recipient);
    expect(quote).toMatchObject({ type: "FAST_MCTP", protocolBps: 10 });
    expect(BigInt(quote.minReceivedBaseUnits)).toBeGreaterThan(2_950n * USDC);
    await payWeth(address, ETHER);
    const swap = await world.settled(address);
    expect(swap).toMatchObject({ status: "completed", error: null });
    const received = await world.balance("base", recipient);
    // The pool is deep and takes 5 basis points; the bridge takes 1.3.
    expect(received).toBeGreaterThan(2_994n * USDC);
    expect(received).toBeLessThan(2_996n * USDC);
    expect(received).toBe(BigInt(quote.expectedAmountOutBaseUnits));
    expect(await wethOf(address)).toBe(0n);
    expect(await world.balance("ethereum", address)).toBe(0n);
    // The output of the pool only passed through.
    const deposits = await world.deposits(address, 1);
    expect(deposits.map(({ tokenAddress }) => tokenAddress)).toEqual([
      world.deployment.chains.ethereum.weth,
    ]);

    // CAST: the wire's schema checks that it is a hash.
    const hash = swap.swapTxHash as Hex;
    const receipt = await world.chains.ethereum.client.getTransactionReceipt({ hash });
    const [burned] = parseEventLogs({ abi: cctpRouteAbi, logs: receipt.logs, eventName: "Burned" });
    expect(burned?.args.fee).toBe(0n);
    expect(received).toBe((burned?.args.amount ?? 0n) - bridgeFee(burned?.args.amount ?? 0n));
    // The value from which fees are computed where gas is charged; the sweep is the wallet's first.
    const pair = {
      srcChain: 2,
      srcToken: NATIVE_TOKEN,
      destChain: 30,
      destToken: NATIVE_TOKEN,
    };
    const [{ gas = 0n } = {}] = listGas({ pair, gasSteps: SWAP_BRIDGE_GAS }, true);
    expect(receipt.gasUsed).toBeLessThan(gas);
    expect(receipt.gasUsed).toBeGreaterThan((gas * 7n) / 10n);
  });

  test("waits in its wallet while the pool is manipulated, until the price is back [T69]", async () => {
    const trader = await createPoolTrader(world);
    const recipient = world.newRecipient();
    const { address } = await toBase(recipient);
    await trader.pushDown();
    try {
      await expect(toBase(world.newRecipient())).rejects.toMatchObject({
        code: "NO_ROUTE",
        details: { reason: "pool_below_price" },
      });
      await payWeth(address, ETHER);
      await world.until("it says NO_ROUTE", async () => {
        const [swap] = await world.swapsOf(address);
        return swap?.error?.code === "NO_ROUTE";
      });
      expect(await wethOf(address)).toBe(ETHER);
    } finally {
      await trader.pushBackUp();
    }
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("base", recipient)).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
  });

  test("arrives in parts when the bridge takes less in one message than the pool gives [T196]", async () => {
    const recipient = world.newRecipient();
    const { address } = await toBase(recipient);
    await limitBurns(1_400n * USDC);
    try {
      await payWeth(address, ETHER);
      const burns = await burnsOf(address, 3);
      expect(burns.every((amount) => amount <= 1_400n * USDC)).toBe(true);
      await allCompleted(address, 3);
      const minted = burns.reduce((sum, amount) => sum + amount - bridgeFee(amount), 0n);
      expect(await world.balance("base", recipient)).toBe(minted);
      expect(minted).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
      expect(await wethOf(address)).toBe(0n);
    } finally {
      await limitBurns(maxUint256);
    }
  });

  test("has no findings of the doctor about its routes", async () => {
    const report = await world.command("doctor", "--json").catch((error: { stdout?: string }) => {
      if (error.stdout === undefined) throw error;
      return JSON.parse(error.stdout);
    });
    // CAST: the form that the command prints.
    const { checks } = report as unknown as {
      readonly checks: readonly { id: string; item?: string; status: string }[];
    };
    const ofRoutes = checks.filter(
      ({ id, item = "" }) => id.startsWith("route.") && item.startsWith("FAST_MCTP WETH"),
    );
    expect(ofRoutes.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});

test("delivers once when somebody else submits the bridge message first [T72]", async () => {
  const { controls } = world.attestations;
  controls.paused = true;
  const { address, recipient } = await pay(11n * USDC);
  const burn = await burnOf(address);
  // The other relayer's transaction is mined while ours is held back.
  controls.rateLimitSeconds = 3;
  await world.until("ours was told to", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.error?.details?.["reason"] === "rate limited";
  });
  controls.paused = false;
  const [attested] = await world.attestations.attest(0, burn);
  if (!attested?.attestation) throw new Error("the burn is attested");
  const { transmitter } = world.deployment.chains.base;
  const stranger = world.stranger();
  await world.sendAs("base", stranger, {
    to: transmitter,
    data: encodeFunctionData({
      abi: sandboxMessageTransmitterV2Abi,
      functionName: "receiveMessage",
      args: [attested.message, attested.attestation],
    }),
  });
  controls.rateLimitSeconds = null;
  const swap = await world.settled(address);
  expect(swap.status).toBe("completed");
  expect(await world.balance("base", recipient)).toBe(afterFast(11n * USDC));
  const received = await world.chains.base.client.getContractEvents({
    address: transmitter,
    abi: sandboxMessageTransmitterV2Abi,
    eventName: "MessageReceived",
    args: { nonce: attested.nonce },
    fromBlock: 0n,
  });
  expect(received.map(({ args }) => args.caller)).toEqual([stranger.address]);
});

test("a deposit above the burn limit per message arrives in parts [T196]", async () => {
  const inventory = await world.inventory("base");
  await world.emptyInventory("base");
  await limitBurns(4n * USDC);
  try {
    const { address, recipient } = await pay(10n * USDC);
    await world.until("it says why it waits", async () => {
      const [swap] = await world.swapsOf(address);
      return swap?.error?.details?.["reason"] === "burn_limit";
    });
    await allCompleted(address, 3);
    // A part is at most the limit before fees, and so is its burn.
    const parts = [4n * USDC, 4n * USDC, 2n * USDC];
    expect(await burnsOf(address, 3)).toEqual(parts.map(afterStandard));
    const arrived = parts.map(afterFast).reduce((sum, amount) => sum + amount);
    expect(await world.balance("base", recipient)).toBe(arrived);
    expect(await world.balance("ethereum", address)).toBe(0n);
  } finally {
    await limitBurns(maxUint256);
    await world.fillInventory("base", inventory);
  }
});

test("the ledger matches the chains: every burn was minted, and nothing is in flight", () =>
  expectProvedBooks(world));
