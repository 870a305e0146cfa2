/** The pairs and priced routes for which an attestor may sign. */
import {
  allowsRefund,
  type EarlyPayoutsConfig,
  type RefundPolicies,
  refundPolicyOf,
  type RouteConfig,
} from "../../config/index.ts";
import { deliveryIdOfPayout, hashCommitment } from "../../chains/evm/commitment.ts";
import { type Address, padAddress } from "../../core/hex.ts";
import type { AttestorRules } from "../guard.ts";
import { SignerRefusal } from "../refusal.ts";

/** Creates the policy from the configuration: payouts on pairs paid from inventory, prices of priced routes, refunds. */
export function createEvmAttestorPolicy(options: {
  /** By bridge chain id. */
  readonly chains: ReadonlyMap<number, { readonly delivery: Address }>;
  /** By source chain; a chain without an entry has no early payouts. */
  readonly earlyPayouts?: ReadonlyMap<number, EarlyPayoutsConfig>;
  readonly routes: readonly RouteConfig[];
  readonly refunds: RefundPolicies;
}): Omit<AttestorRules, "payoutWindowS"> {
  const { chains } = options;
  const fromInventory = options.routes.filter((route) => route.fromInventory);
  const priced = options.routes.filter(({ pricedIn }) => pricedIn !== null);
  return {
    identify(destChain, order) {
      const chain = chains.get(destChain);
      if (!chain)
        throw new SignerRefusal(`delivery to chain ${destChain}, which is not configured`);
      return {
        deliveryId: deliveryIdOfPayout(chain.delivery, order),
        commitment: hashCommitment(order.commitment),
      };
    },
    isPair: (destChain, { srcChain, srcToken, commitment }) =>
      fromInventory.some(
        (route) =>
          route.chainId === srcChain &&
          route.token === srcToken &&
          route.destChain === destChain &&
          padAddress(route.destToken) === commitment.destToken,
      ),
    earlyBoundsOf: (srcChain) =>
      options.earlyPayouts?.get(srcChain) ?? { exposure: 0n, acceptedLosses: [] },
    deliveryOf(destChain) {
      const chain = chains.get(destChain);
      if (chain) return padAddress(chain.delivery);
      throw new SignerRefusal(`delivery to chain ${destChain}, which is not configured`);
    },
    hashCommitment,
    checkRefund(chainId, { commitment, reason, maxAmount }) {
      if (!chains.has(chainId)) {
        throw new SignerRefusal(`refund on chain ${chainId}, which is not configured`);
      }
      if (maxAmount === 0n) throw new SignerRefusal("refund of nothing");
      const { refundAuthority } = commitment;
      if (!allowsRefund(refundPolicyOf(options.refunds, refundAuthority), reason)) {
        throw new SignerRefusal(
          `refunds: the reason ${reason} is not allowed to ${refundAuthority}`,
        );
      }
    },
    isPricedRoute: (srcChain, token, contract) =>
      priced.some(
        (route) =>
          route.chainId === srcChain && route.token === token && route.contract === contract,
      ),
  };
}
