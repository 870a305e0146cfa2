/** A refund at an operator's request: the settlement ends, and where the policies allow it the attestors are asked too. */
import { Bug } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { SettlementDeps } from "../deps.ts";
import { readSettlementFile } from "./file.ts";
import { type RefundByCall, type RefundResult, refundSettlement } from "./refund.ts";
import { refundAddress } from "./refund-address.ts";
import type { OperatorRequest } from "./request.ts";

/** A refund by policy of the deposits of a settlement that ended, or why there is none. */
export interface AskedAttestors {
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

/**
 * Ends a settlement for a refund to its authority, and asks the attestors for it.
 * @throws OperatingError VALIDATION_ERROR with the reason when there is nothing to refund, or for another recipient.
 */
export async function refundByOperator(
  deps: SettlementDeps,
  request: OperatorRequest & { readonly to: Address },
): Promise<{ readonly result: RefundResult; readonly asked: AskedAttestors | null }> {
  const result = await refundSettlement(deps, request);
  const asked = result.kind === "call" ? await askAttestors(deps, result, request) : null;
  return { result, asked };
}
