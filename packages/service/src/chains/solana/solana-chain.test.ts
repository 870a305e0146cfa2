/** The chain port over the sandbox's Solana chain: every order, from its call to its final effects. */
import {
  listNativeTransfers,
  listOutflows,
  listTransfers,
} from "../../../test/support/read-block.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startTamperingProxy } from "../../../test/support/tampering-proxy.ts";
import { commitmentOf, rentOf } from "../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../test/support/solana-world.ts";
import type { Commitment } from "../../core/commitment.ts";
import {
  type Address,
  type Hex32,
  NATIVE_SOL,
  toAddress,
  toHex32,
  toTxHash,
  unpadAddress,
} from "../../core/hex.ts";
import type { BlockRef, Call, PaidLock, Receipt } from "../port/index.ts";
import { toBase58 } from "./base58.ts";
import { lockAddressOf, markerAddressOf } from "./derived-accounts.ts";
import { parseOrders } from "./order-codec.ts";
import type { MintFacts } from "./order-facts.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const SIGNATURE = `0x${"ab".repeat(65)}` as const;
const UNAVAILABLE = { code: "RPC_UNAVAILABLE" };
const DEADLINE = 2_000_000_000n;
const DELIVERY = toHex32(`0x${"de".repeat(32)}`);
let number = 0;
let world: SolanaWorld;

beforeAll(async () => {
  world = await startSolanaWorld();
});
afterAll(() => world.close());

/** Returns a new commitment, unique in this file. */
function newCommitment(fields: Partial<Commitment> = {}): Commitment {
  number += 1;
  return commitmentOf(number, fields);
}

async function deposit(token: Address, amount: bigint, fields: Partial<Commitment> = {}) {
  const commitment = newCommitment(fields);
  const wallet = await world.issue(commitment);
  await world.give(token, wallet, amount);
  await world.finalize();
  return { commitment, wallet };
}

const LOCKED_AT = 1_750_000_000n;

const paidLockOf = (deliveryId: Hex32): PaidLock => ({
  deliveryId,
  srcChain: 30,
  escrow: toAddress(`0x${"e5".repeat(20)}`),
  seq: 1n,
});

async function lock(token: Address, amount: bigint, seq = 7n) {
  const { commitment, wallet } = await deposit(token, amount, { destChain: 30 });
  const { here } = world;
  const held = await here.readHolding(token, wallet);
  const terms = { minOut: 5n, seq, lockedAt: LOCKED_AT, delivery: DELIVERY };
  const routeData = here.encodeLockData({ price: null, ...terms });
  const route = here.addresses.escrow;
  const call = here.buildSettle({ commitment, token, route, routeData, ...held });
  const receipt = await world.execute(call);
  const facts = { commitment: here.hashCommitment(commitment), token, amount, ...terms };
  const deliveryId = here.deliveryIdOf(facts);
  return { commitment, wallet, call, receipt, deliveryId, held, facts };
}

const blockOf = async ({ blockNumber }: Receipt): Promise<BlockRef> => {
  const block = await world.here.getBlock(blockNumber);
  if (!block) throw new Error("no block");
  return block;
};
/** Allows for the priority fee: one lamport per thousand units, at most 400,000 units. */
const expectCost = ({ gasCost }: Receipt, least: bigint) => {
  expect(gasCost).toBeGreaterThan(least);
  expect(gasCost).toBeLessThanOrEqual(least + 400n);
};
const outflowsOf = async (receipt: Receipt) => listOutflows(world.here, await blockOf(receipt));

