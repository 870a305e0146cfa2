/** A deposit on Solana is shown before finality and settled after it; an orphaned one is never paid. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

/** The sandbox's fee: ten basis points of a deposit. */
const afterFee = (amount: bigint) => amount - amount / 1_000n;

let world: SolanaSandbox;
beforeAll(async () => {
  world = await openSolanaSandbox();
}, 120_000);
afterAll(() => world.close());

/** Quotes a vault whose deposits go to a new wallet on ethereum. */
async function openVault() {
  const recipient = world.newEvmWallet();
  const token = world.tokenOn("ethereum");
  const { address } = await world.quote({
    fromChain: "solana",
    fromToken: world.mintOf("USDC"),
    toChain: "ethereum",
    toToken: token,
    recipient,
    amount: 25n * USDC,
  });
  return { address, paid: () => world.evmBalance("ethereum", recipient, token) };
}

/** Pays a vault while the chain's clock stands still, and waits until the unfinal deposit is shown. */
async function payUnfinal(address: string, amount: bigint) {
  await world.payTokens(world.mintOf("USDC"), address, amount);
  await world.controls.tick(2);
  await world.until("the deposit is shown", async () => (await world.deposits(address)) === 1);
  const [deposit] = await world.depositsOf(address);
  if (!deposit) throw new Error("it was just shown");
  expect(deposit).toMatchObject({ amount: `${amount}`, queued: true });
  expect(deposit.confirmations).toBeGreaterThan(0);
  expect(deposit.blockNumber).toBeGreaterThan(await world.finalSlot());
  return deposit;
}

/** Counts the `deposit_detected` events of a vault. */
async function countTold(address: string): Promise<number> {
  let told = 0;
  for await (const { type, data } of world.client().iterateEvents()) {
    if (type === "deposit_detected" && data.walletAddress === address) told += 1;
  }
  return told;
}

const isGone = async (address: string) =>
  (await world.depositsOf(address)).every(({ confirmations }) => confirmations === 0);

test("a fork drops one deposit and re-includes another: the first is never paid, the second once [T41]", async () => {
  const [lost, kept] = [await openVault(), await openVault()];
  await world.controls.pause();

  await payUnfinal(lost.address, 25n * USDC);
  expect(await world.swapsOf(lost.address)).toMatchObject([
    { status: "pending_settle", error: null, retryCount: 0 },
  ]);
  await world.controls.fork({ blocks: 4 });
  await world.controls.tick(6);
  await world.until("the lost deposit is marked", () => isGone(lost.address));

  const before = await payUnfinal(kept.address, 7n * USDC);
  // The fork keeps the block whose hash the transaction names.
  await world.controls.fork({ blocks: 3, replay: true });
  await world.controls.skipSlots(5);
  await world.controls.tick(3);
  await world.until("the kept deposit is in another block", async () => {
    const [after] = await world.depositsOf(kept.address);
    return after !== undefined && after.blockNumber > before.blockNumber;
  });
  const [after, ...more] = await world.depositsOf(kept.address);
  expect(more).toEqual([]);
  expect(after).toMatchObject({ id: before.id, txHash: before.txHash, amount: before.amount });
  expect(after?.blockNumber).toBeGreaterThan(await world.finalSlot());
  // It waits for its block to be final. A poll between the two blocks found nothing, and reported that.
  const [waiting] = await world.swapsOf(kept.address);
  expect([undefined, "REORG"]).toContain(waiting?.error?.code);
  expect(["pending_settle", "deferred"]).toContain(waiting?.status);
  expect(await kept.paid()).toBe(0n);

  await world.controls.resume();
  const swap = await world.settled(kept.address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect((await world.statuses(swap.id)).slice(-2)).toEqual(["settling", "completed"]);
  expect(await kept.paid()).toBe(afterFee(7n * USDC));

  await world.until("the settlement of what is lost says so", async () => {
    const [found] = await world.swapsOf(lost.address);
    return found?.error?.code === "REORG";
  });
  expect(await world.settled(lost.address)).toMatchObject({
    status: "dead",
    error: { code: "REORG" },
  });
  expect(await lost.paid()).toBe(0n);
  expect(await kept.paid()).toBe(afterFee(7n * USDC));
  expect(await countTold(lost.address)).toBe(1);
  expect(await countTold(kept.address)).toBe(1);
  expect(await world.swapsOf(kept.address)).toHaveLength(1);
});

test("two deposits, the second not yet final, are both settled once", async () => {
  const { address, paid } = await openVault();
  const mint = world.mintOf("USDC");
  await world.payTokens(mint, address, 5n * USDC);
  await world.until("the first is on its way", async () => {
    const [swap] = await world.swapsOf(address);
    return swap !== undefined && swap.status !== "pending_settle";
  });
  await world.payTokens(mint, address, 3n * USDC);
  const first = await world.settled(address);
  await world.settled(address, [first.id]);
  expect(await paid()).toBe(afterFee(5n * USDC) + afterFee(3n * USDC));
  expect(await world.solanaBalance(address, mint)).toBe(0n);
});

test("the ledger matches the chains", async () => {
  const mint = world.mintOf("USDC");
  await world.until(
    "the treasury has what was locked",
    async () => (await world.solanaBalance(world.treasury, mint)) === 15n * USDC,
  );
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
  expect(report.ok).toBe(true);
});
