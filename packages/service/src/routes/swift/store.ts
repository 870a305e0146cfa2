import { expressionBuilder, type Selectable, sql } from "kysely";
import type { ErrorObject } from "@sluice/sdk/wire";
import { type Address, type Hex32, toAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { TxHash } from "../../core/hex.ts";
import { assert } from "../../core/assert.ts";
import type { Reservation } from "../port.ts";
import { createDueRows, dueFrom } from "../../jobs/due.ts";
import { formatStamp } from "../../core/stamp.ts";
import { gather, gatherCalls } from "../../db/gather.ts";
import type { Stamp } from "../../db/columns.ts";
import { literals } from "../../db/literals.ts";
import type { Database, Db, DeliveriesTable, Tx } from "../../db/schema.ts";
import type { Depth } from "./early/rules.ts";
import type { EarlyWait } from "./early/store.ts";
import { type DeliveryState, ENDED_STATES } from "./lifecycle.ts";

/** Destination leg of one lock. */
export interface Delivery {
  readonly id: Hex32;
  readonly settlementId: string;
  readonly state: DeliveryState;
  readonly version: number;
  readonly srcChain: number;
  readonly escrow: Address;
  readonly wallet: Address;
  readonly token: Address;
  readonly seq: bigint;
  readonly lockedAmount: bigint;
  readonly minOut: bigint;
  /** Unix seconds; follows the lock if a reorg moves it to another block. */
  readonly lockedAt: bigint;
  /** The contract that pays it. */
  readonly delivery: Hex32;
  readonly destChain: number;
  readonly destToken: Address;
  readonly destWallet: Address;
  /** Amount to pay, in destination base units. */
  readonly payAmount: bigint;
  /** Parts of the lock kept for the service and for gas, in source base units. Null in rows of early releases. */
  readonly feeService: bigint | null;
  readonly feeGas: bigint | null;
  readonly orders: number;
  readonly claims: number;
  readonly returns: number;
  readonly deliveredTxHash: TxHash | null;
  readonly deliveredAmount: bigint | null;
  /** What keeps a lock that is deep enough from being paid before it is final. */
  readonly waitsFor: EarlyWait | null;
  readonly error: ErrorObject | null;
  /** When it is polled next, as it was read; null where it is not. */
  readonly nextCheckAt: Stamp | null;
}

/** Records a mined lock, once. */
export async function insertDelivery(tx: Tx, delivery: NewDelivery, nowMs: number): Promise<void> {
  await insertGathered(tx, { delivery, nowMs });
}

type NewDelivery = Omit<
  Delivery,
  | "state"
  | "version"
  | "orders"
  | "claims"
  | "returns"
  | "deliveredTxHash"
  | "deliveredAmount"
  | "waitsFor"
  | "error"
  | "nextCheckAt"
>;

const insertGathered = gatherCalls(
  async (tx, all: readonly { readonly delivery: NewDelivery; readonly nowMs: number }[]) => {
    await tx
      .insertInto("deliveries")
      .values(
        all.map(({ delivery, nowMs }) => ({
          id: delivery.id,
          settlement_id: delivery.settlementId,
          state: "locked",
          src_chain: delivery.srcChain,
          escrow: delivery.escrow,
          wallet: delivery.wallet,
          token: delivery.token,
          seq: delivery.seq,
          locked_amount: delivery.lockedAmount,
          min_out: delivery.minOut,
          locked_at: delivery.lockedAt,
          delivery: delivery.delivery,
          dest_chain: delivery.destChain,
          dest_token: delivery.destToken,
          dest_wallet: delivery.destWallet,
          pay_amount: delivery.payAmount,
          fee_service: delivery.feeService,
          fee_gas: delivery.feeGas,
          next_check_at: formatStamp(nowMs),
        })),
      )
      .execute();
    return all.map(() => undefined);
  },
);

/** The facts by which a lock is told from another. */
type NamedLock = Pick<
  Delivery,
  "id" | "settlementId" | "srcChain" | "escrow" | "wallet" | "token" | "seq" | "delivery"
>;

/**
 * Makes a lock the settlement's own. A reorg replaced every other of it that was not given back, and every other with its number,
 * whose settlement may be an earlier one of the wallet: nothing was signed for them, or they were paid before they were final.
 * For a lock that was paid as a final one this changes nothing, and a second one of its settlement or number is refused.
 */
export const supersede = gatherCalls(async (tx, locks: readonly NamedLock[]) => {
  const ids = locks.map(({ id }) => id);
  await sql`
      with own as materialized (
        select * from unnest(
          ${ids}::text[], ${locks.map(({ settlementId }) => settlementId)}::uuid[],
          ${locks.map(({ srcChain }) => srcChain)}::integer[], ${locks.map(({ escrow }) => escrow)}::text[],
          ${locks.map(({ wallet }) => wallet)}::text[], ${locks.map(({ token }) => token)}::text[],
          ${locks.map(({ seq }) => seq)}::bigint[], ${locks.map(({ delivery }) => delivery)}::text[]
        ) as own (lock, settlement, chain, escrow, wallet, token, seq, delivery)
      )
      update deliveries d set superseded = true, version = version + 1
       where id in (select id from deliveries where id in (
          select other.id from own join deliveries other on other.settlement_id = own.settlement and other.id <> own.lock
          union all
          select other.id from own join deliveries other on other.src_chain = own.chain and other.escrow = own.escrow
             and other.wallet = own.wallet and other.token = own.token and other.seq = own.seq
             and other.delivery = own.delivery and other.id <> own.lock) order by id for update)
         and not superseded and state not in ('claimed', 'returned', 'taken_back')
         and (orders = 0 or exists (select from early_payouts e where e.delivery_id = d.id)
           or exists (select from early_losses l where l.delivery_id = d.id and l.recovered_at is null))`.execute(
    tx,
  );
  await tx
    .updateTable("deliveries")
    .set((row) => ({ superseded: false, version: row("version", "+", 1) }))
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .where("superseded", "=", true)
    .execute();
  return locks.map(() => undefined);
});

/**
 * Gives a delivery to another settlement of its wallet and token: a reorg took the deposit and the lock of the first one away,
 * and the next deposit brought the same lock.
 */
export async function takeOver(
  tx: Tx,
  {
    id,
    settlementId,
    nowMs,
  }: { readonly id: Hex32; readonly settlementId: string; readonly nowMs: number },
): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set((row) => ({
      settlement_id: settlementId,
      superseded: false,
      version: row("version", "+", 1),
      next_check_at: dueFrom(nowMs),
    }))
    .where("id", "=", id)
    .execute();
}

