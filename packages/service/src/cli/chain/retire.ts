import { retireChain } from "../../addresses/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { hasOpenWork } from "../../health/index.ts";
import type { Call, Result } from "../command.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";
import { formatLeft, showLeft } from "./left.ts";

/** Retires a drained chain: from the next start on, the service works as if it were not configured. */
export async function run(
  call: Call,
  {
    chain: chainId,
    reason,
    leaveBalances,
  }: { readonly chain: number; readonly reason: string; readonly leaveBalances: boolean },
): Promise<Result> {
  const record = { chainId, reason: parseReason(reason), operator: nameOperator() };
  return withDatabase(call.readConfig({ roles: [] }), async ({ db }) => {
    const left = await showLeft(db, chainId);
    const holds = left.balances.length > 0;
    if (hasOpenWork(left) || (holds && !leaveBalances)) {
      const hint = hasOpenWork(left)
        ? ""
        : "\nWith --leave-balances they stay with their refund authorities.";
      throw new OperatingError(
        "VALIDATION_ERROR",
        `Chain ${chainId} is not empty.\n${formatLeft(left)}${hint}`,
      );
    }
    const changed = await retireChain(db, record);
    const text = changed
      ? `chain ${chainId} is retired: restart every process, then remove it from the configuration`
      : `chain ${chainId} is retired already`;
    return { json: { chainId, changed, left }, text };
  });
}
