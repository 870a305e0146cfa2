/** Resolved routes: the properties of every kind. Those of one kind are in its module in `routes/`. */
import type { QuoteType } from "@sluice/sdk/wire";
import type { Address } from "../core/hex.ts";

/** The kinds of routes, as on the wire. */
export type RouteKind = QuoteType;

/** A token on its chain. */
export interface ChainToken {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly token: Address;
}

export interface RouteConfig extends ChainToken {
  readonly kind: RouteKind;
  readonly destChain: number;
  readonly destToken: Address;
  /** The route's contract on the source chain; on Solana the account whose orders settle the route. */
  readonly contract: Address;
  /** Unit of the price that the attestor signs for each sweep; null if sweeps carry no price. */
  readonly pricedIn: ChainToken | null;
  /** Whether deliveries are paid from inventory. */
  readonly fromInventory: boolean;
}

/** A route without its contract. */
export type RoutePair<Own extends RouteConfig = RouteConfig> = Omit<Own, "contract">;

/** A pool swap in one Uniswap v3 pool, at a price that the attestor signs. */
export interface SwapConfig {
  /** Output token, on the source chain. */
  readonly tokenOut: Address;
  /** Fee of the pool, in hundredths of a basis point. */
  readonly poolFee: number;
  /** Maximum difference between the pool's quote and the fair amount, in basis points. */
  readonly maxImpactBps: number;
  /** Maximum move of the pool between its quote and the pool swap, in basis points; at most the committed slippage. */
  readonly slippageBps: number;
  readonly limits: SwapLimitsConfig;
}

/** The limits that the contract of a pool swap was deployed with, which bind whatever the attestors sign. */
export interface SwapLimitsConfig {
  /** Seconds over which the pool's price is averaged. */
  readonly windowS: number;
  /** How far below the averaged price a swap may end, in basis points. */
  readonly toleranceBps: number;
  /** First daily cap of the input, in whole units. The contract has the one of now. */
  readonly perDayUnits: string;
}
