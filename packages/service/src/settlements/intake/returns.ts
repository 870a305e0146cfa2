/**
 * Locks that the escrow returned, recorded late. The return of native coin raised the balance while nothing explained it, so
 * the comparison of balances may have recorded it as a deposit, which it is not.
 */
import type { BlockRef, Outflow } from "../../chains/port/index.ts";
import { isNative } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Tx } from "../../db/schema.ts";
import { takeFromFound } from "../../deposits/index.ts";
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