describe.each([
  ["a token", () => world.usdc, 25n * USDC],
  ["SOL", () => NATIVE_SOL, 3n * SOL],
])("%s", (_, tokenOf, amount) => {
  test("is locked, and the lock can be read from the chain", async () => {
    const token = tokenOf();
    const { wallet, call, receipt, deliveryId, held, facts } = await lock(token, amount);
    const { here } = world;
    expect(receipt).toMatchObject({ succeeded: true });
    const { escrow } = here.addresses;
    expect(receipt.effects).toEqual([
      {
        kind: "settled",
        wallet,
        token,
        route: escrow,
        amount,
        logIndex: 0,
        upTo: held.asOf,
      },
      { kind: "locked", escrow, deliveryId, wallet, ...facts },
    ]);
    expect(here.tookEffect(receipt, call)).toBe(true);
    expectCost(receipt, 15_000n + rentOf(165));
    const expected = { ...facts, state: "locked", held: amount };
    expect(await here.getLock(facts, "final")).toEqual(expected);
    for (const other of [{ amount: 1n }, { minOut: 1n }, { seq: 9n }]) {
      expect(await here.getLock({ ...facts, ...other }, "final")).toBeNull();
    }
    const txHash = receipt.txHash;
    expect(await outflowsOf(receipt)).toEqual([
      { kind: "swept", wallet, token, amount, txHash, logIndex: 0 },
    ]);
    expect(await here.getBalance(token, wallet)).toBe(0n);
  });

  test("is claimed, and the rent is returned", async () => {
    const token = tokenOf();
    const { here, deployment } = world;
    const { treasury } = deployment.facts;
    const { commitment, deliveryId, facts } = await lock(token, amount);
    // The first claim would open the treasury's account.
    await world.give(token, treasury, 1n);
    await world.finalize();
    const before = await here.getBalance(token, treasury);
    const open = { commitment, facts };
    const claim = { deliveryId, paidAmount: 5n, deadline: DEADLINE };
    const call = here.buildClaim(claim, SIGNATURE, open);
    const receipt = await world.execute(call);
    expect(receipt.effects).toEqual([{ kind: "claimed", deliveryId, amount }]);
    expect(here.tookEffect(receipt, call)).toBe(true);
    expectCost(receipt, 10_000n - rentOf(165));
    expect(await here.getLock(facts, "final")).toMatchObject({ state: "claimed", amount });
    expect((await here.getBalance(token, treasury)) - before).toBe(amount);
    expect(await outflowsOf(receipt)).toEqual([]);
    // It can be neither claimed again nor returned.
    for (const other of [call, here.buildReturn(claim, SIGNATURE, open)]) {
      expect(await here.simulate(deployment.facts.feePayer, other)).toMatchObject({ ok: false });
    }
  });

  test("is returned, which is not a new deposit", async () => {
    const token = tokenOf();
    const { here } = world;
    const { commitment, wallet, deliveryId, facts } = await lock(token, amount);
    const call = here.buildReturn({ deliveryId, deadline: DEADLINE }, SIGNATURE, {
      commitment,
      facts,
    });
    const receipt = await world.execute(call);
    expect(here.tookEffect(receipt, call)).toBe(true);
    const { txHash } = receipt;
    expect(await outflowsOf(receipt)).toEqual([
      { kind: "returned", wallet, token, amount: -amount, txHash, logIndex: 0 },
    ]);
    const block = await blockOf(receipt);
    const arrived =
      token === NATIVE_SOL
        ? await listNativeTransfers(here, block, async () => new Set([wallet]))
        : await listTransfers(here, block, [token]);
    expect(arrived).toEqual([expect.objectContaining({ to: wallet, amount, txHash })]);
    expect(await here.getLock(facts, "final")).toMatchObject({ state: "returned", amount });
    expect(await here.getBalance(token, wallet)).toBe(amount);
  });

  test("is delivered only once and found by its id", async () => {
    const token = tokenOf();
    const { here } = world;
    const commitment = newCommitment({ destToken: toHex32(token) });
    const order = {
      commitment,
      srcChain: 30,
      escrow: toAddress(`0x${"e5".repeat(20)}`),
      srcToken: toAddress(`0x${"70".repeat(20)}`),
      lockedAmount: amount,
      minOut: 1n,
      seq: 1n,
      windowStart: LOCKED_AT,
      amount,
    };
    const deliveryId = here.deliveryIdOfPayout(order);
    const paid = paidLockOf(deliveryId);
    expect(await here.findDelivery(paid)).toBeNull();
    // Lamports at its marker do not prove a delivery.
    const marker = markerAddressOf(here.addresses.delivery, deliveryId);
    await world.give(NATIVE_SOL, marker, SOL);
    await world.finalize();
    expect(await here.isDelivered(paid, "final")).toBe(false);
    const call = here.buildDeliver(order, SIGNATURE);
    const receipt = await world.execute(call);
    const to = unpadAddress(commitment.destWallet, "svm");
    const facts = { deliveryId, commitment: here.hashCommitment(commitment), to, token, amount };
    expect(receipt.effects).toEqual([{ kind: "delivered", ...facts }]);
    expect(here.tookEffect(receipt, call)).toBe(true);
    const rent = rentOf(1) + (token === NATIVE_SOL ? 0n : rentOf(165));
    expectCost(receipt, 10_000n + rent);
    expect(await here.isDelivered(paid, "final")).toBe(true);
    expect(await here.findDelivery(paid)).toEqual({
      ...facts,
      txHash: receipt.txHash,
      blockNumber: receipt.blockNumber,
    });
    expect(await here.getBalance(token, to)).toBe(amount);
    expect(await here.simulate(world.deployment.facts.feePayer, call)).toEqual({
      ok: false,
      reason: "AlreadyInUse",
    });
  });

  test("is transferred less the route fee", async () => {
    const token = tokenOf();
    const { here } = world;
    const { commitment, wallet } = await deposit(token, amount);
    const held = await here.readHolding(token, wallet);
    const routeData = here.encodeTransferData({ bps: 100, flat: 3n });
    const route = here.addresses.walletRoot;
    const call = here.buildSettle({ commitment, token, route, routeData, ...held });
    const receipt = await world.execute(call);
    const fee = amount / 100n + 3n;
    const to = unpadAddress(commitment.destWallet, "svm");
    expect(receipt.effects).toEqual([
      { kind: "settled", wallet, token, route, amount, logIndex: 0, upTo: held.asOf },
      { kind: "transferred", wallet, token, to, amount: amount - fee, fee },
    ]);
    expect(here.tookEffect(receipt, call)).toBe(true);
    expect(await here.getBalance(token, to)).toBe(amount - fee);
    expect(await outflowsOf(receipt)).toMatchObject([{ kind: "swept", wallet, token, amount }]);
  });

  test("is refunded, and the refund is found", async () => {
    const token = tokenOf();
    const { here } = world;
    const { commitment, wallet } = await deposit(token, amount);
    const fromBlock = await here.getFinalNumber();
    expect(await here.findRefund({ wallet, token, fromBlock })).toBeNull();
    const call = here.wallets.buildRefund(commitment, token, {
      ...(await here.readHolding(token, wallet)),
      reason: null,
    });
    const receipt = await world.execute(call);
    const to = unpadAddress(commitment.refundAuthority, "svm");
    expect(receipt.effects).toEqual([
      { kind: "refunded", wallet, token, to, amount, reason: null },
    ]);
    expect(here.tookEffect(receipt, call)).toBe(true);
    expect(await outflowsOf(receipt)).toMatchObject([{ kind: "refunded", wallet, token, amount }]);
    const { txHash, blockNumber } = receipt;
    const found = { to, amount, txHash, blockNumber, logIndex: 0 };
    expect(await here.findRefund({ wallet, token, fromBlock })).toEqual(found);
    expect(await here.findRefund({ wallet, token, fromBlock: blockNumber + 1n })).toBeNull();
  });
});

