import { type Config, findEvmChain } from "../../config/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { Bug } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import {
  readSettlementFile,
  refundAddress,
  refundSettlement,
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
  type SettlementDeps,
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
  return withSettlements(config, async (deps) => {
    const result = await refundSettlement(deps, request);
    const asked = result.kind === "call" ? await askAttestors(deps, result, request) : null;
    return { json: { ...result, ...asked }, text: formatRefund(config, result, asked) };
  });
}

/** A refund by policy of the deposits of a settlement that ended, or why there is none. */
interface AskedAttestors {
  readonly attested: { readonly intent: string; readonly policyReason: string } | null;
  readonly notAttested: string | null;
}

/** Asks the attestors for the refund too, where the policies allow it. The authority's own call works in any case. */
async function askAttestors(
  deps: SettlementDeps,
  { chainId, settlementId }: RefundByCall,
  request: { readonly to: Address; readonly operator: string; readonly reason: string },
): Promise<AskedAttestors> {
  const settlement = await readSettlementFile(deps.db, settlementId);
  try {
    if (!settlement) throw new Bug("the settlement was just ended");
    const { wallet, token } = settlement.settlement;
    const { refund } = await refundAddress(deps, { ...request, chainId, wallet, token });
    const policyReason = refund.attested?.reason ?? "";
    return { attested: { intent: refund.intent, policyReason }, notAttested: null };
  } catch (error) {
    if (!(error instanceof OperatingError) || error.code !== "VALIDATION_ERROR") throw error;
    return { attested: null, notAttested: error.message };
  }
}

/** Formats a refund for people: the refund authority's call, or the signer's payment. */
export function formatRefund(
  config: Pick<Config, "chains">,
  refund: RefundResult,
  asked: AskedAttestors | null = null,
): string {
  if (refund.kind === "order") return formatOrder(refund);
  const { attested } = asked ?? {};
  if (!attested) return formatCall(config, refund);
  return [
    `settlement ${refund.settlementId} is dead and will not be swept${refund.changed ? "" : " (a refund was prepared before)"}.`,
    `The attestors are asked to sign the refund as ${attested.policyReason}; then the settler sends ${attested.intent}. \`sluice addresses refund\` shows its progress.`,
    `${addressFormat.display(refund.authority)} need not act, and can take its deposits itself at any time: \`sluice rescue\` prints its transaction.`,
  ].join("\n");
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