/** Records the time of a lock that a reorg moved to another block. Everything else of the lock is in its id. */
export async function recordLockTime(tx: Tx, id: Hex32, lockedAt: bigint): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set((row) => ({ locked_at: lockedAt, version: row("version", "+", 1) }))
    .where("id", "=", id)
    .where("locked_at", "<>", lockedAt)
    .execute();
}

/** Returns a delivery, or null when the id is unknown. */
export const getDelivery = gather(async (db, ids: readonly Hex32[]) => {
  const rows = await db
    .selectFrom("deliveries")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return rows.map((row) => [row.id, row] as const);
}, parseDelivery);

/**
 * Returns an unused number for the next lock of a wallet and token: above all recorded ones, and at least the clock in
 * milliseconds, because a restored database may lack recent locks.
 */
export async function nextSeq(db: Db, lock: NumberedLock, nowMs: number): Promise<bigint> {
  const greatest = await readGreatestSeq(db, lock);
  const now = BigInt(nowMs);
  return greatest === null || greatest < now ? now : greatest + 1n;
}

type NumberedLock = Pick<Delivery, "srcChain" | "escrow" | "wallet" | "token">;

const readGreatestSeq = gatherCalls(async (db, locks: readonly NumberedLock[]) => {
  const { rows } = await sql<{ greatest: string | null }>`
    select (select max(seq) from deliveries
             where src_chain = lock.chain and escrow = lock.escrow and wallet = lock.wallet
               and token = lock.token)::text as greatest
      from unnest(
        ${locks.map(({ srcChain }) => srcChain)}::integer[], ${locks.map(({ escrow }) => escrow)}::text[],
        ${locks.map(({ wallet }) => wallet)}::text[], ${locks.map(({ token }) => token)}::text[]
      ) with ordinality as lock (chain, escrow, wallet, token, place)
     order by place`.execute(db);
  return rows.map(({ greatest }) => (greatest === null ? null : BigInt(greatest)));
});

