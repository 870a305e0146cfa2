import { type Config, findEvmChain } from "../../config/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import {
  refundSettlement,
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
} from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withSettlements } from "../with-settlements.ts";
import { nameOf } from "./assets.ts";

/** Ends a settlement for a refund: prints the refund authority's call, or on Solana queues the payment. */
export async function run(
  call: Call,
  { id, to, reason }: { readonly id: string; readonly to: string; readonly reason: string },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  // The family of the settlement's chain is compared with the commitment later.
  const parsed = addressFormat.parse(to, to.startsWith("0x") ? "evm" : "svm");
  if (parsed.kind === "invalid") {
    throw new UsageError(`--to: expected an address, got "${to}".`);
  }
  const request = {
    id,
    reason: parseReason(reason),
    operator: nameOperator(),
    to: parsed.address,
  };
  const result = await withSettlements(config, (deps) => refundSettlement(deps, request));
  return { json: result, text: formatRefund(config, result) };
}

/** Formats a refund for people: the refund authority's call, or the signer's payment. */
export function formatRefund(config: Pick<Config, "chains">, refund: RefundResult): string {
  return refund.kind === "call" ? formatCall(config, refund) : formatOrder(refund);
}

function formatOrder({ settlementId, changed, authority, chainId, intent }: RefundByOrder): string {
  return [
    `settlement ${settlementId} is dead and will not be swept${changed ? "" : " (its refund is already pending)"}.`,
    `The signer pays the balance of its deposit address to ${addressFormat.display(authority)} on ${nameOf(chainId)}, and to nobody else. The refund authority need not act.`,
    `The settler sends it as ${intent}. When it is final, \`sluice settlement show\` reports it. If it fails, run this command again.`,
  ].join("\n");
}

function formatCall(config: Pick<Config, "chains">, refund: RefundByCall): string {
  const { chainId, call, obstacle, authority } = refund;
  const { evmChainId } = findEvmChain(config, chainId) ?? {};
  return [
    `settlement ${refund.settlementId} is dead and will not be swept${refund.changed ? "" : " (a refund was prepared before)"}.`,
    `Only ${addressFormat.display(authority)} can take its deposits, with this transaction:`,
    `  chain  ${evmChainId ?? "?"} (${nameOf(chainId)})`,
    `  from   ${addressFormat.display(authority)}`,
    `  to     ${addressFormat.display(call.to)}`,
    `  value  ${call.value}`,
    `  data   ${call.data}`,
    ...(obstacle === null ? [] : [`The transaction would fail now: ${obstacle}.`]),
    "When it is final, `sluice settlement show` reports it.",
  ].join("\n");
}