describe("a lock", () => {
  test("with an addition by a third party is claimed with its whole balance", async () => {
    const { here, deployment, usdc } = world;
    const { escrow, treasury } = deployment.facts;
    const { commitment, deliveryId, facts } = await lock(usdc, 25n * USDC);
    await addTo(lockAddressOf(escrow, deliveryId, "token"), 1n);
    const found = await here.getLock(facts, "final");
    expect(found).toMatchObject({ amount: 25n * USDC, held: 25n * USDC + 1n });
    const before = await here.getBalance(usdc, treasury);
    const receipt = await world.execute(
      here.buildClaim({ deliveryId, paidAmount: 5n, deadline: DEADLINE }, SIGNATURE, {
        commitment,
        facts,
        held: found?.held,
      }),
    );
    expect(receipt.effects).toEqual([{ kind: "claimed", deliveryId, amount: 25n * USDC }]);
    expect((await here.getBalance(usdc, treasury)) - before).toBe(25n * USDC + 1n);
  });

  test("with an addition before each claim is claimed with its account", async () => {
    const { here, deployment, usdc: token } = world;
    const { escrow, treasury } = deployment.facts;
    const { commitment, deliveryId, facts } = await lock(token, 25n * USDC);
    const before = await here.getBalance(token, treasury);
    const open = { commitment, facts, held: 25n * USDC };
    const account = lockAddressOf(escrow, deliveryId, "token");
    /** Adds one unit after the call is signed and before it is mined. */
    const sendAfterUnit = async (call: Call) => {
      const { raw } = await world.sign(call);
      await addTo(account, 1n);
      await here.send(raw);
      await world.finalize();
      return here.getReceipt(world.txHashOf(raw));
    };
    const claim = { deliveryId, paidAmount: 5n, deadline: DEADLINE };
    const failed = await sendAfterUnit(here.buildClaim(claim, SIGNATURE, open));
    expect(failed).toMatchObject({ succeeded: false });
    expect(
      await here.simulate(deployment.facts.feePayer, here.buildClaim(claim, SIGNATURE, open)),
    ).toEqual({ ok: false, reason: "NonNativeHasBalance" });

    const call = here.buildClaim(claim, SIGNATURE, { ...open, whole: true });
    const receipt = await sendAfterUnit(call);
    expect(receipt?.effects).toEqual([{ kind: "claimed", deliveryId, amount: 25n * USDC }]);
    expect((await here.getBalance(token, treasury)) - before).toBe(25n * USDC + 2n);
    const claimed = await here.getLock(facts, "final");
    expect(claimed).toMatchObject({ state: "claimed", amount: 25n * USDC });
    expect(claimed).not.toHaveProperty("held");
    // Later additions belong to the treasury, and the lock stays ended.
    await addTo(account, 1n);
    expect(await here.getLock(facts, "final")).toEqual(claimed);
    for (const other of [call, here.buildReturn(claim, SIGNATURE, { ...open, whole: true })]) {
      expect(await here.simulate(deployment.facts.feePayer, other)).toMatchObject({ ok: false });
    }
  });

  test("that is returned with its account settles again from there", async () => {
    const { here, usdc } = world;
    const { commitment, wallet, deliveryId, facts } = await lock(usdc, 25n * USDC);
    const account = lockAddressOf(world.deployment.facts.escrow, deliveryId, "token");
    await addTo(account, 1n);
    const order = { deliveryId, deadline: DEADLINE };
    const open = { commitment, facts, held: 25n * USDC };
    const call = here.buildReturn(order, SIGNATURE, { ...open, whole: true });
    const receipt = await world.execute(call);
    expect(await here.getLock(facts, "final")).toMatchObject({ state: "returned" });
    // The added unit counts as a deposit.
    expect(await outflowsOf(receipt)).toMatchObject([
      { kind: "returned", wallet, token: usdc, amount: -25n * USDC },
    ]);
    const held = await here.readHolding(usdc, wallet);
    expect(held).toMatchObject({ amount: 25n * USDC + 1n, sources: [{ account }] });
    const terms = { minOut: 5n, seq: 9n, lockedAt: LOCKED_AT, delivery: DELIVERY };
    const routeData = here.encodeLockData({ price: null, ...terms });
    const route = here.addresses.escrow;
    const again = here.buildSettle({ commitment, token: usdc, route, routeData, ...held });
    expect(await world.execute(again)).toMatchObject({ succeeded: true });
    expect(await here.getBalance(usdc, wallet)).toBe(0n);
  });

  test("and its delivery are found by a hint, however long their histories are", async () => {
    const { here, usdc, sandbox } = world;
    const proxy = await startTamperingProxy(sandbox.url, ({ method }, said) =>
      method === "getSignaturesForAddress" ? { error: { code: -32000, message: "long" } } : said,
    );
    onTestFinished(() => proxy.close());
    const blind = world.connect([proxy.url]);
    const { commitment, deliveryId, facts, receipt } = await lock(usdc, 25n * USDC);
    const other = await lock(usdc, 5n * USDC, 8n);
    const hints = [toTxHash(`0x${"ab".repeat(32)}`), other.receipt.txHash, receipt.txHash];
    const truth = await here.getLock(facts, "final");
    expect(truth).toMatchObject({ state: "locked" });
    expect(await blind.getLock(facts, "final", hints)).toEqual(truth);
    // A hinted transaction proves only its own contents.
    for (const useless of [[], hints.slice(0, 2)]) {
      await expect(blind.getLock(facts, "final", useless)).rejects.toMatchObject(UNAVAILABLE);
      expect(await here.getLock(facts, "final", useless)).toEqual(truth);
    }

    const claim = { deliveryId, paidAmount: 5n, deadline: DEADLINE };
    const open = { commitment, facts };
    const { txHash } = await world.execute(here.buildClaim(claim, SIGNATURE, open));
    // The lock is closed, and the hint does not show how.
    await expect(blind.getLock(facts, "final", hints)).rejects.toMatchObject(UNAVAILABLE);
    const claimed = await blind.getLock(facts, "final", [txHash, ...hints]);
    expect(claimed).toEqual({ ...truth, state: "claimed", held: undefined });

    const order = {
      commitment: newCommitment(),
      srcChain: 2,
      escrow: toAddress(`0x${"e5".repeat(20)}`),
      srcToken: toAddress(`0x${"a0".repeat(20)}`),
      lockedAmount: 7n * USDC,
      minOut: 1n,
      seq: 3n,
      windowStart: LOCKED_AT,
      amount: 7n * USDC,
    };
    const id = paidLockOf(here.deliveryIdOfPayout(order));
    const paid = await world.execute(here.buildDeliver(order, SIGNATURE));
    const found = await here.findDelivery(id);
    expect(found).toMatchObject({ txHash: paid.txHash, amount: 7n * USDC });
    expect(await blind.findDelivery(id, "latest", [txHash, paid.txHash])).toEqual(found);
    await expect(blind.findDelivery(id, "latest", [txHash])).rejects.toMatchObject(UNAVAILABLE);
    // An undelivered id needs no history.
    expect(await blind.findDelivery(paidLockOf(toHex32(`0x${"02".repeat(32)}`)))).toBeNull();
  });

  test("that was never opened is null", async () => {
    const commitment = toHex32(`0x${"01".repeat(32)}`);
    const numbers = { amount: 1n, minOut: 1n, seq: 0n };
    const unknown = { commitment, delivery: DELIVERY, token: world.usdc, ...numbers };
    expect(await world.here.getLock(unknown, "final")).toBeNull();
  });

  /** Sends tokens from a vault to a token account. */
  async function addTo(account: Address, amount: bigint): Promise<void> {
    const commitment = newCommitment();
    const vault = await world.issue(commitment);
    await world.give(world.usdc, vault, amount);
    await world.finalize();
    await world.transferTokens({ from: vault, to: account, amount });
  }
});

