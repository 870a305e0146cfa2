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
