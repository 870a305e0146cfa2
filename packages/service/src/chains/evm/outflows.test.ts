/** Outflows of deposit addresses, from the events of our contracts on a real node. */
import { listOutflows } from "../../../test/support/read-block.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { padAddress, toEvmAddress } from "../../core/hex.ts";
import { HERE, openWorld, USDC, type World } from "../../../test/evm/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

async function listNewest() {
  return listOutflows(world.here, await world.here.getHead());
}

test("a sweep into a lock is an outflow of its wallet, and a return reverses it", async () => {
  const { commitment, wallet, facts: lock, deliveryId, receipt } = await world.lockDeposit();
  const facts = { wallet, token: world.usdc, logIndex: expect.any(Number) };
  const swept = { ...facts, kind: "swept", amount: 25n * USDC, txHash: receipt.txHash };
  expect(await listNewest()).toEqual([swept]);
  expect(receipt.succeeded).toBe(true);

  const { timestamp } = await world.client.getBlock();
  const order = { deliveryId, deadline: timestamp + 600n };
  const signature = await world.attestor.signReturn(HERE, order);
  const { txHash } = await world.execute(
    world.here,
    world.here.buildReturn(order, signature, { commitment, facts: lock }),
  );
  const returned = { ...facts, kind: "returned", amount: -25n * USDC, txHash };
  expect(await listNewest()).toEqual([returned]);
});

test("a refund is an outflow of its wallet, from any sender [T24]", async () => {
  const authority = toEvmAddress(world.wallet.account.address);
  const commitment = { ...world.commitmentTo(HERE), refundAuthority: padAddress(authority) };
  const wallet = world.here.predictWallet(commitment);
  await world.mint(world.usdc, wallet, 3n);
  const txHash = await world.wallet.writeContract({
    address: world.contractsHere.factory,
    abi: depositFactoryAbi,
    functionName: "refund",
    args: [commitment, world.usdc, 3n],
  });
  await world.mined(txHash);
  expect(await listNewest()).toEqual([
    {
      kind: "refunded",
      wallet,
      token: world.usdc,
      amount: 3n,
      txHash,
      logIndex: expect.any(Number),
    },
  ]);
});

test("a block without sweeps or refunds has no outflows", async () => {
  await world.makeFinal();
  expect(await listNewest()).toEqual([]);
});
