/** Steps of deliveries that share a transaction, on real PostgreSQL. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { hashOf, LANE } from "../../../test/support/doubles.ts";
import { ID, openLocked } from "../../../test/support/locked-delivery.ts";
import { RECIPIENT } from "../../../test/support/settlement-desk.ts";
import { assert } from "../../core/assert.ts";
import { type Hex32, toHex32, toTxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { AttestationId } from "./attestation-requests.ts";
import { insertAttestation } from "./attestations.ts";
import { lockOf, type Step, takeStep } from "./delivery-deps.ts";
import { getDelivery, supersede, wakeOfAnswer } from "./store.ts";

const PAYOUT = toTxHash(hashOf("payout"));
const OTHER = toHex32(hashOf("other delivery"));

/** Opens two deliveries, and returns them as they are. */
async function open() {
  const locked = await openLocked();
  const { db } = locked.desk;
  await sql`insert into deliveries select (jsonb_populate_record(
    deliveries, jsonb_build_object('id', ${OTHER}::text, 'seq', seq + 1, 'superseded', true))).* from deliveries`.execute(
    db,
  );
  const read = async (id: Hex32) => {
    const delivery = await getDelivery(db, id);
    assert(delivery, "the delivery exists");
    return delivery;
  };
  const listIntents = async () => {
    const rows = await db.selectFrom("transactions").select("intent").orderBy("intent").execute();
    return rows.map(({ intent }) => intent).filter((intent) => intent.startsWith("deliver:"));
  };
  return { ...locked, read, listIntents, one: await read(ID), other: await read(OTHER) };
}

/** A step that queues a payout. */
const payoutOf = (delivery: Step["delivery"], order: number): Step => ({
  delivery,
  change: { orders: order },
  intent: {
    chainId: 30,
    lane: LANE,
    intent: `deliver:${delivery.id}:${order}`,
    settlementId: delivery.settlementId,
    call: { to: RECIPIENT, data: "0xde", value: 0n },
    gas: 7n,
  },
});

test("steps of several deliveries are taken together", async () => {
  const { deps, one, other, read, listIntents } = await open();
  const taken = await Promise.all([
    takeStep(deps, payoutOf(one, 1)),
    takeStep(deps, payoutOf(other, 1)),
  ]);
  expect(taken).toEqual([true, true]);
  expect(await listIntents()).toEqual([`deliver:${ID}:1`, `deliver:${OTHER}:1`].toSorted());
  expect(await read(ID)).toMatchObject({ orders: 1, version: one.version + 1 });
  expect(await read(OTHER)).toMatchObject({ orders: 1, version: other.version + 1 });
});

test("a step from an old version inserts nothing, and the others are taken [T313]", async () => {
  const { deps, one, other, listIntents } = await open();
  await takeStep(deps, { delivery: one, change: {} });
  const taken = await Promise.all([
    takeStep(deps, payoutOf(one, 1)),
    takeStep(deps, payoutOf(other, 1)),
  ]);
  expect(taken).toEqual([false, true]);
  expect(await listIntents()).toEqual([`deliver:${OTHER}:1`]);
});

test("a step sets when its delivery is polled next, unless it was woken since it was read [T264]", async () => {
  const { deps, one, other, desk, clock, read } = await open();
  const pollAtMs = clock.now() + 15_000;
  await wakeOfAnswer(desk.db, { id: OTHER, nowMs: clock.now() });
  const woken = await read(OTHER);
  const stepOf = (delivery: Step["delivery"]) => ({ delivery, change: { orders: 1, pollAtMs } });
  await Promise.all([takeStep(deps, stepOf(one)), takeStep(deps, stepOf(other))]);
  expect(await read(ID)).toMatchObject({ orders: 1, nextCheckAt: formatStamp(pollAtMs) });
  expect(await read(OTHER)).toMatchObject({ orders: 1, nextCheckAt: woken.nextCheckAt });
  expect(woken.nextCheckAt).not.toBe(other.nextCheckAt);
});

