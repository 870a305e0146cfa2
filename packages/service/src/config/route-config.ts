/** Routes in use. */
import type { EvmAddress } from "../core/hex.ts";

/** A swap in one pool of Uniswap v3, at a price that the attestor signs. */
export interface SwapConfig {
  /** What comes out, on the chain of the deposit. */
  readonly tokenOut: EvmAddress;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  /** How far the pool's answer may be from what is fair. */
  readonly maxImpactBps: number;
  /** How far the pool may move between its answer and the swap; never more than the address allows. */
  readonly slippageBps: number;
}

export type RouteConfig =
  | {
      readonly kind: "MONO_CHAIN";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly contract: EvmAddress;
      /** How another token is delivered than the deposited one. */
      readonly swap?: SwapConfig;
    }
  | {
      readonly kind: "SWIFT";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly destChain: number;
      readonly destToken: EvmAddress;
      readonly contract: EvmAddress;
      /** The pair is not the same asset: sweeps carry a price that the attestor signs. */
      readonly priced: boolean;
    }
  | {
      readonly kind: "FAST_MCTP";
      readonly chainId: number;
      readonly token: EvmAddress;
      readonly destChain: number;
      readonly destToken: EvmAddress;
      readonly contract: EvmAddress;
      /** How another token becomes what the bridge carries. */
      readonly swap?: SwapConfig;
    };

/** A route without its contract. */
export type RoutePair = WithoutContract<RouteConfig>;
type WithoutContract<Route> = Route extends unknown ? Omit<Route, "contract"> : never;
