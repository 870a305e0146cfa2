/** Formats the refund of a settlement for operators. */
import { type Config, findEvmChain } from "../config/index.ts";
import type {
  AskedAttestors,
  RefundByCall,
  RefundByOrder,
  RefundResult,
} from "../settlements/index.ts";
import { nameOf } from "./assets.ts";
import type { DescribeContext } from "./describe.ts";

/** Formats a refund for people: the refund authority's call, or the signer's payment. */
export function formatRefund(
  { display, ...config }: DescribeContext,
  refund: RefundResult,
  asked: AskedAttestors | null = null,
): string {
  if (refund.kind === "order") return formatOrder(refund, display);
  const { attested } = asked ?? {};
  if (!attested) return formatCall(config, refund, display);
  return [
    `settlement ${refund.settlementId} is dead and will not be swept${refund.changed ? "" : " (a refund was prepared before)"}.`,
    `The attestors are asked to sign the refund as ${attested.policyReason}; then the settler sends ${attested.intent}. \`sluice addresses refund\` shows its progress.`,
    `${display(refund.authority)} need not act, and can take its deposits itself at any time: \`sluice rescue\` prints its transaction.`,
  ].join("\n");
}

function formatOrder(
  { settlementId, changed, authority, chainId, intent }: RefundByOrder,
  display: DescribeContext["display"],
): string {
  return [
    `settlement ${settlementId} is dead and will not be swept${changed ? "" : " (its refund is already pending)"}.`,
    `The signer pays the balance of its deposit address to ${display(authority)} on ${nameOf(chainId)}, and to nobody else. The refund authority need not act.`,
    `The settler sends it as ${intent}. When it is final, \`sluice settlement show\` reports it. If it fails, run this command again.`,
  ].join("\n");
}

function formatCall(
  config: Pick<Config, "chains">,
  refund: RefundByCall,
  display: DescribeContext["display"],
): string {
  const { chainId, call, obstacle, authority } = refund;
  const { evmChainId } = findEvmChain(config, chainId) ?? {};
  return [
    `settlement ${refund.settlementId} is dead and will not be swept${refund.changed ? "" : " (a refund was prepared before)"}.`,
    `Only ${display(authority)} can take its deposits, with this transaction:`,
    `  chain  ${evmChainId ?? "?"} (${nameOf(chainId)})`,
    `  from   ${display(authority)}`,
    `  to     ${display(call.to)}`,
    `  value  ${call.value}`,
    `  data   ${call.data}`,
    ...(obstacle === null ? [] : [`The transaction would fail now: ${obstacle}.`]),
    "When it is final, `sluice settlement show` reports it.",
  ].join("\n");
}
