/** Answers waiting screenings: by the operator's list, then by the operator's service. Integrators take turns. */
import { expressionBuilder } from "kysely";
import { type Address, toAddress, toTxHash, type TxHash } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { literal } from "../../db/literals.ts";
import type { Database, Db } from "../../db/schema.ts";
import { createDuePoll, createDueRows } from "../../jobs/due.ts";
import type { SettlementDeps } from "../deps.ts";
import { retryNow } from "../store/due.ts";
import { getActive } from "../store/read.ts";
import type { Verdict } from "./rows.ts";

/** A deposit as the screening is asked about it. */
export interface ScreenedDeposit {
  readonly id: string;
  readonly integratorId: string;
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly amount: bigint;
  /** Null where the balance alone shows the deposit. */
  readonly txHash: TxHash | null;
  /** The account that paid on the chain; null where the balance alone shows the deposit. */
  readonly sender: Address | null;
}

export interface Answer {
  readonly verdict: Verdict;
  /** Null where nothing was answered. */
  readonly source: "list" | "service" | null;
  readonly detail: string | null;
}

/** Asks about a deposit. Never throws: without a usable answer the deposit waits. */
export type Screen = (deposit: ScreenedDeposit) => Promise<Answer>;

const BATCH_SIZE = 20;
/** First and longest delay between two questions about a deposit. */
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 300_000;

const dueScreenings = createDueRows({
  table: "screenings",
  chain: "chain_id",
  isOpen: expressionBuilder<Database, "screenings">()("verdict", "=", literal("wait")),
  keepsEnded: true,
});

/** Creates the poll that asks about the waiting deposits of a source chain. It returns true when there may be more. */
export function createScreeningsPoll(
  deps: SettlementDeps,
  screen: Screen,
  chainId: number,
): () => Promise<boolean> {
  return createDuePoll(deps, {
    rows: dueScreenings,
    chainId,
    limit: BATCH_SIZE,
    work: (id) => screenOne(deps, screen, id),
  });
}

async function screenOne(deps: SettlementDeps, screen: Screen, id: string): Promise<void> {
  const deposit = await readDeposit(deps.db, id);
  const { verdict, source, detail } = await screen(deposit);
  const decides = verdict !== "wait" && source !== null;
  await deps.db.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable("screenings")
      .set((eb) => ({
        verdict,
        source,
        detail,
        tries: eb("tries", "+", 1),
      }))
      .where("id", "=", id)
      // An operator may have decided meanwhile.
      .where("verdict", "=", literal("wait"))
      .returning("tries")
      .executeTakeFirst();
    if (!row) return;
    const delayMs = Math.min(RETRY_MS * 2 ** (row.tries - 1), RETRY_MAX_MS);
    if (decides) {
      await tx
        .insertInto("screening_records")
        .values({ deposit_id: id, verdict, source, detail })
        .execute();
    } else {
      await dueScreenings.reschedule(tx, id, deps.clock.now() + delayMs);
    }
    const active = decides || row.tries === 1 ? await getActive(tx, deposit) : null;
    if (active) await retryNow(tx, active.id, deps.clock.now());
  });
  if (verdict !== "allow") {
    deps.log.warn({ depositId: id, verdict, source, detail }, "screening: deposit not allowed");
  }
  deps.wakeEvents(deposit.integratorId);
}

async function readDeposit(db: Db, id: string): Promise<ScreenedDeposit> {
  const row = await db
    .selectFrom("deposits")
    .select(["integrator_id", "chain_id", "wallet", "token", "amount", "tx_hash", "sender"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return {
    id,
    integratorId: row.integrator_id,
    chainId: row.chain_id,
    wallet: toAddress(row.wallet),
    token: toAddress(row.token),
    amount: BigInt(row.amount),
    txHash: row.tx_hash === null ? null : toTxHash(row.tx_hash),
    sender: row.sender === null ? null : toAddress(row.sender),
  };
}

/** A deposit that is not allowed, as the operator sees it. */
export interface ScreeningFacts {
  readonly depositId: string;
  readonly chainId: number;
  readonly integratorId: string;
  readonly wallet: string;
  readonly token: string;
  readonly amount: string;
  readonly txHash: string | null;
  readonly sender: string | null;
  readonly verdict: string;
  readonly source: string | null;
  readonly detail: string | null;
  readonly since: string;
}

/** Lists the deposits that wait or are held, or all that were screened, oldest first. */
export async function listScreenings(
  db: Db,
  { all }: { readonly all: boolean },
): Promise<readonly ScreeningFacts[]> {
  const rows = await db
    .selectFrom("screenings as c")
    .innerJoin("deposits as d", "d.id", "c.id")
    .select(["c.id", "c.verdict", "c.source", "c.detail", "c.created_at"])
    .select(["d.chain_id", "d.integrator_id", "d.wallet", "d.token"])
    .select(["d.amount", "d.tx_hash", "d.sender"])
    .$if(!all, (query) => query.where("c.verdict", "!=", "allow"))
    .orderBy("c.created_at")
    .orderBy("c.id")
    .execute();
  return rows.map((row) => ({
    depositId: row.id,
    chainId: row.chain_id,
    integratorId: row.integrator_id,
    wallet: row.wallet,
    token: row.token,
    amount: row.amount,
    txHash: row.tx_hash,
    sender: row.sender,
    verdict: row.verdict,
    source: row.source,
    detail: row.detail,
    since: row.created_at,
  }));
}

/**
 * Records an operator's decision about a deposit, which no later answer changes. Returns false if the operator decided
 * the same before, or if there is no such deposit.
 */
export async function decideScreening(
  db: Db,
  request: {
    readonly depositId: string;
    readonly verdict: "allow" | "refuse";
    readonly operator: string;
    readonly reason: string;
    readonly nowMs: number;
  },
): Promise<boolean> {
  const { depositId, verdict, operator, reason, nowMs } = request;
  return db.transaction().execute(async (tx) => {
    const deposit = await tx
      .selectFrom("deposits")
      .select(["chain_id", "integrator_id", "wallet", "token"])
      .where("id", "=", depositId)
      .executeTakeFirst();
    if (!deposit) return false;
    const decision = { verdict, source: "operator", detail: null };
    const { chain_id, integrator_id } = deposit;
    const result = await tx
      .insertInto("screenings")
      .values({
        id: depositId,
        chain_id,
        integrator_id,
        next_check_at: formatStamp(nowMs),
        ...decision,
      })
      .onConflict((conflict) =>
        conflict
          .column("id")
          .doUpdateSet(decision)
          .where((eb) =>
            eb.or([
              eb("screenings.verdict", "!=", verdict),
              eb("screenings.source", "!=", "operator"),
            ]),
          ),
      )
      .executeTakeFirst();
    if (result.numInsertedOrUpdatedRows !== 1n) return false;
    await tx
      .insertInto("screening_records")
      .values({ deposit_id: depositId, ...decision, operator, reason })
      .execute();
    const holding = { wallet: toAddress(deposit.wallet), token: toAddress(deposit.token) };
    const active = await getActive(tx, { chainId: chain_id, ...holding });
    if (active) await retryNow(tx, active.id, nowMs);
    return true;
  });
}
