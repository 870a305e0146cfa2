/** The scanner over blocks of Solana that may still be undone: real PostgreSQL, real nodes, slots without blocks, forks. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import {
  createCountingRandom,
  createSponsoredFees,
  createStillClock,
  silentLog,
  unseenMetrics,
} from "../../test/support/doubles.ts";
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
import { createRouteBook, type Route } from "../routes/index.ts";
import type { SettlementDeps } from "../settlements/index.ts";
import type { ScannerDeps } from "./deps.ts";
import { pollChain } from "./scan.ts";

const SOL = 1_000_000_000n;

let world: SolanaWorld;
/** Each test has a user, and so a vault, of its own. */
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
  const chain = world.connect([sandbox.url], 1, { seenAt: "confirmed" });
  const pair = { srcChain: SOLANA, srcToken: NATIVE_SOL, destChain: SOLANA, destToken: NATIVE_SOL };
  // CAST: where a deposit goes is not asked here.
  const route = { kind: "MONO_CHAIN", pair } as Route;
  const settlements: SettlementDeps = {
    db,
    clock,
    random,
    log: silentLog,
    metrics: unseenMetrics,
    chains: new Map([[SOLANA, chain]]),
    routes: createRouteBook([route]),
    fees: createSponsoredFees(10),
    displayAddress: (address) => address,
    lanes: new Map(),
    readMinimums: async () => ({ token: SOL / 2n, floor: undefined }),
    wakeEvents: () => undefined,
    wakeLanes: () => undefined,
    pollMs: 500,
  };
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
      recipient: {
        userId: `0x${(users += 1).toString(16).padStart(40, "0")}`,
        destChain: SOLANA,
        destWallet: world.deployment.facts.treasury,
        destToken: NATIVE_SOL,
      },
    },
  );
  const deps: ScannerDeps = {
    db,
    chain,
    tokens: [NATIVE_SOL],
    traces: false,
    startBlock: (await here.getFinalNumber()) + 1n,
    settlements,
    clock,
    crashPoint: () => undefined,
    log: silentLog,
    onScanned: () => undefined,
  };
  const { wallet } = address;
  return {
    deps,
    db,
    address,
    /** Looks until there is nothing more. */
    async look() {
      while (await pollChain(deps)) {
        // There is more at once.
      }
    },
    /** A block with a deposit, and blocks on it, so that it is confirmed. Returns its transaction. */
    async pay(amount: bigint) {
      await world.give(NATIVE_SOL, wallet, amount);
      await sandbox.tick();
    },
    deposits: () => db.selectFrom("deposits").selectAll().orderBy("detected_at").execute(),
    window: () => db.selectFrom("scanner_blocks").selectAll().orderBy("number", "desc").execute(),
    events: async () => (await listEvents(db, integratorId, { limit: 500 })).items,
    settlements: () => db.selectFrom("settlements").selectAll().orderBy("created_at").execute(),
    /** What the ledger says that the wallet holds. */
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
  test("is shown and queued at once by what its wallet will hold", async () => {
    const scanner = await openScanner();
    await scanner.look();
    await scanner.pay(SOL);
    await scanner.look();
    const [deposit, ...more] = await scanner.deposits();
    expect(deposit).toMatchObject({ amount: `${SOL}`, queued: true, orphaned_at: null });
    expect(more).toEqual([]);
    expect(deposit?.block_number).toBeGreaterThan(await world.here.getFinalNumber());
    expect(await scanner.settlements()).toMatchObject([
      { id: deposit?.settlement_id, status: "pending_settle", amount: `${SOL}` },
    ]);
    expect((await scanner.events()).map(({ data }) => data)).toMatchObject([{ queued: true }]);
    await world.finalize();
    await scanner.look();
    expect(await scanner.deposits()).toEqual([deposit]);
    expect(await scanner.events()).toHaveLength(1);
    expect(await scanner.booked()).toBe(SOL);
  });

  test("that is below the minimum says so, and goes with what lifts it", async () => {
    const scanner = await openScanner();
    await scanner.look();
    await scanner.pay(SOL / 2n - 1n);
    await scanner.look();
    await scanner.pay(SOL / 4n);
    await scanner.look();
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

  test("T41 T44 is marked when its fork is gone, and is the same when it comes back, over slots without blocks", async () => {
    const scanner = await openScanner();
    await scanner.look();
    await world.sandbox.tick(4);
    await world.sandbox.skipSlots(7);
    await scanner.pay(SOL);
    await world.sandbox.skipSlots(3);
    await world.sandbox.tick(2);
    await scanner.look();
    const [before] = await scanner.deposits();
    expect(before).toMatchObject({ orphaned_at: null });
    await world.sandbox.fork({ blocks: 4, replay: true });
    // Not told yet what is there instead, it takes nothing off.
    await scanner.look();
    expect(await scanner.deposits()).toEqual([before]);
    await world.sandbox.skipSlots(4);
    // The node has taken what waited into this block.
    await world.sandbox.tick(3);
    await scanner.look();
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
    await scanner.look();
    const [gone] = await scanner.deposits();
    expect(gone?.orphaned_at).not.toBeNull();
    expect(await scanner.booked()).toBe(0n);
    expect((await scanner.events()).map(({ type }) => type)).toEqual(["deposit_detected"]);
    await world.finalize();
    await scanner.look();
    expect(await scanner.deposits()).toEqual([gone]);
    const [tip] = await scanner.window();
    expect(tip?.hash).toBe((await scanner.deps.chain.getHead()).hash);
  });

  test("T44 and all blocks down to the final one leave the chain: the way back is there, however many slots were skipped", async () => {
    const scanner = await openScanner();
    await world.sandbox.tick(40);
    await scanner.look();
    await world.sandbox.skipSlots(300);
    await scanner.pay(SOL);
    await world.sandbox.skipSlots(600);
    await scanner.pay(2n * SOL);
    await world.sandbox.skipSlots(600);
    await world.sandbox.tick(3);
    await scanner.look();
    expect((await scanner.deposits()).map(({ orphaned_at }) => orphaned_at)).toEqual([null, null]);
    const final = await world.here.getHead();
    expect((await scanner.window()).at(-1)).toMatchObject({ hash: final.hash });
    const newest = await world.sandbox.tick();
    // All that is not final.
    const blocks = (await scanner.window()).filter(({ number }) => number > final.number).length;
    expect(blocks).toBeGreaterThan(5);
    await world.sandbox.fork({ blocks: blocks - 2 });
    await world.sandbox.tick(5);
    await scanner.look();
    const gone = (await scanner.deposits()).map(({ orphaned_at }) => orphaned_at !== null);
    expect(gone).toEqual([true, true]);
    expect(await scanner.booked()).toBe(0n);
    expect((await scanner.window())[0]?.number).toBeGreaterThan(newest);
  });
});

test("what left a wallet is forgotten with its block, and found again in another", async () => {
  const scanner = await openScanner();
  const { wallet, commitment } = scanner.address;
  await scanner.pay(SOL);
  await world.finalize();
  await scanner.look();
  const call = world.here.buildRefund(commitment, NATIVE_SOL, { amount: SOL });
  const { raw } = await world.sign(call);
  await world.here.send(raw);
  await world.sandbox.tick(2);
  await scanner.look();
  const outflows = () =>
    scanner.db.selectFrom("outflows").select(["wallet", "tx_hash", "block_number"]).execute();
  const [before] = await outflows();
  expect(before).toMatchObject({ wallet, tx_hash: toTxHash(world.txHashOf(raw)) });
  expect(await scanner.booked()).toBe(0n);
  await world.sandbox.fork({ blocks: 2, replay: true });
  await world.sandbox.skipSlots(3);
  await world.sandbox.tick(3);
  await scanner.look();
  const [after, ...more] = await outflows();
  expect(more).toEqual([]);
  expect(after).toMatchObject({ wallet, tx_hash: before?.tx_hash });
  expect(after?.block_number).toBeGreaterThan(before?.block_number ?? 0n);
  expect(await scanner.booked()).toBe(0n);
  await world.sandbox.fork({ blocks: 3 });
  await world.sandbox.tick(5);
  await scanner.look();
  expect(await outflows()).toEqual([]);
  expect(await scanner.booked()).toBe(SOL);
});

test("the first block of all is a final one, so that there always is a way back", async () => {
  const scanner = await openScanner();
  const { startBlock } = scanner.deps;
  // The slot that is begun with has no block.
  await world.sandbox.tick(3);
  const start = (await scanner.deps.chain.getHead()).number + 3n;
  const late = { ...scanner.deps, startBlock: start };
  await world.sandbox.skipSlots(20);
  await world.sandbox.tick(5);
  expect(await pollChain(late)).toBe(false);
  expect(await scanner.window()).toEqual([]);
  await world.finalize();
  await pollChain(late);
  const numbers = (await scanner.window()).map(({ number }) => number);
  expect(numbers.at(-1)).toBeGreaterThan(start);
  expect(numbers.at(-1)).toBeLessThanOrEqual(await world.here.getFinalNumber());
  expect(startBlock).toBeLessThan(start);
});

test("the auditor waits where what is scanned is not what became final, and finds no breach in it", async () => {
  const scanner = await openScanner();
  await scanner.pay(SOL);
  await world.finalize();
  await scanner.look();
  const { here } = world;
  const { db } = scanner;
  const clock = { now: () => 0, sleep: async () => undefined };
  const balances: FinalBalances = {
    kind: "final",
    /** As if the deposit's block had been replaced at the last moment: the wallet holds nothing. */
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
