/** The scanner on Solana blocks that are not final: real database, real nodes, skipped slots, forks. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import { createCountingRandom, createStillClock, silentLog } from "../../test/support/doubles.ts";
import { createScannerDeps, scanOnce } from "../../test/support/scanner.ts";
import { SOLANA } from "../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../test/support/solana-world.ts";
import { issueAddress } from "../addresses/index.ts";
import { toBase58 } from "../chains/solana/base58.ts";
import type { FinalBalances } from "../chains/port/index.ts";
import { NATIVE_SOL, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { listEvents } from "../events/index.ts";
import { auditChain } from "../ledger/index.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";
import { createIntegrator } from "../integrators/index.ts";
import type { Route } from "../routes/index.ts";

const SOL = 1_000_000_000n;

let world: SolanaWorld;
/** Each test has its own user and vault. */
let users = 0;
beforeAll(async () => {
  world = await startSolanaWorld();
});
afterAll(() => world.close());

async function openScanner() {
  await world.finalize();
  const { sandbox, here } = world;
  const { db, drop } = await createTestDatabase();
  onTestFinished(drop);
  const random = createCountingRandom();
  const clock = createStillClock();
  const chain = world.connect([sandbox.url], 1, { seenAt: "confirmed", clock });
  const pair = { srcChain: SOLANA, srcToken: NATIVE_SOL, destChain: SOLANA, destToken: NATIVE_SOL };
  // CAST: these tests never quote or deliver.
  const route = { kind: "MONO_CHAIN", pair } as Route;
  const { integratorId } = await createIntegrator(
    { db, random },
    {
      name: "acme",
      refundEvm: toEvmAddress(`0x${"de".repeat(20)}`),
      refundSolana: toBase58(world.deployment.facts.treasury),
      maxFeeBps: 50,
      maxSlippageBps: 100,
    },
  );
  const address = await issueAddress(
    {
      db,
      random,
      async findVault(commitment) {
        const wallet = await world.issue(commitment);
        return { wallet, proof: world.bind(commitment, wallet) };
      },
    },
    {
      chain: here,
      integratorId,
      destination: {
        userId: `0x${(users += 1).toString(16).padStart(40, "0")}`,
        destChain: SOLANA,
        destWallet: world.deployment.facts.treasury,
        destToken: NATIVE_SOL,
      },
    },
  );
  const deps = createScannerDeps({
    db,
    chain,
    tokens: [NATIVE_SOL],
    startBlock: (await here.getFinalNumber()) + 1n,
    clock,
    random,
    routes: [route],
    tokenMinimum: SOL / 2n,
  });
  const { wallet } = address;
  return {
    deps,
    db,
    address,
    /** Polls until no block is left. */
    async poll() {
      clock.advance(1_000);
      while (await scanOnce(deps)) {
        // The loop's condition does the work.
      }
    },
    /** Pays the vault and adds blocks until the deposit is confirmed. */
    async pay(amount: bigint) {
      await world.give(NATIVE_SOL, wallet, amount);
      await sandbox.tick();
    },
    deposits: () => db.selectFrom("deposits").selectAll().orderBy("detected_at").execute(),
    window: () => db.selectFrom("scanner_blocks").selectAll().orderBy("number", "desc").execute(),
    events: async () => (await listEvents(db, integratorId, { limit: 500 })).items,
    settlements: () => db.selectFrom("settlements").selectAll().orderBy("created_at").execute(),
    /** Returns the wallet's balance in the ledger. */
    async booked() {
      const lines = await db
        .selectFrom("ledger_lines")
        .select("amount")
        .where("account", "=", "wallet")
        .where("owner", "=", wallet)
        .execute();
      return lines.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    },
  };
}

