/** From deposit to claim through the chain port, with a real node, the real contracts and the real signers. */
import { deliveryAbi, depositFactoryAbi } from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { assert } from "../../core/assert.ts";
import { type Address, NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import {
  EVM_CHAIN_ID,
  HERE,
  lockedIn,
  openWorld,
  RECIPIENT,
  THERE,
  unknownLock,
  USDC,
  type World,
} from "../../../test/evm/world.ts";
import type { LockFacts, PaidLock, ReadPoint } from "../port/index.ts";
import { createIdentityCheck } from "./identity.ts";
import { createRpc, type Rpc } from "./rpc.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

test("a contract that takes no native coin refuses a payment of it [T150]", async () => {
  const { there, contractsThere } = world;
  const pay = (to: Address) =>
    there.simulatePayment({ payer: "delivery", token: NATIVE_TOKEN, to, amount: 0n });
  expect(await pay(contractsThere.factory)).toBe("refused");
  expect(await pay(RECIPIENT)).toBe("accepted");
});

describe("identity", () => {
  test("accepts a node of the configured chain with our contracts", async () => {
    await expect(world.here.checkIdentity()).resolves.toBeUndefined();
    await expect(world.there.checkIdentity()).resolves.toBeUndefined();
  });

  test.each([
    ["another EVM chain", () => world.chainOf(HERE, world.contractsHere, 1)],
    [
      "no code at the factory",
      () => world.chainOf(HERE, { ...world.contractsHere, factory: RECIPIENT }),
    ],
    [
      "no code at the escrow",
      () => world.chainOf(HERE, { ...world.contractsHere, escrow: RECIPIENT }),
    ],
    ["contracts of another bridge id", () => world.chainOf(THERE, world.contractsHere)],
    [
      "an escrow of another bridge id",
      () => world.chainOf(HERE, { ...world.contractsHere, escrow: world.contractsThere.escrow }),
    ],
  ])("refuses %s [T50]", async (_what, open) => {
    await expect(open().checkIdentity()).rejects.toMatchObject({ code: "CONFIG_MISSING" });
  });

  test("is checked again by the chain id alone, and by the contracts after two hours at most", async () => {
    const { factory } = world.contractsHere;
    let contracts = 0;
    const rpc = createRpc({ chainId: HERE, rpcUrl: world.rpcUrl, timeoutMs: 5_000 });
    const counting: Rpc = {
      ...rpc,
      ask(method, params, parse) {
        if (method === "eth_getCode" && params[0] === factory) contracts += 1;
        return rpc.ask(method, params, parse);
      },
    };
    const addresses = world.contractsHere;
    const check = createIdentityCheck(counting, { evmChainId: EVM_CHAIN_ID, addresses });
    await check();
    await check();
    expect(contracts).toBe(1);
    for (let index = 0; index < 240; index++) await check();
    expect(contracts).toBeGreaterThan(1);
  });
});

describe("derivation matches the contracts", () => {
  test("wallet and hash of a commitment", async () => {
    const commitment = world.commitmentTo(THERE);
    const factory = { address: world.contractsHere.factory, abi: depositFactoryAbi } as const;
    const predicted = await world.client.readContract({
      ...factory,
      functionName: "predict",
      args: [commitment],
    });
    const hash = await world.client.readContract({
      ...factory,
      functionName: "hashOf",
      args: [commitment],
    });
    expect(world.here.predictWallet(commitment)).toBe(predicted.toLowerCase());
    expect(world.here.hashCommitment(commitment)).toBe(hash);
  });

  test("delivery id of an order", async () => {
    const order = await world.payoutOf(world.commitmentTo(THERE), 1n);
    const { commitment: c, escrow, srcToken, ...numbers } = order;
    const id = await world.client.readContract({
      address: world.contractsThere.delivery,
      abi: deliveryAbi,
      functionName: "deliveryIdOf",
      args: [{ ...numbers, c, escrow: padAddress(escrow), srcToken: padAddress(srcToken) }],
    });
    expect(world.there.deliveryIdOfPayout(order)).toBe(id);
    const { lockedAmount: amount, minOut, seq } = order;
    const commitment = world.here.hashCommitment(c);
    const delivery = padAddress(world.contractsThere.delivery);
    const lock = { commitment, delivery, token: srcToken, amount, minOut, seq };
    expect(world.here.deliveryIdOf(lock)).toBe(id);
  });
});

describe("deploy and settle", () => {
  test("a deployment creates code at the predicted address and reports it", async () => {
    const commitment = world.commitmentTo(HERE);
    const wallet = world.here.predictWallet(commitment);
    expect(await world.here.wallets.hasCode(wallet)).toBe(false);
    const receipt = await world.execute(world.here, world.here.wallets.buildDeploy(commitment));
    expect(receipt).toMatchObject({ succeeded: true });
    expect(receipt.effects).toEqual([
      { kind: "deployed", wallet, commitment: world.here.hashCommitment(commitment) },
    ]);
    expect(await world.here.wallets.hasCode(wallet)).toBe(true);
  });

  test("a same-chain sweep pays the recipient and the fee and reports both", async () => {
    const commitment = world.commitmentTo(HERE);
    const wallet = world.here.predictWallet(commitment);
    await world.mint(world.usdc, wallet, 25n * USDC);
    const before = await world.here.getBalance(world.usdc, RECIPIENT);
    const receipt = await world.execute(world.here, world.settleCall(commitment));
    expect(receipt.effects).toEqual([
      { kind: "deployed", wallet, commitment: world.here.hashCommitment(commitment) },
      {
        kind: "transferred",
        wallet,
        token: world.usdc,
        to: RECIPIENT,
        amount: 24_975_000n,
        fee: 25_000n,
      },
      {
        kind: "settled",
        wallet,
        token: world.usdc,
        route: world.transferRoute,
        amount: 25n * USDC,
        logIndex: expect.any(Number),
      },
    ]);
    expect((await world.here.getBalance(world.usdc, RECIPIENT)) - before).toBe(24_975_000n);
    expect(await world.here.getBalance(world.usdc, wallet)).toBe(0n);
  });

  test("a part of a balance is swept, and the rest stays [T191]", async () => {
    const commitment = world.commitmentTo(HERE);
    const wallet = world.here.predictWallet(commitment);
    await world.mint(world.usdc, wallet, 25n * USDC);
    const part = { amount: 10n * USDC, asOf: 1n };
    const call = world.settleCall(commitment, undefined, part);
    const { effects } = await world.execute(world.here, call);
    const balance = () => world.here.getBalance(world.usdc, wallet);
    expect(effects.at(-1)).toMatchObject({ kind: "settled", amount: 10n * USDC });
    expect(await balance()).toBe(15n * USDC);
    await world.execute(world.here, world.settleCall(commitment));
    expect(await balance()).toBe(0n);
  });

  test("a reverted sweep has a receipt without effects", async () => {
    const call = world.settleCall(world.commitmentTo(HERE));
    const receipt = await world.executeBlindly(world.here, call, 500_000n);
    expect(receipt).toMatchObject({ succeeded: false, effects: [] });
  });
});

describe("lock, delivery and claim", () => {
  test("a lock is paid on the attestor's first signature and released on its second", async () => {
    const { commitment, wallet, receipt, deliveryId } = await world.lockDeposit();
    const facts = {
      commitment: world.here.hashCommitment(commitment),
      delivery: padAddress(world.contractsThere.delivery),
      token: world.usdc,
      amount: 25n * USDC,
      minOut: 24_875_000_000_000_000_000n,
      seq: 0n,
    };
    const { blockNumber } = receipt;
    const { timestamp: lockedAt } = await world.client.getBlock({ blockNumber });
    expect(receipt.effects).toContainEqual({
      kind: "locked",
      escrow: world.contractsHere.escrow,
      deliveryId,
      wallet,
      lockedAt,
      ...facts,
    });
    const held = await world.here.getLock(facts, "latest");
    expect(held).toEqual({ ...facts, lockedAt, state: "locked" });
    for (const other of [{ amount: 1n }, { minOut: 1n }, { seq: 9n }]) {
      expect(await world.here.getLock({ ...facts, ...other }, "latest")).toBeNull();
    }

    const lock = world.paidLockOf(deliveryId, facts.seq);
    expect(await world.there.isDelivered(lock, "latest")).toBe(false);
    expect(await world.there.findDelivery(lock)).toBeNull();
    const amount = 24_975_000_000_000_000_000n;
    await world.mint(world.usdcThere, world.contractsThere.delivery, amount);
    const { minOut } = facts;
    const times = { windowStart: lockedAt };
    const order = { ...(await world.payoutOf(commitment, amount)), minOut, ...times };
    const paid = await world.execute(
      world.there,
      world.there.buildDeliver(order, await world.attestor.signDelivery(THERE, order)),
    );
    const delivered = {
      deliveryId,
      commitment: world.here.hashCommitment(commitment),
      to: RECIPIENT,
      token: world.usdcThere,
      amount,
    };
    expect(paid.effects).toEqual([{ kind: "delivered", ...delivered }]);
    expect(await world.there.isDelivered(lock, "latest")).toBe(true);
    expect(await world.there.findDelivery(lock)).toEqual({
      ...delivered,
      txHash: paid.txHash,
      blockNumber: paid.blockNumber,
    });

    const claim = { deliveryId, paidAmount: amount, deadline: lockedAt + 3600n };
    const released = await world.execute(
      world.here,
      world.here.buildClaim(claim, await world.attestor.signClaim(HERE, claim), {
        commitment,
        facts,
      }),
    );
    expect(released.effects).toEqual([{ kind: "claimed", deliveryId, amount: 25n * USDC }]);
    expect(await world.here.getLock(facts, "latest")).toMatchObject({ lockedAt, state: "claimed" });
    expect(await world.here.getBalance(world.usdc, world.treasury)).toBeGreaterThanOrEqual(
      25n * USDC,
    );
  });

  test("the attestor's signature does not cover another amount", async () => {
    const { commitment } = await world.lockDeposit();
    const order = await world.payoutOf(commitment, 10n);
    const signature = await world.attestor.signDelivery(THERE, { ...order, amount: 11n });
    const call = world.there.buildDeliver(order, signature);
    expect(await world.there.simulate(world.lane.address, call)).toEqual({
      ok: false,
      reason: "NotAttestor",
    });
  });

  test("a mined lock is absent at the final block until it is final", async () => {
    const { facts } = await world.lockDeposit();
    expect(await world.here.getLock(facts, "latest")).not.toBeNull();
    expect(await world.here.getLock(facts, "final")).toBeNull();
    await world.makeFinal();
    expect(await world.here.getLock(facts, "final")).not.toBeNull();
    expect(await world.here.getFinalNumber()).toBe((await world.here.getHead()).number - 2n);
  });

  test("an account is listed in its role from its listing on", async () => {
    const { facts } = await world.lockDeposit();
    const lock = await world.here.getLock(facts, "latest");
    assert(lock, "the deposit is locked");
    const wasListed = (role: "relayer" | "attestor", account: Address, time: bigint) =>
      world.here.wasListed({ role, account, time }, "latest");
    const attestor = world.attestor.address;
    const relayer = world.lane.address;
    expect(await wasListed("attestor", attestor, lock.lockedAt)).toBe(true);
    expect(await wasListed("relayer", relayer, lock.lockedAt)).toBe(true);
    expect(await wasListed("relayer", attestor, lock.lockedAt)).toBe(false);
    expect(await wasListed("attestor", relayer, lock.lockedAt)).toBe(false);
    expect(await wasListed("attestor", attestor, 1n)).toBe(false);
    expect(await world.here.getThresholdAt(lock.lockedAt, "latest")).toBe(1);
    expect(await world.here.getThresholdAt(1n, "latest")).toBe(0);
  });

  test("an unknown lock is absent, and was not delivered", async () => {
    const lock = unknownLock();
    expect(await world.here.getLock(lock, "latest")).toBeNull();
    const paid = world.paidLockOf(world.here.deliveryIdOf(lock), 7n);
    expect(await world.there.findDelivery(paid)).toBeNull();
  });

  test("the payout window is the contract's", async () => {
    expect(await world.there.getPayoutWindow("latest")).toBe(43_200n);
  });
});

describe("state at one block", () => {
  /** All state that the port reads, before and after a deposit was locked. */
  const readAll = async (
    at: ReadPoint,
    { wallet, lock, paid }: { wallet: Address; lock: LockFacts; paid: PaidLock },
  ) => ({
    tokens: await world.here.getBalance(world.usdc, world.here.addresses.escrow, at),
    found: await world.here.findBalance(world.usdc, world.here.addresses.escrow, at),
    coins: await world.here.getBalance(NATIVE_TOKEN, world.lane.address, at),
    isDeployed: await world.here.wallets.hasCode(wallet, at),
    count: await world.here.sequencing.getTransactionCount(world.lane.address, at),
    lock: await world.here.getLock(lock, at),
    isDelivered: await world.here.isDelivered(paid, at),
    window: await world.here.getPayoutWindow(at),
    capLeft: await world.here.getDailyCapLeft(world.usdc, at),
    delivery: await world.here.findDelivery(paid, at),
    time: await world.here.getTime(at),
  });

  test("is that of the named block, whatever later blocks changed [T47]", async () => {
    const commitment = world.commitmentTo(THERE);
    const wallet = world.here.predictWallet(commitment);
    await world.mint(world.usdc, wallet, 25n * USDC);
    const block = await world.here.getHead();
    const receipt = await world.execute(world.here, world.settleCall(commitment));
    const lock = lockedIn(receipt);
    const places = {
      wallet,
      lock,
      paid: world.paidLockOf(world.here.deliveryIdOf(lock), lock.seq),
    };
    const before = await readAll(block, places);
    expect(before).toMatchObject({ isDeployed: false, lock: null });
    const after = await readAll("latest", places);
    expect(after).toMatchObject({ isDeployed: true, count: before.count + 1 });
    expect(after.lock).not.toBeNull();
    expect(await readAll(await world.here.getHead(), places)).toEqual(after);
    expect(await readAll(block, places)).toEqual(before);
  });

  test("is unknown when the node lacks the block or has another at its height [T47]", async () => {
    const { number } = await world.here.getHead();
    const stranger = { number, hash: toHex32(`0x${"99".repeat(32)}`) };
    const wallet = RECIPIENT;
    const unavailable = { code: "RPC_UNAVAILABLE" };
    for (const read of [
      () => world.here.getBalance(world.usdc, wallet, stranger),
      () => world.here.getBalance(NATIVE_TOKEN, wallet, stranger),
      () => world.here.findBalance(world.usdc, wallet, stranger),
      () => world.here.wallets.hasCode(wallet, stranger),
      () => world.here.sequencing.getTransactionCount(wallet, stranger),
      () => world.here.getTime(stranger),
    ]) {
      await expect(read()).rejects.toMatchObject(unavailable);
    }
  });
});

describe("price feeds", () => {
  /** Returns runtime code that answers `decimals()` with 8 and every other call with a round of this answer and time. */
  function feedCode(answer: bigint, updatedAt: bigint): `0x${string}` {
    const word = BigInt.asUintN(256, answer).toString(16).padStart(64, "0");
    const seconds = updatedAt.toString(16).padStart(8, "0");
    return `0x60003560e01c63313ce567146040577f${word}60205263${seconds}60605260a06000f35b600860005260206000f3`;
  }
  const FEED = toEvmAddress(`0x${"fe".repeat(20)}`);
  const setCode = (code: `0x${string}`) =>
    // CAST: a method of the node that viem's types lack.
    world.client.request({ method: "anvil_setCode", params: [FEED, code] } as never);

  test("give US dollars per whole token times 1e18, with the time", async () => {
    await setCode(feedCode(312_345_678_901n, 1_750_000_000n));
    expect(await world.here.priceFeeds.readPriceFeed(FEED)).toEqual({
      usd: 3_123_456_789_010_000_000_000n,
      publishedAtMs: 1_750_000_000_000,
    });
  });

  test("pass negative prices on unchanged, for the price check to refuse [T56]", async () => {
    await setCode(feedCode(-5n, 1n));
    expect((await world.here.priceFeeds.readPriceFeed(FEED)).usd).toBe(-50_000_000_000n);
  });

  test("fail to read when the feed does not exist", async () => {
    await setCode("0x");
    await expect(world.here.priceFeeds.readPriceFeed(FEED)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });
});