describe("the balance of a wallet", () => {
  test("counts all token accounts, and an order names the associated one and one more [T27]", async () => {
    const { here, usdc } = world;
    const { commitment, wallet } = await deposit(usdc, 10n);
    const others = [await world.openOther(wallet, 5n), await world.openOther(wallet, 7n)];
    await world.finalize();
    expect(await here.getBalance(usdc, wallet)).toBe(22n);
    const held = await here.readHolding(usdc, wallet);
    expect(held.amount).toBe(17n);
    expect(held.sources?.[1]).toEqual({ account: others[1], amount: 7n });
    const route = here.addresses.walletRoot;
    const routeData = here.encodeTransferData({ bps: 0, flat: 1n });
    const call = here.buildSettle({ commitment, token: usdc, route, routeData, ...held });
    const receipt = await world.execute(call);
    expect(receipt.effects).toMatchObject([
      { kind: "settled", amount: 17n },
      { kind: "transferred", amount: 16n, fee: 1n },
    ]);
    expect(await here.getBalance(usdc, wallet)).toBe(5n);
  });
});

describe("a binding", () => {
  test("is valid only with the binding key's signature", async () => {
    const { here } = world;
    const commitment = newCommitment();
    const wallet = await world.issue(commitment);
    const proof = world.bind(commitment, wallet);
    expect(here.isWalletOf({ commitment, wallet, proof })).toBe(true);
    expect(here.isWalletOf({ commitment, wallet, proof: null })).toBe(false);
    expect(here.isWalletOf({ commitment, wallet, proof: "0x" })).toBe(false);
    expect(here.isWalletOf({ commitment: newCommitment(), wallet, proof })).toBe(false);
    const other = await world.issue(newCommitment());
    expect(here.isWalletOf({ commitment, wallet: other, proof })).toBe(false);
    const tampered = `0x${proof.slice(2, -2)}${proof.endsWith("00") ? "01" : "00"}` as const;
    expect(here.isWalletOf({ commitment, wallet, proof: tampered })).toBe(false);
  });
});

