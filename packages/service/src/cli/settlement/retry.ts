import { type RetryResult, retrySettlement } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withSettlements } from "../with-settlements.ts";

/** Retries a failing settlement now, or settles the rest of a dead one as a new settlement. */
export async function run(
  call: Call,
  input: { readonly id: string; readonly reason: string },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const request = {
    id: input.id,
    reason: parseReason(input.reason),
    operator: nameOperator(),
  };
  const result = await withSettlements(config, (deps) => retrySettlement(deps, request));
  return { json: result, text: formatRetry(result) };
}

/** Formats the result of a retry for people. */
export function formatRetry({ kind, settlementId, changed }: RetryResult): string {
  if (kind === "rescheduled") {
    return `settlement ${settlementId} is ${changed ? "due now" : "already due"}`;
  }
  return changed
    ? `it is dead; settlement ${settlementId} now settles the balance of the deposit address`
    : `settlement ${settlementId} already settles the balance of the deposit address`;
}
