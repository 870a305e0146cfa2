/** The quoter: prices routes and issues deposit addresses, on a separate port. Holds no key. */
import { listOwnAccounts } from "../config/index.ts";
import { implementationOf } from "@sluice/sdk/address";
import type { AddressesRequest, QuoteRequest } from "@sluice/sdk/wire";
import type { DepositAddress } from "../addresses/index.ts";
import type { KeyHolder } from "../integrators/index.ts";
import { toAddress } from "../core/hex.ts";
import { createInTurn } from "../core/in-turn.ts";
import { issueMany, listPayable, quote, type QuoteDeps, quotePayment } from "../quotes/index.ts";
import type { Parts } from "./context.ts";
import { createConfiguredFees } from "./fees.ts";

/** Parts of the quoter. */
export const QUOTER_PARTS = [
  "config",
  "db",
  "clock",
  "random",
  "log",
  "health",
  "chains",
  "prices",
  "routes",
  "format",
  "findVault",
  "nodeMeter",
] as const;
export type QuoterParts = Parts<(typeof QUOTER_PARTS)[number]>;

/** Returns the functions that answer quotes, and that issue addresses without them. */
export function createQuoter(
  context: Omit<QuoterParts, "log" | "health" | "nodeMeter">,
  admitNewAddress?: QuoteDeps["admitNewAddress"],
) {
  const { config } = context;
  // Value sent to one of these accounts would be lost, or would enter the service's own books.
  const reserved = config.chains.flatMap((chain) => [
    ...listOwnAccounts(chain),
    // The implementation behind every wallet is no recipient: a payment to it is lost.
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
        // `chainId` of a quote's token is an EIP-155 id, which Solana does not have.
        evmChainId: chain.kind === "evm" ? chain.evmChainId : 0,
        ...token,
      })),
    ),
    evmChainIds: new Map(
      config.chains.flatMap((chain) =>
        chain.kind === "evm" ? [[chain.chainId, chain.evmChainId] as const] : [],
      ),
    ),
    format: context.format,
    reserved: new Set(
      [...reserved, ...config.routes.map((route) => route.contract)].map(toAddress),
    ),
    findVault: context.findVault,
    inTurn: createInTurn(),
    quotas: config.quotas,
    admitNewAddress,
    caps: { maxFeeBps: config.maxFeeBps, maxSlippageBps: config.maxSlippageBps },
  };
  return {
    tokens: deps.tokens,
    quote: (request: QuoteRequest, holder: KeyHolder) => quote(deps, request, holder),
    listPayable: (address: DepositAddress) => listPayable(deps, address),
    quotePayment: (asked: Parameters<typeof quotePayment>[1]) => quotePayment(deps, asked),
    issueMany: (request: AddressesRequest, holder: KeyHolder) => issueMany(deps, request, holder),
  };
}
