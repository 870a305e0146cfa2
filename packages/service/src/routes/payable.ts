/** Checks before a lock that the destination can pay the recipient. */
import type { Chains } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Pair, Route } from "./port.ts";

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

/**
 * Simulates the payment to the recipient, before the sweep: a recipient that cannot be paid costs no reservation and no lock.
 * @throws OperatingError NO_ROUTE if only this recipient cannot be paid, RPC_UNAVAILABLE if the simulation gave no answer.
 */
export async function assertRecipientAccepts(
  chains: Chains,
  { pair: { destChain, destToken: token }, payer }: Pick<Route, "pair" | "payer">,
  {
    destWallet: to,
    amountOut: amount,
  }: { readonly destWallet: Address; readonly amountOut: bigint },
): Promise<void> {
  const destination = payer && chains.get(destChain);
  if (!destination) return;
  if ((await destination.simulatePayment({ payer, token, to, amount })) === "accepted") return;
  throw new OperatingError(
    "NO_ROUTE",
    "The destination wallet refuses the payment: it is frozen, blocked by the token, or does not accept native coin.",
    { details: { reason: "recipient_refuses", chainId: destChain } },
  );
}
