/** Changes of settlements that share a transaction, on real PostgreSQL. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDesk } from "../../../test/support/settlement-desk.ts";
import { createTenant } from "../../../test/support/tenants.ts";
import { assert } from "../../core/assert.ts";
import type { Tx } from "../../db/schema.ts";
import { hashOf } from "../../../test/support/doubles.ts";
import { toHex32, toTxHash } from "../../core/hex.ts";
import { gatherCalls, shareStatements } from "../../db/gather.ts";
import type { Settlement } from "../types.ts";
import { recordSweep } from "./sweep.ts";
import { getSettlement } from "./read.ts";
import { changeTogether } from "./together.ts";
import { transition } from "./transition.ts";

const HASH = toHex32(hashOf("a sweep"));

/** Opens a desk with three settlements, and returns what changes them. */
async function open() {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  for (const user of ["0x51", "0x52", "0x53"] as const) {
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 5n });
  }
  const ids = (await desk.swaps()).map(({ id }) => id).toSorted();
  /** Transactions in which each change ran. */
  const ran: (readonly [string, Tx])[] = [];
  const change = async (id: string, run: (tx: Tx) => Promise<void> = async () => undefined) => {
    const settlement = await getSettlement(desk.db, id);
    assert(settlement, "the settlement exists");
    return changeTogether(desk.db, settlement, async (tx) => {
      ran.push([id, tx]);
      await tx
        .updateTable("settlements")
        .set((row) => ({ retry_count: row("retry_count", "+", 1) }))
        .where("id", "=", id)
        .execute();
      await run(tx);
    });
  };
  const counts = async () => {
    const rows = await desk.db
      .selectFrom("settlements")
      .select(["id", "retry_count"])
      .orderBy("id")
      .execute();
    return rows.map((row) => row.retry_count);
  };
  return { desk, ids, ran, change, counts };
}

test("changes of one turn are one transaction", async () => {
  const { ids, ran, change, counts } = await open();
  await Promise.all(ids.map((id) => change(id)));
  expect(new Set(ran.map(([, tx]) => tx)).size).toBe(1);
  expect(await counts()).toEqual([1, 1, 1]);
});

test("a change that throws is undone, and the others are made once [T313]", async () => {
  const { ids, change, counts } = await open();
  const [one = "", other = "", third = ""] = ids;
  const results = await Promise.allSettled([
    change(one),
    change(other, async () => {
      throw new Error("not this one");
    }),
    change(third),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(results[1]).toMatchObject({ reason: { message: "not this one" } });
  expect(await counts()).toEqual([1, 0, 1]);
});

test("what changes write in one turn is one statement [T318]", async () => {
  const { desk, ids } = await open();
  const settlements = await Promise.all(ids.map((id) => getSettlement(desk.db, id)));
  const asked: (readonly string[])[] = [];
  const look = gatherCalls(async (_, names: readonly string[]) => {
    asked.push(names);
    return names.map(() => undefined);
  });
  await Promise.all(
    settlements.map(async (settlement) => {
      assert(settlement, "the settlement exists");
      await changeTogether(desk.db, settlement, async (tx) => {
        await look(tx, `first of ${settlement.id}`);
        await look(tx, `second of ${settlement.id}`);
      });
    }),
  );
  expect(asked).toEqual(["first", "second"].map((turn) => ids.map((id) => `${turn} of ${id}`)));
});

test("the transaction ends after the statements of all changes, also when one throws at once [T318]", async () => {
  const { desk, ids, change, counts } = await open();
  const [one = "", other = ""] = ids;
  let fails = true;
  const results = await Promise.allSettled([
    change(one, async () => {
      if (!fails) return;
      fails = false;
      throw new Error("at once");
    }),
    change(other, async (tx) => {
      await sql`select pg_sleep(0.05)`.execute(tx);
      await tx
        .updateTable("settlements")
        .set((row) => ({ retry_count: row("retry_count", "+", 10) }))
        .where("id", "=", other)
        .execute();
    }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  await sql`select pg_sleep(0.1)`.execute(desk.db);
  expect(await counts()).toEqual([1, 11, 0]);
});

test("changes of two integrators are two transactions, and one that throws repeats none of the other's [T318]", async () => {
  const { desk, ids, ran, change, counts } = await open();
  const [one = "", other = "", third = ""] = ids;
  const tenant = await createTenant(desk.db);
  await desk.db
    .updateTable("settlements")
    .set({ integrator_id: tenant.id })
    .where("id", "=", third)
    .execute();
  const results = await Promise.allSettled([
    change(one, async () => {
      throw new Error("not this one");
    }),
    change(other),
    change(third),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(await counts()).toEqual([0, 1, 1]);
  expect(ran.filter(([id]) => id === third)).toHaveLength(1);
  expect(ran.filter(([id]) => id === other)).toHaveLength(2);
});

test("of two changes of a status from one version the first is made [T318]", async () => {
  const { desk, ids } = await open();
  const [id = ""] = ids;
  const settlement = await getSettlement(desk.db, id);
  assert(settlement, "the settlement exists");
  const plan = (sweepsSent: number) =>
    changeTogether(desk.db, settlement, async (tx) => {
      const trigger = "sweep_planned";
      if (!(await transition(tx, desk.deps, settlement, { trigger, change: { sweepsSent } }))) {
        throw new Error("changed meanwhile");
      }
    });
  const results = await Promise.allSettled([plan(7), plan(8)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const changed = await getSettlement(desk.db, id);
  expect(changed).toMatchObject({ version: settlement.version + 1, sweepsSent: 7 });
});

test("a sweep is recorded from the version that was read, and once [T318]", async () => {
  const { desk, ids } = await open();
  const [id = "", otherId = ""] = ids;
  const [settlement, other] = await Promise.all(
    [id, otherId].map((one) => getSettlement(desk.db, one)),
  );
  assert(settlement && other, "the settlements exist");
  const sweep = { amount: 2n ** 100n, minOut: 9n, logIndex: 3, deliveryId: null };
  const receipt = { txHash: toTxHash(HASH), blockNumber: 7n, blockHash: HASH };
  const record = (one: Settlement) =>
    desk.db.transaction().execute(async (tx) => {
      shareStatements(tx);
      const swept = { sweep, receipt, final: false };
      return Promise.all([
        recordSweep(tx, desk.deps, one, swept),
        recordSweep(tx, desk.deps, one, swept),
        recordSweep(tx, desk.deps, { ...other, version: other.version + 1 }, swept),
      ]);
    });
  expect(await record(settlement)).toEqual([true, false, false]);
  expect(await record(settlement)).toEqual([false, false, false]);
  expect(await getSettlement(desk.db, id)).toMatchObject({
    version: settlement.version + 1,
    step: "deliver",
    sweptAmount: 2n ** 100n,
    minOut: 9n,
    sweptLogIndex: 3,
    swapTxHash: HASH,
  });
  expect(await getSettlement(desk.db, otherId)).toMatchObject({ version: other.version });
});

test("changes that name settlements in different orders never deadlock", async () => {
  const { ids, change, counts } = await open();
  for (let round = 0; round < 10; round++) {
    const later = new Promise((resolve) => setImmediate(resolve));
    const first = ids.map((id) => change(id));
    await later;
    await Promise.all([...first, ...ids.toReversed().map((id) => change(id))]);
  }
  expect(await counts()).toEqual([20, 20, 20]);
});