describe("a transaction", () => {
  test("is known once mined; after its lifetime it is expired and never mined", async () => {
    const { here, usdc, sandbox } = world;
    const { commitment, wallet } = await deposit(usdc, 10n);
    const call = here.wallets.buildRefund(commitment, usdc, {
      ...(await here.readHolding(usdc, wallet)),
      reason: null,
    });
    await sandbox.dropNextSends(1);
    const lifetime = await here.sequencing.getLifetime();
    const { raw, lastValidHeight } = await world.sign(call);
    expect(lastValidHeight).toBe(lifetime.lastValidHeight);
    expect(await here.send(raw)).toBe("accepted");
    await world.finalize();
    expect(await here.getReceipt(world.txHashOf(raw))).toBeNull();
    expect(await here.sequencing.isExpired(lifetime)).toBe(false);
    await sandbox.tick(150);
    expect(await here.sequencing.isExpired(lifetime)).toBe(true);
    await here.send(raw);
    await world.finalize();
    expect(await here.getReceipt(world.txHashOf(raw))).toBeNull();
    expect(await here.getBalance(usdc, wallet)).toBe(10n);
    const again = await world.sign(call);
    expect(await here.send(again.raw)).toBe("accepted");
    await world.finalize();
    const receipt = await here.getReceipt(world.txHashOf(again.raw));
    expect(receipt?.succeeded).toBe(true);
  });

  test("has a receipt once confirmed, and none after its block is dropped [T41]", async () => {
    const { here, usdc, sandbox } = world;
    const { commitment, wallet } = await deposit(usdc, 10n);
    const call = here.wallets.buildRefund(commitment, usdc, {
      ...(await here.readHolding(usdc, wallet)),
      reason: null,
    });
    const { raw } = await world.sign(call);
    await here.send(raw);
    await sandbox.tick(3);
    const receipt = await here.getReceipt(world.txHashOf(raw));
    expect(receipt?.succeeded).toBe(true);
    expect((await here.getHead()).number).toBeLessThan(receipt?.blockNumber ?? 0n);
    await sandbox.fork({ blocks: 3 });
    await sandbox.tick(3);
    expect(await here.getReceipt(world.txHashOf(raw))).toBeNull();
  });

  test("that fails is mined, pays its fee and has no effect [T34]", async () => {
    const { here, usdc } = world;
    const { commitment, wallet } = await deposit(usdc, 10n);
    const call = here.wallets.buildRefund(commitment, usdc, { amount: 11n, reason: null });
    const fromBlock = await here.getFinalNumber();
    const { raw } = await world.sign(call);
    await here.send(raw);
    await world.finalize();
    const receipt = await here.getReceipt(world.txHashOf(raw));
    expect(receipt).toMatchObject({ succeeded: false, effects: [] });
    expect(await here.findRefund({ wallet, token: usdc, fromBlock })).toBeNull();
    expect(receipt?.gasCost).toBe(10_400n);
    expect(receipt && here.tookEffect(receipt, call)).toBe(false);
    expect(receipt && (await outflowsOf(receipt))).toEqual([]);
    expect(await here.getBalance(usdc, wallet)).toBe(10n);
  });

  test("is simulated with its units or the reason of its failure", async () => {
    const { here, usdc, deployment } = world;
    const { commitment } = await deposit(usdc, 10n);
    const simulate = (amount: bigint) =>
      here.simulate(
        deployment.facts.feePayer,
        here.wallets.buildRefund(commitment, usdc, { amount, reason: null }),
      );
    const good = await simulate(10n);
    expect(good).toEqual({ ok: true, gas: expect.any(BigInt) });
    expect(await simulate(11n)).toEqual({ ok: false, reason: "InsufficientFunds" });
  });

  test("waits in simulation for dust newer than the swept balance to be final", async () => {
    const { here, deployment, sandbox } = world;
    const { commitment, wallet } = await deposit(NATIVE_SOL, SOL);
    const held = await here.readHolding(NATIVE_SOL, wallet);
    await world.give(NATIVE_SOL, wallet, 1n);
    await sandbox.tick(3);
    const simulate = (swept: typeof held) =>
      here.simulate(
        deployment.facts.feePayer,
        here.wallets.buildRefund(commitment, NATIVE_SOL, { ...swept, reason: null }),
      );
    await expect(simulate(held)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason: "more arrived than is final" },
    });
    await world.finalize();
    const later = await here.readHolding(NATIVE_SOL, wallet);
    expect(later.amount).toBe(SOL + 1n);
    expect(await simulate(later)).toMatchObject({ ok: true });
  });

  test("pays a wallet no less than the rent-exempt minimum, which the cluster decides", async () => {
    const { here, deployment, sandbox, usdc } = world;
    const pay = (commitment: Commitment, amount: bigint) =>
      here.buildDeliver(
        {
          commitment,
          srcChain: 2,
          escrow: toAddress(`0x${"e5".repeat(20)}`),
          srcToken: toAddress(`0x${"a0".repeat(20)}`),
          lockedAmount: amount,
          minOut: 1n,
          seq: 3n,
          windowStart: LOCKED_AT,
          amount,
        },
        SIGNATURE,
      );
    const commitment = newCommitment({ destToken: toHex32(NATIVE_SOL) });
    const to = unpadAddress(commitment.destWallet, "svm");
    const least = await here.getLeastPayment(NATIVE_SOL, to);
    expect(least).toBe(rentOf(0));
    expect(await here.getLeastPayment(usdc, to)).toBe(1n);
    const { feePayer } = deployment.facts;
    expect(await here.simulate(feePayer, pay(commitment, least - 1n))).toMatchObject({ ok: false });
    await world.execute(pay(commitment, least));
    expect(await here.getLeastPayment(NATIVE_SOL, to)).toBe(1n);
    // A wallet with SOL can receive any amount.
    const again = newCommitment({
      destToken: toHex32(NATIVE_SOL),
      destWallet: commitment.destWallet,
    });
    await world.execute(pay(again, 1n));
    expect(await here.getBalance(NATIVE_SOL, to)).toBe(least + 1n);

    const proxy = await startTamperingProxy(sandbox.url, ({ method }, said) =>
      method === "getMinimumBalanceForRentExemption" ? { result: 89_088 } : said,
    );
    onTestFinished(() => proxy.close());
    const stranger = unpadAddress(newCommitment().destWallet, "svm");
    expect(await world.connect([proxy.url]).getLeastPayment(NATIVE_SOL, stranger)).toBe(89_088n);
  });

  test("fails with metMore in its receipt when dust lands before the sweep", async () => {
    const { here, sandbox } = world;
    const { commitment, wallet } = await deposit(NATIVE_SOL, SOL);
    const held = await here.readHolding(NATIVE_SOL, wallet);
    const send = async (amount: bigint) => {
      const call = here.wallets.buildRefund(commitment, NATIVE_SOL, {
        ...held,
        amount,
        reason: null,
      });
      const { raw } = await world.sign(call);
      await world.give(NATIVE_SOL, wallet, 1n);
      await sandbox.tick(1);
      await here.send(raw);
      await world.finalize();
      return here.getReceipt(world.txHashOf(raw));
    };
    const failed = await send(held.amount);
    expect(failed).toMatchObject({ succeeded: false, metMore: true, effects: [] });
    expect(failed?.gasCost).toBeGreaterThan(0n);
    // An order that leaves the rent-exempt minimum cannot fail because of dust.
    const { spare = 0n } = held;
    expect(spare).toBe(rentOf(0));
    const done = await send(held.amount - spare);
    expect(done).toMatchObject({ succeeded: true });
    expect(done).not.toHaveProperty("metMore");
    expect(await here.getBalance(NATIVE_SOL, wallet)).toBe(spare + 2n);
  });

  test("fails without metMore in its receipt for any other reason", async () => {
    const { here } = world;
    const { commitment, wallet } = await deposit(NATIVE_SOL, SOL);
    const held = await here.readHolding(NATIVE_SOL, wallet);
    const call = here.wallets.buildRefund(commitment, NATIVE_SOL, {
      ...held,
      amount: held.amount + 1n,
      reason: null,
    });
    const { raw } = await world.sign(call);
    await here.send(raw);
    await world.finalize();
    const receipt = await here.getReceipt(world.txHashOf(raw));
    expect(receipt).toMatchObject({ succeeded: false });
    expect(receipt).not.toHaveProperty("metMore");
  });

  test("lacks gas when its sender has no SOL, or not enough for rent", async () => {
    const { here, usdc } = world;
    const { commitment } = await deposit(usdc, 10n);
    const call = here.wallets.buildRefund(commitment, usdc, { amount: 10n, reason: null });
    const poor = await world.issue(newCommitment());
    const lacking = { code: "INSUFFICIENT_BALANCE", details: { reason: "gas" } };
    await expect(here.simulate(poor, call)).rejects.toMatchObject(lacking);
    await world.give(NATIVE_SOL, poor, rentOf(0) + 20_000n);
    await world.finalize();
    await expect(here.simulate(poor, call)).rejects.toMatchObject(lacking);
  });

  test("costs three signatures and its units", () => {
    expect(world.here.costOf(0n, 5n)).toBe(15_000n);
    expect(world.here.costOf(400_000n, 1_000n)).toBe(15_400n);
    expect(world.here.costOf(1n, 1n)).toBe(15_001n);
  });

  test("has fees between the configured minimum and maximum", async () => {
    const fees = await world.here.suggestFees();
    expect(fees).toEqual({ gasPriceMax: 1_000n, tipMax: 1_000n });
  });
});

