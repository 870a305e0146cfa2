/** Routes in use, as far as every folder knows them; what only one kind has is known to its module in `routes/`. */
import type { QuoteType } from "@sluice/sdk/wire";
import type { Address } from "../core/hex.ts";

/** The kinds of routes are those of quotes. */
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
  /** The route's contract on the source chain; on Solana the account whose orders settle. */
  readonly contract: Address;
  /** Unit of the price that the attestor signs for each sweep; null where sweeps carry no price. */
  readonly pricedIn: ChainToken | null;
  /** Whether deliveries are paid from inventory. */
  readonly fromInventory: boolean;
}

/** A route without its contract. */
export type RoutePair<Own extends RouteConfig = RouteConfig> = Omit<Own, "contract">;

/** A swap in one pool of Uniswap v3, at a price that the attestor signs. */
export interface SwapConfig {
  /** What comes out, on the chain of the deposit. */
  readonly tokenOut: Address;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  /** How far the pool's answer may be from what is fair. */
  readonly maxImpactBps: number;
  /** How far the pool may move between its answer and the swap; never more than the address allows. */
  readonly slippageBps: number;
}
