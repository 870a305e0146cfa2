/** Configured routes, of the settings that differ between tests. */
import type { Address } from "../../src/core/hex.ts";
import type { SwapConfig } from "../../src/config/index.ts";
import type { BridgeConfig } from "../../src/routes/fast-mctp/config.ts";
import type { MonoChainConfig } from "../../src/routes/mono-chain/config.ts";
import type { SwiftConfig } from "../../src/routes/swift/config.ts";

interface Source {
  readonly chainId: number;
  readonly token: Address;
  readonly contract: Address;
}
interface Between extends Source {
  readonly destChain: number;
  readonly destToken: Address;
}
type MonoChain = Source & { readonly kind: "MONO_CHAIN"; readonly swap?: SwapConfig };
type Swift = Between & { readonly kind: "SWIFT"; readonly priced: boolean };
type Bridge = Between & { readonly kind: "FAST_MCTP"; readonly swap?: SwapConfig };

export type RouteGiven = MonoChain | Swift | Bridge;

/** Completes a route as the configuration does. */
export function configuredRoute(given: MonoChain): MonoChainConfig;
export function configuredRoute(given: Swift): SwiftConfig;
export function configuredRoute(given: Bridge): BridgeConfig;
export function configuredRoute(given: RouteGiven): MonoChainConfig | SwiftConfig | BridgeConfig;
export function configuredRoute(given: RouteGiven) {
  const { chainId, token } = given;
  if (given.kind === "SWIFT") {
    const { priced, ...route } = given;
    const destination = { chainId: route.destChain, token: route.destToken };
    return { ...route, pricedIn: priced ? destination : null, fromInventory: true };
  }
  const { swap = null, ...route } = given;
  const pricedIn = swap && { chainId, token: swap.tokenOut };
  const rest = { pricedIn, fromInventory: false, swap };
  return route.kind === "FAST_MCTP"
    ? { ...route, ...rest }
    : { ...route, ...rest, destChain: chainId, destToken: swap?.tokenOut ?? token };
}