test("a step that is not taken leaves its request unused [T324]", async () => {
  const { deps, one, other, desk, address } = await open();
  const requestOf = ({ id }: Step["delivery"]): AttestationId => `return:${id}:1`;
  const { commitment } = address;
  for (const delivery of [one, other]) {
    const { id: deliveryId, srcChain } = delivery;
    const order = { deliveryId, deadline: 0n };
    const lock = lockOf(delivery, address);
    const request = { kind: "return", srcChain, lock, commitment, order, hints: [] } as const;
    const asked = { id: requestOf(delivery), deliveryId, deadline: 0n, request };
    await desk.db.transaction().execute((tx) => insertAttestation(tx, asked));
  }
  await takeStep(deps, { delivery: one, change: {} });
  await Promise.all(
    [one, other].map((delivery) =>
      takeStep(deps, { ...payoutOf(delivery, 1), used: requestOf(delivery) }),
    ),
  );
  const rows = await desk.db
    .selectFrom("attestations")
    .select("id")
    .where("used", "=", true)
    .execute();
  expect(rows).toEqual([{ id: requestOf(other) }]);
});

test("of two steps from the same version the first is taken [T313]", async () => {
  const { deps, one, read, listIntents } = await open();
  const taken = await Promise.all([
    takeStep(deps, payoutOf(one, 1)),
    takeStep(deps, payoutOf(one, 2)),
  ]);
  expect(taken).toEqual([true, false]);
  expect(await listIntents()).toEqual([`deliver:${ID}:1`]);
  expect((await read(ID)).version).toBe(one.version + 1);
});

test("a step changes what it names, also to nothing, and leaves the rest", async () => {
  const { deps, one, read } = await open();
  const error = { code: "INTERNAL", message: "no", retryable: false } as const;
  const amount = 2n ** 200n;
  await takeStep(deps, {
    delivery: one,
    change: {
      lockedAt: 2n ** 60n,
      orders: 3,
      deliveredTxHash: PAYOUT,
      deliveredAmount: amount,
      waitsFor: "exposure",
      error,
    },
  });
  const changed = await read(ID);
  expect(changed).toEqual({
    ...one,
    version: one.version + 1,
    lockedAt: 2n ** 60n,
    orders: 3,
    deliveredTxHash: PAYOUT,
    deliveredAmount: amount,
    waitsFor: "exposure",
    error,
  });
  const change = { deliveredTxHash: null, deliveredAmount: null, waitsFor: null, error: null };
  await takeStep(deps, { delivery: changed, change });
  expect(await read(ID)).toEqual({ ...changed, ...change, version: one.version + 2 });
});

test("a delivery moves to no state that its state does not allow", async () => {
  const { deps, one } = await open();
  expect(() => takeStep(deps, { delivery: one, change: { state: "claimed" } })).toThrow(
    "a delivery may go from locked to claimed",
  );
});

test("a lock makes way for one of another settlement with its number [T272]", async () => {
  const { one, desk, read } = await open();
  const settlementId = crypto.randomUUID();
  const next = { ...one, id: toHex32(hashOf("next lock")), settlementId };
  await desk.db.transaction().execute((tx) => supersede(tx, next));
  const { rows } = await sql<{ superseded: boolean }>`
    select superseded from deliveries where id = ${ID}`.execute(desk.db);
  expect(rows).toEqual([{ superseded: true }]);
  expect((await read(ID)).version).toBe(one.version + 1);
});

test("a lock with an order that was final stays beside another with its number [T272]", async () => {
  const { deps, one, desk, read } = await open();
  await takeStep(deps, { delivery: one, change: { orders: 1 } });
  const next = { ...one, id: toHex32(hashOf("next lock")), settlementId: crypto.randomUUID() };
  await desk.db.transaction().execute((tx) => supersede(tx, next));
  expect((await read(ID)).version).toBe(one.version + 1);
});
