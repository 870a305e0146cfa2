/**
 * Corrects deposits after an outflow that was recorded late.
 *
 * A lock that the escrow returned: the return of native coin raised the balance while nothing explained it, so the comparison
 * of balances may have recorded it as a deposit, which it is not. A sweep or refund: the balance rose by less than the logs of
 * its block state, so its deposits were credited with a part, as of a token that keeps a fee.
 */
import type { BlockRef, Outflow } from "../../chains/port/index.ts";
import { isNative } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Tx } from "../../db/schema.ts";
import { type ArrivedValue, restateAmounts, takeFromFound } from "../../deposits/index.ts";
import { lockHoldings } from "../store/read.ts";

/** Takes late returns of native coin out of the deposits that were found by balance since. */
export async function correctFound(
  tx: Tx,
  { clock }: { readonly clock: Clock },
  block: BlockRef & { readonly chainId: number },
  outflows: readonly Outflow[],
): Promise<void> {
  const returned = outflows
    .filter(({ kind, token }) => kind === "returned" && isNative(token))
    .map(({ wallet, token, amount }) => ({
      chainId: block.chainId,
      wallet,
      token,
      amount: -amount,
    }));
  if (returned.length === 0) return;
  // A comparison of the balance that runs meanwhile would count the return once more.
  await lockHoldings(tx, returned);
  for (const one of returned) await takeFromFound(tx, one, block.number, clock.now());
}

/** Credits deposits with what the complete logs of their block confirm. */
export async function restateDeposits(tx: Tx, restated: readonly ArrivedValue[]): Promise<void> {
  if (restated.length === 0) return;
  await lockHoldings(tx, restated);
  for (const arrived of restated) await restateAmounts(tx, arrived);
}
