/** Whether a recipient can be given what a settlement would pay: found out before anything is locked for it. */
import type { Chains } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Pair } from "./port.ts";

/**
 * Throws AMOUNT_TOO_SMALL where the destination would not let so little be paid to the wallet now; RPC_UNAVAILABLE where
 * that cannot be read. `amountOut` is in destination base units.
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
    "The recipient's account would hold less than its chain asks an account to have.",
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
