/** The quoter: prices routes and issues deposit addresses, on a port of its own. Holds no key. */
import { listOwnAccounts } from "../config/index.ts";
import { implementationOf } from "@sluice/sdk/address";
import { toAddress } from "../core/hex.ts";
import { quote, type QuoteDeps } from "../quotes/index.ts";
import type { RoleContext } from "./context.ts";
import { createConfiguredFees } from "./fees.ts";

/** What the quote service answers with. */
export function createQuoter(context: RoleContext) {
  const { config } = context;
  const reserved = config.chains.flatMap((chain) => [
    ...listOwnAccounts(chain),
    // The code that every wallet runs; a payment to it is lost.
    ...(chain.kind === "evm" ? [implementationOf(chain.contracts.factory)] : []),
  ]);
  const deps: QuoteDeps = {
    db: context.db,
    clock: context.clock,
    random: context.random,
    chains: context.chains,
    routes: context.routes,
    fees: createConfiguredFees(context),
    tokens: config.chains.flatMap((chain) =>
      chain.tokens.map((token) => ({
        chainId: chain.chainId,
        evmChainId: chain.kind === "evm" ? chain.evmChainId : 0,
        ...token,
      })),
    ),
    format: context.format,
    reserved: new Set(
      [...reserved, ...config.routes.map((route) => route.contract)].map(toAddress),
    ),
    findVault: context.findVault,
    caps: { maxFeeBps: config.maxFeeBps, maxSlippageBps: config.maxSlippageBps },
  };
  return (...[request, principal]: [Parameters<typeof quote>[1], Parameters<typeof quote>[2]]) =>
    quote(deps, request, principal);
}