const rows = expressionBuilder<Database, "deliveries">();

const PAYOUT_STATES = ["locked", "returning"] as const satisfies DeliveryState[];
const CLAIM_STATES = ["delivered", "claiming"] as const satisfies DeliveryState[];

/** Names of the queues of deliveries. */
export const PAYOUTS = "payouts";
export const CLAIMS = "claims";

/** Returns the due deliveries in some states, by destination. */
const dueIn = (states: readonly DeliveryState[]) =>
  createDueRows<Hex32>({
    table: "deliveries",
    id: "text",
    chain: "dest_chain",
    queue: sql`case when state in (${sql.join(PAYOUT_STATES)}) then ${PAYOUTS} else ${CLAIMS} end`,
    isOpen: rows.and([
      rows("state", "not in", literals(ENDED_STATES)),
      rows("state", "in", literals(states)),
    ]),
  });

/** Locks to pay or to return. */
export const duePayouts = dueIn(PAYOUT_STATES);

/** Payouts to claim: a queue of their own, so that no number of locks keeps a claim waiting. */
export const dueClaims = dueIn(CLAIM_STATES);

/** Makes a delivery due at a time. */
export const { reschedule, rescheduleUnlessChanged } = duePayouts;

const dueOpen = dueIn([...PAYOUT_STATES, ...CLAIM_STATES]);

/** Makes the deliveries of settlements due, in the transaction that records the events they waited for. */
export const wakeOfSettlements = (tx: Tx, settlementIds: readonly string[], nowMs: number) =>
  dueOpen.wake(tx, "settlement_id", settlementIds, nowMs);

/** Makes a delivery due, because an attestor answered a request of it. */
export const wakeOfAnswer = gatherCalls(
  async (db, answers: readonly { readonly id: Hex32; readonly nowMs: number }[]) => {
    const ids = [...new Set(answers.map(({ id }) => id))];
    const queues = await dueOpen.wake(
      db,
      "id",
      ids,
      Math.max(...answers.map(({ nowMs }) => nowMs)),
    );
    return answers.map(() => queues);
  },
);

/** New values of a delivery; absent ones stay. */
export interface DeliveryChange {
  readonly state?: DeliveryState;
  readonly lockedAt?: bigint;
  readonly orders?: number;
  readonly claims?: number;
  readonly returns?: number;
  readonly deliveredTxHash?: TxHash | null;
  readonly deliveredAmount?: bigint | null;
  readonly claimedTxHash?: TxHash;
  readonly endedHeight?: bigint;
  readonly paidAtDepth?: Depth | "finalized";
  readonly waitsFor?: EarlyWait | null;
  readonly error?: ErrorObject | null;
  /** When it is polled next, in Unix milliseconds, unless it was woken since it was read. */
  readonly pollAtMs?: number;
}

/** A delivery as it was read. */
export type SeenDelivery = Pick<Delivery, "id" | "version" | "state" | "nextCheckAt">;

/** Updates a delivery if its version is unchanged; returns false otherwise. */
export async function updateDelivery(
  tx: Db | Tx,
  delivery: SeenDelivery,
  change: DeliveryChange,
): Promise<boolean> {
  return (await updateDeliveries(tx, [{ delivery, change }])).has(delivery.id);
}

/**
 * Updates those of the deliveries whose version is unchanged, each of them named once, in one statement, and returns their ids.
 * Locks them in the order of their ids.
 */
