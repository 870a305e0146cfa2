/** `sluice settlements retry`: retries the settlements of a filter. */
import { ERROR_CODE_NAMES } from "@sluice/sdk/wire";
import { findIntegrator } from "../../integrators/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import {
  listRetryable,
  RETRIED_STATUSES,
  type RetriedStatus,
  retryEach,
  type RetryOutcome,
} from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { parseRoute, parseToken } from "../pause/target.ts";
import { withSettlements } from "../with-settlements.ts";

/** Retries at most `limit` failing settlements; dead ones only where `--status` names them. */
export async function run(
  call: Call,
  input: {
    readonly status: readonly RetriedStatus[] | undefined;
    readonly chain: number | undefined;
    readonly token: string | undefined;
    readonly route: string | undefined;
    readonly code: string | undefined;
    readonly integrator: string | undefined;
    readonly olderThan: number | undefined;
    readonly limit: number;
    readonly dryRun: boolean;
    readonly reason: string;
  },
): Promise<Result> {
  const request = { reason: parseReason(input.reason), operator: nameOperator() };
  const { integrator, olderThan, limit, dryRun } = input;
  const { token, route, code } = readParts(input);
  const config = call.readConfig({ roles: [] });
  return withSettlements(config, async (deps) => {
    const chosen = await listRetryable(deps.db, {
      statuses: input.status ?? RETRIED_STATUSES.filter((status) => status !== "dead"),
      chainId: input.chain,
      token,
      route,
      errorCode: code,
      integratorId:
        integrator === undefined ? undefined : await findIntegrator(deps.db, integrator),
      changedBeforeMs: olderThan === undefined ? undefined : systemClock.now() - olderThan,
      limit,
    });
    if (dryRun) {
      const lines = chosen.map(
        ({ id, status, chainId, errorCode, changedAt }) =>
          `${id}  ${status} on chain ${chainId} since ${changedAt}  ${errorCode ?? ""}`,
      );
      const text = [...lines, `${chosen.length} settlement(s) would be retried`].join("\n");
      return { json: { dryRun, settlements: chosen }, text };
    }
    const ids = chosen.map(({ id }) => id);
    const outcomes = await retryEach(deps, ids, request);
    return { json: { dryRun, outcomes }, text: format(outcomes) };
  });
}

/** @throws UsageError for a token without its chain, and for a route or code that does not exist. */
function readParts({
  chain,
  token,
  route,
  code,
}: Readonly<Record<"token" | "route" | "code", string | undefined>> & {
  readonly chain: number | undefined;
}) {
  if (token !== undefined && chain === undefined) {
    throw new UsageError("--token: expected --chain beside it.");
  }
  const known = ERROR_CODE_NAMES.find((name) => name === code);
  if (code !== undefined && known === undefined) {
    throw new UsageError(`--code: expected one of ${ERROR_CODE_NAMES.join(", ")}.`);
  }
  return {
    token: token === undefined ? undefined : parseToken(chain ?? 0, token),
    route: route === undefined ? undefined : parseRoute(route),
    code: known,
  };
}

function format(outcomes: readonly RetryOutcome[]): string {
  const lines = outcomes.map((outcome) => {
    if (outcome.kind === "refused") return `${outcome.id}  refused: ${outcome.reason}`;
    return outcome.kind === "rescheduled"
      ? `${outcome.id}  ${outcome.changed ? "due now" : "due already"}`
      : `${outcome.id}  settled again as ${outcome.settlementId}`;
  });
  const retried = outcomes.filter((outcome) => outcome.kind !== "refused" && outcome.changed);
  return [...lines, `${retried.length} of ${outcomes.length} settlement(s) retried`].join("\n");
}
