/** Checks before a lock that the destination can pay the recipient. */
import type { Chains } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Pair } from "./port.ts";

/**
 * Checks that the destination accepts a payment of `amountOut` (destination base units) to the wallet.
 * @throws OperatingError AMOUNT_TOO_SMALL if the amount is below the destination's minimum, RPC_UNAVAILABLE if that cannot
 *   be read.
 */
export async function assertPayable(
  chains: Chains,
  { destChain, destToken }: Pick<Pair, "destChain" | "destToken">,
  { destWallet, amountOut }: { readonly destWallet: Address; readonly amountOut: bigint },
): Promise<void> {
  const least = (await chains.get(destChain)?.getLeastPayment(destToken, destWallet)) ?? 1n;
  if (amountOut >= least) return;
  throw new OperatingError(
    "AMOUNT_TOO_SMALL",
    "The payment would leave the recipient's account below the minimum balance of its chain.",
    {
      details: {
        reason: "recipient_account",
        chainId: destChain,
        amountOut: amountOut.toString(),
        least: least.toString(),
      },
    },
  );
}