describe("a deposit in a block that is not final", () => {
  test("is listed and queued at once, with one event and one posting", async () => {
    const scanner = await openScanner();
    await scanner.poll();
    await scanner.pay(SOL);
    await scanner.poll();
    const [deposit, ...more] = await scanner.deposits();
    expect(deposit).toMatchObject({ amount: `${SOL}`, queued: true, orphaned_at: null });
    expect(more).toEqual([]);
    expect(deposit?.block_number).toBeGreaterThan(await world.here.getFinalNumber());
    expect(await scanner.settlements()).toMatchObject([
      { id: deposit?.settlement_id, status: "pending_settle", amount: `${SOL}` },
    ]);
    expect((await scanner.events()).map(({ data }) => data)).toMatchObject([{ queued: true }]);
    await world.finalize();
    await scanner.poll();
    expect(await scanner.deposits()).toEqual([deposit]);
    expect(await scanner.events()).toHaveLength(1);
    expect(await scanner.booked()).toBe(SOL);
  });

  test("is ignored below the minimum and settled with the deposit that exceeds it", async () => {
    const scanner = await openScanner();
    await scanner.poll();
    await scanner.pay(SOL / 2n - 1n);
    await scanner.poll();
    await scanner.pay(SOL / 4n);
    await scanner.poll();
    expect((await scanner.events()).map(({ data }) => data)).toMatchObject([
      { queued: false, ignoredReason: "below_token_min" },
      { queued: true },
    ]);
    const [settlement, ...more] = await scanner.settlements();
    expect(more).toEqual([]);
    for (const deposit of await scanner.deposits()) {
      expect(deposit.settlement_id).toBe(settlement?.id);
    }
  });

  test("keeps its identity when it returns after a reorg, and is marked as orphaned when it does not [T41, T44]", async () => {
    const scanner = await openScanner();
    await scanner.poll();
    await world.sandbox.tick(4);
    await world.sandbox.skipSlots(7);
    await scanner.pay(SOL);
    await world.sandbox.skipSlots(3);
    await world.sandbox.tick(2);
    await scanner.poll();
    const [before] = await scanner.deposits();
    expect(before).toMatchObject({ orphaned_at: null });
    await world.sandbox.fork({ blocks: 4, replay: true });
    // Removes nothing until the node shows the replacing block.
    await scanner.poll();
    expect(await scanner.deposits()).toEqual([before]);
    await world.sandbox.skipSlots(4);
    // The node includes the pending transactions in this block.
    await world.sandbox.tick(3);
    await scanner.poll();
    const [after, ...more] = await scanner.deposits();
    expect(more).toEqual([]);
    expect(after).toMatchObject({
      id: before?.id,
      tx_hash: before?.tx_hash,
      settlement_id: before?.settlement_id,
      orphaned_at: null,
    });
    expect(after?.block_number).toBeGreaterThan(before?.block_number ?? 0n);
    expect(await scanner.booked()).toBe(SOL);

    await world.sandbox.fork({ blocks: 3 });
    await world.sandbox.tick(6);
    await scanner.poll();
    const [gone] = await scanner.deposits();
    expect(gone?.orphaned_at).not.toBeNull();
    expect(await scanner.booked()).toBe(0n);
    expect((await scanner.events()).map(({ type }) => type)).toEqual(["deposit_detected"]);
    await world.finalize();
    await scanner.poll();
    expect(await scanner.deposits()).toEqual([gone]);
    const [tip] = await scanner.window();
    expect(tip?.hash).toBe((await scanner.deps.chain.getHead()).hash);
  });

  test("is orphaned by a reorg down to the final block across many skipped slots [T44]", async () => {
    const scanner = await openScanner();
    await world.sandbox.tick(40);
    await scanner.poll();
    await world.sandbox.skipSlots(300);
    await scanner.pay(SOL);
    await world.sandbox.skipSlots(600);
    await scanner.pay(2n * SOL);
    await world.sandbox.skipSlots(600);
    await world.sandbox.tick(3);
    await scanner.poll();
    expect((await scanner.deposits()).map(({ orphaned_at }) => orphaned_at)).toEqual([null, null]);
    const final = await world.here.getHead();
    expect((await scanner.window()).at(-1)).toMatchObject({ hash: final.hash });
    const newest = await world.sandbox.tick();
    // The blocks that are not final.
    const blocks = (await scanner.window()).filter(({ number }) => number > final.number).length;
    expect(blocks).toBeGreaterThan(5);
    await world.sandbox.fork({ blocks: blocks - 2 });
    await world.sandbox.tick(5);
    await scanner.poll();
    const gone = (await scanner.deposits()).map(({ orphaned_at }) => orphaned_at !== null);
    expect(gone).toEqual([true, true]);
    expect(await scanner.booked()).toBe(0n);
    expect((await scanner.window())[0]?.number).toBeGreaterThan(newest);
  });
});

