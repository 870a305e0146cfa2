/**
 * The auditor over the database and chains of a finished simulation run: it finds nothing, and then each change made to
 * them. One test for each way in which rows and chain can differ.
 */
import { REPAIRS } from "../roles/repairs.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FAULTS } from "../../test/simulation/faults.ts";
import { runSeed, type World } from "../../test/simulation/run.ts";
import { prepareDatabase, type SimulationDatabase } from "../../test/simulation/server.ts";
import { createEmptyDatabase, type TestDatabase } from "../../test/support/database.ts";
import type { FakeChain, FakeBlock } from "../../test/fake-chain/model.ts";
import type { EvmAddress } from "../core/hex.ts";
import { NATIVE_TOKEN, toAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import {
  auditChain,
  endBreach,
  isHalted,
  isQuarantined,
  listBreaches,
  listUnsettled,
  readHalt,
} from "./index.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";

/** Simulation seeds: a same-chain settlement with charged gas, and settlements from inventory, sponsored and charged. */
const SAME_CHAIN = 2;
const INVENTORY = 3;
const INVENTORY_CHARGED = 14;

let empty: TestDatabase;
let database: SimulationDatabase;

beforeAll(async () => {
  empty = await createEmptyDatabase();
  database = await prepareDatabase(empty.address);
});
afterAll(async () => {
  await database.close();
  await empty.drop();
});

/** Runs a simulation seed with one payment, then `act` on the result. */
async function afterRun(seed: number, act: (world: World) => Promise<void>): Promise<void> {
  const { broken } = await runSeed(database, seed, {
    faults: NO_FAULTS,
    payments: 1,
    safetyMs: 30_000,
    async onRest(world) {
      // The run ends between two second looks.
      await sql`update scanner_finality set looked_again = 1000000`.execute(world.db);
      await act(world);
    },
  });
  expect(broken).toBeNull();
}

/** Audits every chain fully and returns the findings as `invariant subject`. */
async function auditAll({ audits }: World, scope: "next" | "all" = "all"): Promise<string[]> {
  const found = [];
  for (const deps of audits) {
    const { block, findings } = await auditChain(deps, scope);
    expect(block).not.toBeNull();
    found.push(...findings.map(({ invariant, subject }) => `${invariant} ${subject}`));
  }
  return found;
}

interface Swept {
  readonly id: string;
  readonly chain_id: number;
  readonly wallet: string;
  readonly token: string;
  readonly swept_amount: string;
  readonly delivery_id: string | null;
}

async function getSettled({ db }: World): Promise<Swept> {
  const { rows } = await sql<Swept>`
    select id, chain_id, wallet, token, swept_amount::text, delivery_id from settlements
     where status = 'completed'`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the seed has a completed settlement");
  return row;
}

/** Blocks at and above the audited block. */
function listNewest({ chains }: World, chainId: number): readonly FakeBlock[] {
  const chain: FakeChain | undefined = chains.get(chainId);
  if (!chain) throw new Error(`there is no chain ${chainId}`);
  return chain.branchOf(chain.head).slice(-40);
}

function credit(world: World, swept: Swept, amount: bigint): void {
  for (const { state } of listNewest(world, swept.chain_id)) {
    state.credit(swept.token as EvmAddress, swept.wallet as EvmAddress, amount);
  }
}

describe("the auditor", () => {
  test("finds nothing in a consistent run, in every scope", async () => {
    for (const seed of [SAME_CHAIN, INVENTORY]) {
      await afterRun(seed, async (world) => {
        expect(await auditAll(world, "next")).toEqual([]);
        expect(await auditAll(world)).toEqual([]);
        expect(await listUnsettled(world.db, ROUTE_AUDITS)).toEqual([]);
      });
    }
  });

  test("finds a wallet's missing amount, quarantines the token there, and writes it off on an operator's command [V1, T159]", async () => {
    await afterRun(SAME_CHAIN, async (world) => {
      const swept = await getSettled(world);
      const { db } = world;
      credit(world, swept, 10n);
      // Posted as a surplus first, so that a deficit can follow.
      expect(await auditAll(world)).toEqual([]);
      expect(await listUnsettled(db, ROUTE_AUDITS)).toMatchObject([
        { wallet: swept.wallet, amount: "10", place: "wallet" },
      ]);
      expect(await auditAll(world)).toEqual([]);
      expect(await listUnsettled(db, ROUTE_AUDITS)).toMatchObject([{ amount: "10" }]);

      credit(world, swept, -7n);
      const found = [`V1 ${swept.wallet}:${swept.token}`];
      expect(await auditAll(world, "next")).toEqual(found);
      expect(await auditAll(world)).toEqual(found);
      expect(await isHalted(db, swept.chain_id)).toBe(false);
      const holding = {
        chainId: swept.chain_id,
        wallet: toAddress(swept.wallet),
        token: toAddress(swept.token),
      };
      expect(await isQuarantined(db, holding)).toBe(true);
      expect(await isQuarantined(db, { ...holding, token: NATIVE_TOKEN })).toBe(false);
      expect(await isQuarantined(db, { ...holding, chainId: holding.chainId + 1 })).toBe(false);
      const [breach, ...others] = await listBreaches(db);
      expect(others).toEqual([]);
      expect(breach?.details).toMatchObject({ ledger: "10", chain: "3" });

      const clock = { now: () => 0, sleep: async () => undefined };
      const end = { id: breach?.id ?? "", operator: "ann", reason: "the issuer took it back" };
      expect(await endBreach({ db, clock, ...REPAIRS }, end)).toBe(true);
      expect(await endBreach({ db, clock, ...REPAIRS }, end)).toBe(false);
      expect(await auditAll(world)).toEqual([]);
      expect(await listUnsettled(db, ROUTE_AUDITS)).toMatchObject([{ amount: "3" }]);
      expect(await isQuarantined(db, holding)).toBe(false);
    });
  });

  test("finds a sweep that no transaction of ours made [V4]", async () => {
    await afterRun(SAME_CHAIN, async (world) => {
      await sql`update attempts set hash = replace(hash, '0x', '0y')`.execute(world.db);
      expect(await auditAll(world)).toEqual([expect.stringMatching(/^V4 \d+:\d+$/)]);
    });
  });

  test("finds a sweep that no settlement recorded [V1, V4]", async () => {
    await afterRun(SAME_CHAIN, async (world) => {
      const { wallet, token } = await getSettled(world);
      await sql`insert into outflows
        select chain_id, block_number, block_hash, log_index + 1, wallet, token, 5, kind, tx_hash from outflows`.execute(
        world.db,
      );
      const found = await auditAll(world);
      expect(found).toContain(`V4 ${wallet}:${token}`);
      // The chain now holds more than the ledger, which is no deficit.
      expect(found).toHaveLength(1);
    });
  });

  test("finds a settlement whose sweep is not at its recorded place [V6]", async () => {
    await afterRun(INVENTORY, async (world) => {
      const { id } = await getSettled(world);
      await sql`update settlements set swept_log_index = swept_log_index + 7`.execute(world.db);
      expect(await auditAll(world)).toEqual([`V6 ${id}`]);
    });
  });

  test.each([
    ["amount", (amount: bigint) => ({ amount: amount - 1n })],
    ["recipient", () => ({ to: toEvmAddress(`0x${"66".repeat(20)}`) })],
    ["token", () => ({ token: toEvmAddress(`0x${"66".repeat(20)}`) })],
  ])("finds a delivery whose %s differs [V5]", async (_, change) => {
    await afterRun(INVENTORY, async (world) => {
      const swept = await getSettled(world);
      const deliveryId = toHex32(swept.delivery_id ?? "");
      for (const { state } of listNewest(world, swept.chain_id === 2 ? 30 : 2)) {
        const paid = state.delivered.get(deliveryId);
        if (paid) state.delivered.set(deliveryId, { ...paid, ...change(paid.amount) });
      }
      expect(await auditAll(world)).toEqual([`V5 ${swept.id}`]);
    });
  });

  test("finds a claim without its delivery [V5]", async () => {
    await afterRun(INVENTORY, async (world) => {
      const swept = await getSettled(world);
      for (const { state } of listNewest(world, swept.chain_id === 2 ? 30 : 2)) {
        state.delivered.delete(toHex32(swept.delivery_id ?? ""));
      }
      expect(await auditAll(world)).toEqual([`V5 ${swept.id}`]);
    });
  });

  test("finds a lock that the escrow does not have [V2]", async () => {
    await afterRun(INVENTORY, async (world) => {
      const swept = await getSettled(world);
      // The state before the claim.
      await sql`update deliveries set state = 'delivered'`.execute(world.db);
      expect(await auditAll(world)).not.toContain(`V2 ${swept.delivery_id}`);
      for (const { state } of listNewest(world, swept.chain_id)) {
        state.locks.delete(toHex32(swept.delivery_id ?? ""));
      }
      expect(await auditAll(world)).toContain(`V2 ${swept.delivery_id}`);
    });
  });

  test.each(["returned", "taken_back"] as const)(
    "finds a paid lock that was %s, and books it so on an operator's command [V2, V11, T157]",
    async (state) => {
      await afterRun(INVENTORY, async (world) => {
        const { db } = world;
        const swept = await getSettled(world);
        const deliveryId = toHex32(swept.delivery_id ?? "");
        // The state before the claim.
        await sql`update deliveries set state = 'delivered'`.execute(db);
        const sum = async (account: string) => {
          const { rows } = await sql<{ amount: string }>`
            select coalesce(sum(amount), 0)::text as amount from ledger_lines where account = ${account}`.execute(
            db,
          );
          return BigInt(rows[0]?.amount ?? 0);
        };
        for (const { state: at } of listNewest(world, swept.chain_id)) {
          const lock = at.locks.get(deliveryId);
          if (lock) at.locks.set(deliveryId, { ...lock, state });
        }
        expect(await auditAll(world)).toEqual([`V2 ${deliveryId}`]);
        const [breach] = await listBreaches(db);
        expect(breach).toMatchObject({
          verdict: "lock_lost",
          details: { state: "delivered", on_chain: `${swept.swept_amount}, ${state}` },
        });
        expect(await isHalted(db, swept.chain_id)).toBe(true);
        const clock = { now: () => 0, sleep: async () => undefined };
        const paid = await sum("inventory");
        const end = { id: breach?.id ?? "", operator: "ann", reason: "claimed too late" };
        await endBreach({ db, clock, ...REPAIRS }, end);
        const { rows } = await sql`select state from deliveries`.execute(db);
        expect(rows).toEqual([{ state }]);
        // The payout stays paid: the loss is in the books.
        expect(await sum("inventory")).toBe(paid);
        expect(await auditAll(world)).not.toContain(`V2 ${deliveryId}`);
      });
    },
  );

  test("finds a lock that was claimed unpaid, once the destination is past the claim [V2, T157]", async () => {
    await afterRun(INVENTORY, async (world) => {
      const swept = await getSettled(world);
      const deliveryId = toHex32(swept.delivery_id ?? "");
      await sql`update deliveries set state = 'locked', delivered_amount = null`.execute(world.db);
      expect(await auditAll(world)).toEqual([]);
      const destination = swept.chain_id === 2 ? 30 : 2;
      for (const { state } of listNewest(world, destination)) state.delivered.delete(deliveryId);
      const behind = world.audits.map((deps) => ({
        ...deps,
        chains: new Map(
          [...deps.chains].map(([id, chain]) => [
            id,
            id === destination ? { ...chain, getTime: async () => 0n } : chain,
          ]),
        ),
      }));
      expect(await auditAll({ ...world, audits: behind })).toEqual([]);
      expect(await auditAll(world)).toEqual([`V2 ${deliveryId}`]);
      expect((await listBreaches(world.db))[0]?.verdict).toBe("lock_claimed_unpaid");
      expect(await readHalt(world.db, swept.chain_id)).toBe("all");
    });
  });

  test("finds value in flight for a terminal settlement [V8]", async () => {
    await afterRun(SAME_CHAIN, async (world) => {
      const { id, chain_id, token, wallet } = await getSettled(world);
      await sql`select post_move('sweep', ${id}, ${chain_id}, ${token}, null,
        'treasury', '', 'in_flight', ${id}, 4)`.execute(world.db);
      expect(await auditAll(world)).toEqual([`V8 ${id}`]);
      expect(await listUnsettled(world.db, ROUTE_AUDITS)).toMatchObject([
        { wallet, amount: "4", place: "in_flight", settlementId: id, reason: "completed" },
      ]);
    });
  });

  test("finds nonces that were never assigned, and the lane continues from the chain's nonce [V10]", async () => {
    await afterRun(SAME_CHAIN, async (world) => {
      const { db } = world;
      const listLanes = () => db.selectFrom("lanes").selectAll().orderBy("address").execute();
      const before = await listLanes();
      const lane = before.find((one) => one.next_nonce > 0);
      if (!lane) throw new Error("a lane has sent");
      await sql`update lanes set next_nonce = next_nonce - 1 where address = ${lane.address}`.execute(
        db,
      );
      expect(await auditAll(world)).toEqual([`V10 ${lane.address}`]);
      const [breach] = await listBreaches(db);
      const clock = { now: () => 0, sleep: async () => undefined };
      await endBreach(
        { db, clock, ...REPAIRS },
        { id: breach?.id ?? "", operator: "ann", reason: "restored" },
      );
      expect(await listLanes()).toEqual(before);
      expect(await auditAll(world)).toEqual([]);
    });
  });

  test("relies on the database to reject lines that do not sum to zero, change or are deleted [V3]", async () => {
    await afterRun(SAME_CHAIN, async ({ db }) => {
      const line = (posting: string, amount: number) => sql`
        insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount)
        values (${posting}, 'deposit', 'x', 'wallet', 'x', 2, 'x', ${amount})`;
      await expect(line("900001", 5).execute(db)).rejects.toThrow("does not add up to zero");
      for (const text of [
        "update ledger_lines set amount = amount * 2",
        "delete from ledger_lines",
        "truncate ledger_lines",
      ]) {
        await expect(sql.raw(text).execute(db)).rejects.toThrow("only added");
      }
    });
  });

  test.each([
    ["kept by a route that delivers in the sweep", SAME_CHAIN, 532n],
    ["left in a lock by its payout", INVENTORY_CHARGED, 1_560n],
  ])("finds the service's fee and gas posted separately when they are %s", async (_, seed, gas) => {
    await afterRun(seed, async (world) => {
      const { id, swept_amount } = await getSettled(world);
      const { fee_flat: flat } = await world.db
        .selectFrom("settlements")
        .select("fee_flat")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      expect(flat).toBe(`${gas}`);
      const { rows } = await sql<{ account: string; owner: string; amount: string }>`
        select account, owner, sum(amount)::text as amount from ledger_lines
         where account in ('fees', 'treasury', 'inventory', 'in_flight')
         group by account, owner having sum(amount) <> 0 order by account, owner`.execute(world.db);
      const amount = BigInt(swept_amount);
      const service = amount / 1000n;
      const paid = amount - service - gas;
      expect(rows).toEqual([
        { account: "fees", owner: "gas", amount: `${gas}` },
        { account: "fees", owner: "service", amount: `${service}` },
        // For the same asset the treasury gains exactly what inventory paid; the rest is the fee.
        ...(seed === SAME_CHAIN
          ? []
          : [
              { account: "inventory", owner: "", amount: `${-paid}` },
              { account: "treasury", owner: "", amount: `${paid}` },
            ]),
      ]);
      expect(await auditAll(world)).toEqual([]);
    });
  });

  test("finds a delivery from inventory and the gas of its lanes in their accounts", async () => {
    await afterRun(INVENTORY, async (world) => {
      const { swept_amount, token } = await getSettled(world);
      const { rows } = await sql<{ account: string; amount: string }>`
        select account, sum(amount)::text as amount from ledger_lines
         where token <> '0x0000000000000000000000000000000000000000' group by account, token
        having sum(amount) <> 0 order by account, amount`.execute(world.db);
      const amount = BigInt(swept_amount);
      const paid = amount - amount / 1000n;
      expect(rows).toEqual([
        { account: "delivered", amount: `${paid}` },
        { account: "external", amount: `${-amount}` },
        { account: "fees", amount: `${amount - paid}` },
        { account: "inventory", amount: `${-paid}` },
        // The lock minus the fee equals the amount that inventory paid.
        { account: "treasury", amount: `${paid}` },
      ]);
      expect(token).not.toBe("");
      // Each lane started with a thousand coins and spent them on gas only.
      for (const lane of await world.db.selectFrom("lanes").selectAll().execute()) {
        const spent = await sql<{ amount: string }>`
          select coalesce(sum(amount), 0)::text as amount from ledger_lines
           where account = 'lane' and chain_id = ${lane.chain_id} and owner = ${lane.address}`.execute(
          world.db,
        );
        const state = world.chains.get(lane.chain_id)?.head.state;
        const native = toEvmAddress("0x0000000000000000000000000000000000000000");
        const held = state?.balanceOf(native, toEvmAddress(lane.address)) ?? 0n;
        expect(held - 1000n * 10n ** 18n).toBe(BigInt(spent.rows[0]?.amount ?? "0"));
      }
    });
  });
});