export async function updateDeliveries(
  tx: Db | Tx,
  updates: readonly { readonly delivery: SeenDelivery; readonly change: DeliveryChange }[],
): Promise<ReadonlySet<Hex32>> {
  const seen = updates.map(({ delivery }) => delivery);
  assert(new Set(seen.map(({ id }) => id)).size === seen.length, "a delivery is updated once");
  const changes = updates.map(({ change }) => JSON.stringify(columnsOf(change)));
  const { rows } = await sql<{ id: string }>`
    update "deliveries" as updated
       set version = updated.version + 1,
           state = coalesce(change ->> 'state', updated.state),
           locked_at = coalesce((change ->> 'locked_at')::bigint, updated.locked_at),
           orders = coalesce((change ->> 'orders')::integer, updated.orders),
           claims = coalesce((change ->> 'claims')::integer, updated.claims),
           returns = coalesce((change ->> 'returns')::integer, updated.returns),
           claimed_tx_hash = coalesce(change ->> 'claimed_tx_hash', updated.claimed_tx_hash),
           ended_height = coalesce((change ->> 'ended_height')::bigint, updated.ended_height),
           paid_at_depth = coalesce(change ->> 'paid_at_depth', updated.paid_at_depth),
           delivered_tx_hash = case when change ? 'delivered_tx_hash'
             then change ->> 'delivered_tx_hash' else updated.delivered_tx_hash end,
           delivered_amount = case when change ? 'delivered_amount'
             then (change ->> 'delivered_amount')::numeric else updated.delivered_amount end,
           waits_for = case when change ? 'waits_for' then change ->> 'waits_for' else updated.waits_for end,
           trouble = case when change ? 'trouble'
             then nullif(change -> 'trouble', 'null'::jsonb) else updated.trouble end,
           next_check_at = case when date_trunc('milliseconds', updated.next_check_at) = given.due
             then coalesce((change ->> 'next_check_at')::timestamptz, updated.next_check_at) else updated.next_check_at end
      from (select held.id, given.due, given.change from deliveries as held
              join unnest(
                ${seen.map(({ id }) => id)}::text[], ${seen.map(({ version }) => version)}::integer[],
                ${seen.map(({ state }) => state)}::text[], ${seen.map(({ nextCheckAt }) => nextCheckAt)}::timestamptz[],
                ${changes}::jsonb[]
              ) as given (id, version, state, due, change)
                on held.id = given.id and held.version = given.version and held.state = given.state
             order by held.id for update of held) as given
     where updated.id = given.id
    returning updated.id`.execute(tx);
  return new Set(rows.map(({ id }) => toHex32(id)));
}

/** Returns the columns that change. Whole numbers beyond 2^53 are text. */
function columnsOf(change: DeliveryChange) {
  return {
    state: change.state,
    locked_at: change.lockedAt?.toString(),
    orders: change.orders,
    claims: change.claims,
    returns: change.returns,
    claimed_tx_hash: change.claimedTxHash,
    ended_height: change.endedHeight?.toString(),
    paid_at_depth: change.paidAtDepth === undefined ? undefined : `${change.paidAtDepth}`,
    delivered_tx_hash: change.deliveredTxHash,
    delivered_amount: change.deliveredAmount === null ? null : change.deliveredAmount?.toString(),
    waits_for: change.waitsFor,
    trouble: change.error,
    next_check_at: change.pollAtMs === undefined ? undefined : formatStamp(change.pollAtMs),
  };
}

/** Ends a delivery as the escrow ended its lock, although the lock was paid. An operator has accepted the loss. */
export async function endLock(
  tx: Tx,
  end: { readonly delivery: string; readonly state: string; readonly height: bigint },
): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set((row) => ({
      state: end.state,
      ended_height: end.height,
      trouble: null,
      version: row("version", "+", 1),
    }))
    .where("id", "=", end.delivery)
    .where("state", "not in", ENDED_STATES)
    .execute();
}

/** Inventory of one token on one chain. */
interface Held {
  readonly destChain: number;
  readonly token: Address;
}

/** Returns the sum of reservations of an inventory. */
export async function sumReserved(db: Db | Tx, { destChain, token }: Held): Promise<bigint> {
  return (await sumOfKey(db, `${destChain} ${token}`)) ?? 0n;
}

/** By chain and token, separated by a space. */
const sumOfKey = gather(async (db, keys: readonly string[]) => {
  const { rows } = await sql<{ key: string; total: string }>`
    select asked.key, sum(amount)::text as total
      from unnest(${keys}::text[]) as asked (key)
      join inventory_reservations on dest_chain = split_part(asked.key, ' ', 1)::integer
                                 and token = split_part(asked.key, ' ', 2)
     group by asked.key`.execute(db);
  return rows.map((row) => [row.key, row.total] as const);
}, BigInt);

