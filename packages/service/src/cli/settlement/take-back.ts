import { type Config, findEvmChain } from "../../config/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { planTakeBack, type TakeBackPlan } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { withSettlements } from "../with-settlements.ts";
import { nameOf } from "../../console/index.ts";

/** Prints the refund authority's next call to take a lock back. Changes and records nothing. */
export async function run(
  call: Call,
  { id, cancel }: { readonly id: string; readonly cancel: boolean },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const plan = await withSettlements(config, (deps) => planTakeBack(deps, { id, cancels: cancel }));
  return { json: plan, text: formatTakeBack(config, plan) };
}

/** Formats the next step of a take-back for people. */
export function formatTakeBack(config: Pick<Config, "chains">, plan: TakeBackPlan): string {
  const { authority, call, chainId, obstacle } = plan;
  const { evmChainId } = findEvmChain(config, chainId) ?? {};
  return [
    describeStep(plan),
    `Only ${addressFormat.display(authority)} can do it, with this transaction:`,
    `  chain  ${evmChainId ?? "?"} (${nameOf(chainId)})`,
    `  from   ${addressFormat.display(authority)}`,
    `  to     ${addressFormat.display(call.to)}`,
    `  value  ${call.value}`,
    `  data   ${call.data}`,
    ...(obstacle === null ? [] : [`The transaction would fail now: ${obstacle}.`]),
  ].join("\n");
}

function describeStep({ step, lock, settlementId }: TakeBackPlan): string {
  const from = lock && new Date(Number(lock.possibleFrom) * 1000).toISOString();
  switch (step) {
    case "announce":
      return [
        `Step 1 of 2: announce the take-back of the lock of settlement ${settlementId}.`,
        "While the announcement stands, the deposit address locks nothing of this token.",
        `Announced now, the lock can be taken back from ${from}. Run this command again then.`,
      ].join("\n");
    case "take_back":
      return `Step 2 of 2: take the lock of settlement ${settlementId} back, from ${from}.`;
    case "cancel":
      return "Cancel the announcement: the deposit address then locks again.";
  }
}
