/** Retries many settlements at an operator's request, as `retry` does with each, after an incident that ended many. */
import { sql } from "kysely";
import type { ErrorCode, SettlementStatus } from "@sluice/sdk/wire";
import type { RouteKind } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db } from "../../db/schema.ts";
import type { SettlementDeps } from "../deps.ts";
import type { OperatorRequest } from "./request.ts";
import { type RetryResult, retrySettlement } from "./retry.ts";

/** The statuses of settlements that a retry changes. */
export const RETRIED_STATUSES = [
  "failed_deploy",
  "failed_swap",
  "failed_settle",
  "deferred",
  "dead",
] as const satisfies SettlementStatus[];
export type RetriedStatus = (typeof RETRIED_STATUSES)[number];

/** Which settlements to retry; an absent condition is no condition. */
export interface RetryFilter {
  readonly statuses: readonly RetriedStatus[];
  readonly chainId?: number | undefined;
  readonly integratorId?: string | undefined;
  /** Token of the deposits. */
  readonly token?: Address | undefined;
  /** Kind of the route that was chosen; settlements without a choice have none. */
  readonly route?: RouteKind | undefined;
  /** Code of the error. */
  readonly errorCode?: ErrorCode | undefined;
  /** Settlements whose status has not changed since. */
  readonly changedBeforeMs?: number | undefined;
  readonly limit: number;
}

export interface Retryable {
  readonly id: string;
  readonly status: string;
  readonly chainId: number;
  readonly integratorId: string;
  readonly errorCode: string | null;
  readonly changedAt: string;
}

/** Lists the settlements of a filter, the longest unchanged first. Refunded ones have nothing left to retry. */
export async function listRetryable(db: Db, filter: RetryFilter): Promise<readonly Retryable[]> {
  const { statuses, chainId, integratorId, changedBeforeMs, limit } = filter;
  const { token, route, errorCode } = filter;
  const rows = await db
    .selectFrom("settlements")
    .select(["id", "status", "chain_id", "integrator_id", "error_code", "updated_at"])
    .where("status", "in", statuses)
    .where(sql<boolean>`error_details ->> 'reason' is distinct from 'refunded'`)
    .$if(chainId !== undefined, (query) => query.where("chain_id", "=", chainId ?? 0))
    .$if(integratorId !== undefined, (query) =>
      query.where("integrator_id", "=", integratorId ?? ""),
    )
    .$if(token !== undefined, (query) => query.where("token", "=", token ?? ""))
    .$if(route !== undefined, (query) => query.where("route", "=", route ?? ""))
    .$if(errorCode !== undefined, (query) => query.where("error_code", "=", errorCode ?? ""))
    .$if(changedBeforeMs !== undefined, (query) =>
      query.where("updated_at", "<", formatStamp(changedBeforeMs ?? 0)),
    )
    .orderBy("updated_at")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    status: row.status,
    chainId: row.chain_id,
    integratorId: row.integrator_id,
    errorCode: row.error_code,
    changedAt: row.updated_at,
  }));
}

/** The outcome for one settlement: retried, or refused with the reason. */
export type RetryOutcome =
  | ({ readonly id: string } & RetryResult)
  | { readonly id: string; readonly kind: "refused"; readonly reason: string };

/** Retries each settlement, each in transactions of its own. A refusal concerns one settlement and stops no other. */
export async function retryEach(
  deps: SettlementDeps,
  ids: readonly string[],
  request: Omit<OperatorRequest, "id">,
): Promise<readonly RetryOutcome[]> {
  const outcomes: RetryOutcome[] = [];
  for (const id of ids) {
    try {
      outcomes.push({ id, ...(await retrySettlement(deps, { ...request, id })) });
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      outcomes.push({ id, kind: "refused", reason: error.message });
    }
  }
  return outcomes;
}