/** Locks inventories for this transaction, in one order, so that reservations are serialised. */
export async function lockReservations(tx: Tx, inventories: readonly Held[]): Promise<void> {
  if (inventories.length === 0) return;
  const keys = new Set(inventories.map(({ destChain, token }) => `${destChain}:${token}`));
  await sql`select pg_advisory_xact_lock(10, hashtext(key))
    from unnest(${[...keys].toSorted()}::text[]) as held (key)`.execute(tx);
}

/** Sums of reservations of an inventory, those of one settlement left out, and of payouts that its daily cap counts. */
export interface Shares {
  readonly ofIntegrator: bigint;
  readonly ofAddress: bigint;
  readonly paid: bigint;
  readonly paidOfIntegrator: bigint;
  /** Whether the installation has another integrator, who could need the inventory. */
  readonly isShared: boolean;
}

const HOUR_MS = 3_600_000;
/** The hour of now and the 24 before it, as the contract counts. */
const CAP_HOURS = 25;

const hourOf = (nowMs: number) => BigInt(Math.floor(nowMs / HOUR_MS));

/** The settlement for which an inventory is shared out. */
interface Sharer {
  readonly settlementId: string;
  readonly integratorId: string;
  readonly addressId: string;
}

/** Returns the sums that the integrator and the address of a settlement have reserved, and what was paid in a day. */
export async function readShares(
  db: Db | Tx,
  held: Held,
  { nowMs, ...of }: Sharer & { readonly nowMs: number },
): Promise<Shares> {
  const [sums] = await readSums(db, held, { sharers: [of], nowMs });
  if (!sums) throw new TypeError("expected a row of sums");
  return sums.shares;
}

interface Sums {
  /** Of all reservations. */
  readonly reserved: bigint;
  /** What the settlement has reserved itself. */
  readonly own: bigint;
  readonly shares: Shares;
}

/** Reads the sums of several settlements, in their order. */
async function readSums(
  db: Db | Tx,
  { destChain, token }: Held,
  { sharers, nowMs }: { readonly sharers: readonly Sharer[]; readonly nowMs: number },
): Promise<readonly Sums[]> {
  const since = hourOf(nowMs) - BigInt(CAP_HOURS);
  const { rows } = await sql<{
    reserved: string;
    own: string;
    integrator: string;
    address: string;
    paid: string;
    paid_of_integrator: string;
    is_shared: boolean;
  }>`
    with reserved as materialized (
      select settlement_id, integrator_id, address_id, amount from inventory_reservations
       where dest_chain = ${destChain} and token = ${token}
    ), by_integrator as materialized (
      select integrator_id, sum(amount) as amount from reserved group by integrator_id
    ), by_address as materialized (
      select address_id, sum(amount) as amount from reserved group by address_id
    ), paid as materialized (
      select integrator_id, sum(amount) as amount from payout_hours
       where dest_chain = ${destChain} and token = ${token} and hour > ${since} group by integrator_id
    )
    select (select coalesce(sum(amount), 0) from reserved)::text as reserved, coalesce(own.amount, 0)::text as own,
           (coalesce(by_integrator.amount, 0)
             - case when own.integrator_id = given.integrator then own.amount else 0 end)::text as integrator,
           (coalesce(by_address.amount, 0)
             - case when own.address_id = given.address then own.amount else 0 end)::text as address,
           (select coalesce(sum(amount), 0) from paid)::text as paid,
           (select coalesce(sum(amount), 0) from paid where integrator_id = given.integrator)::text as paid_of_integrator,
           exists (select from integrators where id <> given.integrator and not integrators.own) as is_shared
      from unnest(
             ${sharers.map(({ settlementId }) => settlementId)}::uuid[],
             ${sharers.map(({ integratorId }) => integratorId)}::uuid[],
             ${sharers.map(({ addressId }) => addressId)}::uuid[]
           ) with ordinality as given (settlement, integrator, address, place)
      left join reserved as own on own.settlement_id = given.settlement
      left join by_integrator on by_integrator.integrator_id = given.integrator
      left join by_address on by_address.address_id = given.address
     order by place`.execute(db);
  return rows.map((row) => ({
    reserved: BigInt(row.reserved),
    own: BigInt(row.own),
    shares: {
      ofIntegrator: BigInt(row.integrator),
      ofAddress: BigInt(row.address),
      paid: BigInt(row.paid),
      paidOfIntegrator: BigInt(row.paid_of_integrator),
      isShared: row.is_shared,
    },
  }));
}