test("deletes an outflow with its orphaned block and records it again in another", async () => {
  const scanner = await openScanner();
  const { wallet, commitment } = scanner.address;
  await scanner.pay(SOL);
  await world.finalize();
  await scanner.poll();
  const call = world.here.wallets.buildRefund(commitment, NATIVE_SOL, {
    amount: SOL,
    reason: null,
  });
  const { raw } = await world.sign(call);
  await world.here.send(raw);
  await world.sandbox.tick(2);
  await scanner.poll();
  const outflows = () =>
    scanner.db.selectFrom("outflows").select(["wallet", "tx_hash", "block_number"]).execute();
  const [before] = await outflows();
  expect(before).toMatchObject({ wallet, tx_hash: toTxHash(world.txHashOf(raw)) });
  expect(await scanner.booked()).toBe(0n);
  await world.sandbox.fork({ blocks: 2, replay: true });
  await world.sandbox.skipSlots(3);
  await world.sandbox.tick(3);
  await scanner.poll();
  const [after, ...more] = await outflows();
  expect(more).toEqual([]);
  expect(after).toMatchObject({ wallet, tx_hash: before?.tx_hash });
  expect(after?.block_number).toBeGreaterThan(before?.block_number ?? 0n);
  expect(await scanner.booked()).toBe(0n);
  await world.sandbox.fork({ blocks: 3 });
  await world.sandbox.tick(5);
  await scanner.poll();
  expect(await outflows()).toEqual([]);
  expect(await scanner.booked()).toBe(SOL);
});

test("starts at a final block, so that every walk back ends", async () => {
  const scanner = await openScanner();
  const { startBlock } = scanner.deps;
  // The start slot has no block.
  await world.sandbox.tick(3);
  const start = (await scanner.deps.chain.getHead()).number + 3n;
  const late = { ...scanner.deps, startBlock: start };
  await world.sandbox.skipSlots(20);
  await world.sandbox.tick(5);
  expect(await scanOnce(late)).toBe(false);
  expect(await scanner.window()).toEqual([]);
  await world.finalize();
  await scanOnce(late);
  const numbers = (await scanner.window()).map(({ number }) => number);
  expect(numbers.at(-1)).toBeGreaterThan(start);
  expect(numbers.at(-1)).toBeLessThanOrEqual(await world.here.getFinalNumber());
  expect(startBlock).toBeLessThan(start);
});

test("reports no breach while the scanned block is not the final one", async () => {
  const scanner = await openScanner();
  await scanner.pay(SOL);
  await world.finalize();
  await scanner.poll();
  const { here } = world;
  const { db } = scanner;
  const clock = { now: () => 0, sleep: async () => undefined };
  const balances: FinalBalances = {
    kind: "final",
    /** As if the deposit's block had just been replaced: the wallet is empty. */
    async listHoldings(holdings) {
      const at = await here.getFinalNumber();
      await db
        .updateTable("scanner_blocks")
        .set({ hash: other })
        .where("number", "=", at)
        .execute();
      return holdings.map((holding) => ({ ...holding, amount: 0n, at }));
    },
  };
  const chains = new Map([[SOLANA, here]]);
  const deps = {
    db,
    chains,
    routes: ROUTE_AUDITS,
    tokens: [NATIVE_SOL],
    clock,
    log: silentLog,
  };
  const other = toHex32(`0x${"0f".repeat(32)}`);
  const audit = await auditChain({ ...deps, chain: { ...here, balances } }, "all");
  expect(audit).toMatchObject({ findings: [] });
  expect(audit.block).not.toBeNull();
});