describe("mints", () => {
  const facts: MintFacts = { program: "token-2022", decimals: 6, hasTransferFee: false };

  test.each([
    ["the other program", "T26", { decimals: 6, program: "token" }, "token program differs"],
    [
      "a fee",
      "T28",
      { decimals: 6, transferFee: { basisPoints: 1, maximum: 5n } },
      "transfer fee differs",
    ],
    [
      "a transfer hook",
      "T29",
      { decimals: 6, transferHook: toBase58(toAddress(`0x${"4f".repeat(32)}`)) },
      "extension TransferHook",
    ],
    [
      "a permanent delegate",
      "T30",
      { decimals: 6, permanentDelegate: toBase58(toAddress(`0x${"4e".repeat(32)}`)) },
      "extension PermanentDelegate",
    ],
    [
      "a pausable configuration",
      "T31",
      { decimals: 6, pausable: true },
      "extension PausableConfig",
    ],
    [
      "accounts frozen by default",
      "T31",
      { decimals: 6, frozenByDefault: true },
      "extension DefaultAccountState",
    ],
    [
      "non-transferable tokens",
      "T32",
      { decimals: 6, nonTransferable: true },
      "extension NonTransferable",
    ],
    ["other decimals", "T33", { decimals: 7, program: "token-2022" }, "decimals differ"],
  ] as const)(
    "with %s, unlike the configuration, are not settled, but refunds are left to the chain [%s]",
    async (_, __, request, reason) => {
      const { here, deployment } = world;
      const token = await world.createMint(facts, request);
      const commitment = newCommitment();
      await world.issue(commitment);
      const route = here.addresses.walletRoot;
      const routeData = here.encodeTransferData({ bps: 0, flat: 0n });
      const settle = { commitment, token, route, routeData, amount: 10n, asOf: 1n };
      const call = here.buildSettle(settle);
      await expect(here.simulate(deployment.facts.feePayer, call)).rejects.toMatchObject({
        code: "UNSUPPORTED_ROUTE",
        details: { mint: toBase58(token), reason },
      });
      const refund = here.wallets.buildRefund(commitment, token, { amount: 10n, reason: null });
      expect(await here.simulate(deployment.facts.feePayer, refund)).toMatchObject({ ok: false });
    },
  );

  test("that are recreated with other decimals are no longer settled [T33]", async () => {
    const { here, deployment, sandbox } = world;
    const token = await world.createMint(facts);
    const { commitment, wallet } = await deposit(token, 10n);
    const held = await here.readHolding(token, wallet);
    const route = here.addresses.walletRoot;
    const routeData = here.encodeTransferData({ bps: 0, flat: 0n });
    const call = here.buildSettle({ commitment, token, route, routeData, ...held });
    expect(await here.simulate(deployment.facts.feePayer, call)).toMatchObject({ ok: true });
    const { bank } = sandbox.chain;
    const mint = bank.read(toBase58(token));
    if (!mint) throw new Error("no mint");
    // The decimals follow the authority and the supply.
    const data = Uint8Array.from(mint.data);
    data[44] = 9;
    sandbox.chain.write(toBase58(token), { ...mint, data });
    await world.finalize();
    await expect(here.simulate(deployment.facts.feePayer, call)).rejects.toMatchObject({
      code: "UNSUPPORTED_ROUTE",
      details: { mint: toBase58(token), reason: "decimals differ" },
    });
  });

  test("with a transfer fee are settled for the amount that arrives [T28]", async () => {
    const { here } = world;
    const withFee = { ...facts, hasTransferFee: true };
    const transferFee = { basisPoints: 100, maximum: 10_000_000n };
    const token = await world.createMint(withFee, { decimals: 6, transferFee });
    const { receipt, deliveryId, commitment, facts: locked } = await lock(token, 100_000n);
    expect(receipt.effects).toMatchObject([
      { kind: "settled", amount: 100_000n },
      { kind: "locked", amount: 99_000n },
    ]);
    const open = { commitment, facts: { ...locked, amount: 99_000n } };
    const claim = { deliveryId, paidAmount: 5n, deadline: DEADLINE };
    const claimed = await world.execute(here.buildClaim(claim, SIGNATURE, open));
    expect(claimed.effects).toEqual([{ kind: "claimed", deliveryId, amount: 99_000n }]);
  });
});