/** A reservation for a settlement. */
interface Request extends Sharer {
  readonly held: Held;
  readonly nowMs: number;
  /** Destination base units. */
  readonly amount: bigint;
  /** Decides by the sum of all reservations, and the shares. */
  readonly judge: (now: { readonly reserved: bigint; readonly shares: Shares }) => Reservation;
}

/**
 * Reserves what is granted, and returns the verdicts. Each of several requests counts for those after it. Assumes the locks of
 * `lockReservations`.
 */
export const reserve = gatherCalls(async (tx, requests: readonly Request[]) => {
  const verdicts = new Map<Request, Reservation>();
  const byInventory = Map.groupBy(
    requests,
    ({ held: { destChain, token } }) => `${destChain} ${token}`,
  );
  for (const all of byInventory.values()) {
    const [first] = all;
    assert(first, "a group has a member");
    const sums = await readSums(tx, first.held, { sharers: all, nowMs: first.nowMs });
    let more = 0n;
    const ofIntegrators = new Map<string, bigint>();
    const ofAddresses = new Map<string, bigint>();
    for (const [index, request] of all.entries()) {
      const known = sums[index];
      assert(known, "each request has its sums");
      const { integratorId, addressId, amount } = request;
      const moreOfIntegrator = ofIntegrators.get(integratorId) ?? 0n;
      const moreOfAddress = ofAddresses.get(addressId) ?? 0n;
      const verdict = request.judge({
        reserved: known.reserved + more,
        shares: {
          ...known.shares,
          ofIntegrator: known.shares.ofIntegrator + moreOfIntegrator,
          ofAddress: known.shares.ofAddress + moreOfAddress,
        },
      });
      verdicts.set(request, verdict);
      if (verdict !== "reserved") continue;
      more += amount - known.own;
      ofIntegrators.set(integratorId, moreOfIntegrator + amount);
      ofAddresses.set(addressId, moreOfAddress + amount);
    }
  }
  const granted = requests.filter((request) => verdicts.get(request) === "reserved");
  await upsertReservations(
    tx,
    granted.map(({ settlementId, held, amount }) => ({ settlementId, ...held, amount })),
  );
  return requests.map((request) => verdicts.get(request) ?? "inventory_too_low");
});

/** A payout of a settlement, in base units. */
export interface Paid extends Pick<Delivery, "destChain" | "settlementId"> {
  readonly amount: bigint;
}

/**
 * Counts the payouts of reservations towards their integrators' shares of the daily cap, and drops the hours that no cap
 * counts. A payout that a reorganisation undoes stays counted: the share is then used up a little earlier, for a day.
 */
export async function countPayouts(tx: Tx, paid: readonly Paid[], nowMs: number): Promise<void> {
  const hour = hourOf(nowMs);
  await sql`
    insert into "payout_hours" (dest_chain, token, integrator_id, hour, amount)
    select reserved.dest_chain, reserved.token, reserved.integrator_id, ${hour}::bigint, sum(paid.amount)
      from unnest(
             ${paid.map(({ settlementId }) => settlementId)}::uuid[], ${paid.map(({ amount }) => amount)}::numeric[]
           ) as paid (settlement_id, amount)
      join inventory_reservations as reserved on reserved.settlement_id = paid.settlement_id
     where reserved.integrator_id is not null
     group by reserved.dest_chain, reserved.token, reserved.integrator_id
     order by reserved.dest_chain, reserved.token, reserved.integrator_id
    on conflict (dest_chain, token, integrator_id, hour)
      do update set amount = payout_hours.amount + excluded.amount`.execute(tx);
  await sql`
    delete from "payout_hours"
     where dest_chain = any(${paid.map(({ destChain }) => destChain)}::integer[])
       and hour < ${hour - BigInt(CAP_HOURS)}`.execute(tx);
}

interface NewReservation {
  readonly settlementId: string;
  readonly destChain: number;
  readonly token: Address;
  readonly amount: bigint;
}

