/** An order of the client's example: 5 USDC on ethereum, to a new wallet on base. */
import { getAddress, isHex, slice } from "viem";
import { GOVERNED } from "../../src/core/commitment.ts";
import type { Order, Terms } from "../../../sdk/examples/accept-payment.ts";
import { USDC } from "./deposits.ts";
import type { World } from "./world.ts";

/** Returns the order and the operator's terms. `byte`, two hex digits, makes orders differ. */
export async function orderOf(
  world: World,
  byte: string,
): Promise<{ readonly order: Order; readonly terms: Terms }> {
  const { ethereum, base } = world.deployment.chains;
  const destination = world.newRecipient();
  const { quote } = await world.quote({ from: "ethereum", to: "base", recipient: destination });
  const { integrator, refundAuthority } = quote.payDepositCommitment ?? {};
  if (!integrator || !isHex(refundAuthority)) throw new Error("the quote has no commitment");
  return {
    order: {
      amount: 5n * USDC,
      fromChain: "ethereum",
      fromToken: ethereum.token,
      evmChainId: 900_002,
      toChain: "base",
      toChainId: 30,
      toToken: base.token,
      destination,
      orderId: `0x${byte.repeat(20)}`,
      waitMs: 60_000,
    },
    terms: {
      factory: world.factory,
      integrator,
      refundAuthority: getAddress(slice(refundAuthority, 12)),
      maxFeeBps: 50,
      maxSlippageBps: 100,
      ...GOVERNED,
    },
  };
}