describe("the chain of a cluster", () => {
  test("is refused when its genesis hash differs", async () => {
    const other = world.connect([world.sandbox.url], 1, {
      genesisHash: toHex32(`0x${"77".repeat(32)}`),
    });
    await expect(other.checkIdentity()).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "genesisHash differs" },
    });
    await expect(world.here.checkIdentity()).resolves.toBeUndefined();
  });

  test("finds no balance of a mint that is not configured, without a request", async () => {
    const wallet = toAddress(`0x${"5a".repeat(32)}`);
    expect(await world.here.findBalance(world.usdc, wallet)).toBe(0n);
    const gone = world.connect(["http://127.0.0.1:1"]);
    expect(await gone.findBalance(toAddress(`0x${"77".repeat(32)}`), wallet)).toBeNull();
  });

  test("has null for the capabilities that Solana lacks", async () => {
    const { here, usdc } = world;
    expect(here.combine([])).toBeNull();
    expect(here).toMatchObject({
      sequencing: { kind: "blockhash" },
      balances: { kind: "final" },
      wallets: { kind: "vault" },
      priceFeeds: null,
      pools: null,
      cctp: null,
      payoutSearch: null,
      governance: null,
      treasury: null,
    });
    const call: Call = here.wallets.buildRefund(newCommitment(), usdc, {
      amount: 1n,
      reason: null,
    });
    expect(parseOrders(call.data)).toMatchObject([{ kind: "refund" }]);
  });
});