/** Inserts or updates the reservation of a settlement. */
export const upsertReservation = gatherCalls(async (tx, all: readonly NewReservation[]) => {
  await upsertReservations(tx, all);
  return all.map(() => undefined);
});

async function upsertReservations(tx: Db | Tx, all: readonly NewReservation[]): Promise<void> {
  if (all.length === 0) return;
  await tx
    .insertInto("inventory_reservations")
    .values(
      all.map(({ settlementId, destChain, token, amount }) => ({
        settlement_id: settlementId,
        dest_chain: destChain,
        token,
        amount,
      })),
    )
    .onConflict((conflict) =>
      conflict.column("settlement_id").doUpdateSet({ amount: (row) => row.ref("excluded.amount") }),
    )
    .execute();
}

/** Releases the reservations of paid deliveries, unless a reorg replaced the lock: the settlement has another one to pay. */
export async function endReservations(
  tx: Tx,
  paid: readonly Pick<Delivery, "id" | "settlementId">[],
): Promise<void> {
  await sql`
    delete from "inventory_reservations" as reserved
     using unnest(
             ${paid.map(({ settlementId }) => settlementId)}::uuid[], ${paid.map(({ id }) => id)}::text[]
           ) as paid (settlement_id, delivery_id)
     where reserved.settlement_id = paid.settlement_id
       and not exists (select from deliveries where id = paid.delivery_id and superseded)`.execute(
    tx,
  );
}

/** Reserves for the lock that a settlement has after a reorg: what it pays while it is unpaid, and nothing afterwards. */
export async function alignReservation(tx: Tx, settlementId: string): Promise<void> {
  const own = await tx
    .selectFrom("deliveries")
    .select(["state", "dest_chain", "dest_token", "pay_amount"])
    .where("settlement_id", "=", settlementId)
    .where("superseded", "=", false)
    .where("state", "not in", literals(["returned", "taken_back"]))
    .executeTakeFirst();
  if (!own) return;
  if (own.state !== "locked") return deleteReservation(tx, settlementId);
  await upsertReservation(tx, {
    settlementId,
    destChain: own.dest_chain,
    token: toAddress(own.dest_token),
    amount: BigInt(own.pay_amount),
  });
}

/** Removes a delivery that was never paid, whose lock left the chain for good. Does nothing if it changed meanwhile. */
export async function removeUnpaid(
  tx: Tx,
  { id, version }: Pick<Delivery, "id" | "version">,
): Promise<void> {
  await tx.deleteFrom("payout_searches").where("delivery_id", "=", id).execute();
  await tx
    .deleteFrom("deliveries")
    .where("id", "=", id)
    .where("version", "=", version)
    .where("state", "=", "locked")
    .where("delivered_amount", "is", null)
    .execute();
}

export async function deleteReservation(tx: Tx, settlementId: string): Promise<void> {
  await tx.deleteFrom("inventory_reservations").where("settlement_id", "=", settlementId).execute();
}

function parseDelivery(row: Selectable<DeliveriesTable>): Delivery {
  return {
    id: toHex32(row.id),
    settlementId: row.settlement_id,
    // CAST: the column's check constraint allows only these.
    state: row.state as DeliveryState,
    version: row.version,
    srcChain: row.src_chain,
    escrow: toAddress(row.escrow),
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    seq: row.seq,
    lockedAmount: BigInt(row.locked_amount),
    minOut: BigInt(row.min_out),
    lockedAt: row.locked_at,
    delivery: toHex32(row.delivery),
    destChain: row.dest_chain,
    destToken: toAddress(row.dest_token),
    destWallet: toAddress(row.dest_wallet),
    payAmount: BigInt(row.pay_amount),
    feeService: row.fee_service === null ? null : BigInt(row.fee_service),
    feeGas: row.fee_gas === null ? null : BigInt(row.fee_gas),
    orders: row.orders,
    claims: row.claims,
    returns: row.returns,
    deliveredTxHash: row.delivered_tx_hash === null ? null : toTxHash(row.delivered_tx_hash),
    deliveredAmount: row.delivered_amount === null ? null : BigInt(row.delivered_amount),
    // CAST: the column's check constraint allows only these.
    waitsFor: row.waits_for as EarlyWait | null,
    error: row.trouble,
    nextCheckAt: row.next_check_at,
  };
}
