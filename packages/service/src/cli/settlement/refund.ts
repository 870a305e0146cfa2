import { formatRefund } from "../../console/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { refundByOperator } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withSettlements } from "../with-settlements.ts";

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
    const { result, asked } = await refundByOperator(deps, request);
    const text = formatRefund({ ...config, display: addressFormat.display }, result, asked);
    return { json: { ...result, ...asked }, text };
  });
}
