/** Refunds from the events of the factory on a real node. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { padAddress, toEvmAddress, toTxHash } from "../../core/hex.ts";
import { HERE, openWorld, type World } from "../../../test/evm/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

test("a refund is found by wallet, token and log position once its block is final", async () => {
  const authority = toEvmAddress(world.wallet.account.address);
  const commitment = { ...world.commitmentTo(HERE), refundAuthority: padAddress(authority) };
  const wallet = world.here.predictWallet(commitment);
  const fromBlock = (await world.here.getHead()).number;
  const search = { wallet, token: world.usdc, fromBlock };
  for (const amount of [3n, 5n]) {
    await world.mint(world.usdc, wallet, amount);
    const call = world.here.wallets.buildRefund(commitment, world.usdc);
    await world.mined(await world.wallet.sendTransaction(call));
  }
  const mined = await world.here.getHead();
  expect(await world.here.findRefund({ ...search, fromBlock: mined.number })).toBe(null);

  await world.makeFinal();
  const newest = await world.here.findRefund(search);
  expect(newest).toEqual({
    to: authority,
    amount: 5n,
    txHash: expect.stringMatching(/^0x/),
    blockNumber: mined.number,
    logIndex: expect.any(Number),
  });
  const receipt = await world.here.getReceipt(toTxHash(newest?.txHash ?? ""));
  expect(receipt?.effects).toContainEqual({
    kind: "refunded",
    wallet,
    token: world.usdc,
    to: authority,
    amount: 5n,
    reason: null,
  });
  expect(await world.here.findRefund({ ...search, fromBlock: mined.number + 1n })).toBe(null);
  expect(await world.here.findRefund({ ...search, token: wallet })).toBe(null);
  expect(await world.here.findRefund({ ...search, wallet: authority })).toBe(null);
});

test("only the refund authority can call refund", async () => {
  const commitment = { ...world.commitmentTo(HERE), refundAuthority: padAddress(world.usdc) };
  await world.mint(world.usdc, world.here.predictWallet(commitment), 1n);
  const call = world.here.wallets.buildRefund(commitment, world.usdc);
  expect(await world.here.simulate(world.lane.address, call)).toEqual({
    ok: false,
    reason: "NotRefundAuthority",
  });
});

test("the factory accepts a refund that the attestors signed, once, for its reason", async () => {
  const commitment = world.commitmentTo(HERE);
  const wallet = world.here.predictWallet(commitment);
  await world.mint(world.usdc, wallet, 7n);
  const { timestamp } = await world.client.getBlock();
  const proof = {
    commitment,
    token: world.usdc,
    maxAmount: 5n,
    reason: "unlisted",
    deadline: timestamp + 500n,
  } as const;
  const signature = await world.attestor.signRefund(HERE, proof);
  const { wallets } = world.here;
  if (wallets.kind !== "contract") throw new Error("wallets are contracts");
  const simulate = (change: object) =>
    world.here.simulate(
      world.lane.address,
      wallets.buildAttestedRefund({ ...proof, ...change }, signature),
    );
  for (const change of [{ maxAmount: 7n }, { reason: "dead" }, { deadline: timestamp + 501n }]) {
    expect(await simulate(change)).toEqual({ ok: false, reason: "NotAttestor" });
  }
  const fromBlock = (await world.here.getHead()).number + 1n;
  const receipt = await world.execute(world.here, wallets.buildAttestedRefund(proof, signature));
  const to = toEvmAddress(`0x${commitment.refundAuthority.slice(26)}`);
  expect(receipt.effects).toContainEqual({
    kind: "refunded",
    wallet,
    token: world.usdc,
    to,
    amount: 5n,
    reason: "unlisted",
  });
  expect(await simulate({})).toEqual({ ok: false, reason: "AlreadyRefunded" });

  await world.makeFinal();
  const search = { wallet, token: world.usdc, fromBlock };
  expect(await wallets.findOutflow(search)).toBe(receipt.blockNumber);
  expect(await wallets.findOutflow({ ...search, fromBlock: receipt.blockNumber + 1n })).toBe(null);
  expect(await wallets.findOutflow({ ...search, token: wallet })).toBe(null);
  expect(await wallets.findOutflow({ ...search, wallet: to })).toBe(null);
});

test("a sweep is an outflow, a deployment is none", async () => {
  const commitment = world.commitmentTo(HERE);
  const wallet = world.here.predictWallet(commitment);
  const { wallets } = world.here;
  if (wallets.kind !== "contract") throw new Error("wallets are contracts");
  const fromBlock = (await world.here.getHead()).number;
  await world.mint(world.usdc, wallet, 1_000n);
  await world.execute(world.here, wallets.buildDeploy(commitment));
  await world.makeFinal();
  const search = { wallet, token: world.usdc, fromBlock };
  expect(await wallets.findOutflow(search)).toBe(null);
  const { blockNumber } = await world.execute(world.here, world.settleCall(commitment));
  await world.makeFinal();
  expect(await wallets.findOutflow(search)).toBe(blockNumber);
});
