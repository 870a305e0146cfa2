/** Finds the configured objects that a route names. The configuration was validated at load, so a missing object is a bug. */
import type { Chain, Chains } from "../chains/port/index.ts";
import {
  type ChainConfig,
  type Config,
  type EvmChain,
  findEvmChain,
  type RouteConfig,
  type TokenConfig,
} from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";

/** Returns the chain of a bridge id. Throws CONFIG_MISSING. */
export function getChain(chains: Chains, chainId: number): Chain {
  const chain = chains.get(chainId);
  if (!chain) throw missing("chain", chainId);
  return chain;
}

/** Returns the settings of a chain. Throws CONFIG_MISSING. */
export function getChainConfig({ chains }: Pick<Config, "chains">, chainId: number): ChainConfig {
  const chain = chains.find((known) => known.chainId === chainId);
  if (!chain) throw missing("chain", chainId);
  return chain;
}

/** Returns the settings of a chain that holds contracts of routes. Throws CONFIG_MISSING. */
export function getEvmChainConfig(config: Pick<Config, "chains">, chainId: number): EvmChain {
  const chain = findEvmChain(config, chainId);
  if (!chain) throw missing("chain", chainId);
  return chain;
}

/** Returns the settings of a listed token. Throws CONFIG_MISSING. */
export function getToken(
  config: Pick<Config, "chains">,
  chainId: number,
  address: Address,
): TokenConfig {
  const { tokens } = getChainConfig(config, chainId);
  const token = tokens.find((known) => known.address === address);
  if (!token) throw missing("token", chainId);
  return token;
}

/** Names a route for people, such as `SWIFT USDC of chain 2 to USDC of chain 30`. */
export function describeRoute(config: Pick<Config, "chains">, route: RouteConfig): string {
  const { symbol } = getToken(config, route.chainId, route.token);
  const source = `${route.kind} ${symbol} of chain ${route.chainId}`;
  const { destChain, destToken } = route;
  if (destChain === route.chainId && destToken === route.token) return source;
  return `${source} to ${getToken(config, destChain, destToken).symbol} of chain ${destChain}`;
}

/**
 * Returns the part of a chain that work under way needs.
 * @throws OperatingError CONFIG_MISSING, which defers the work, if the chain is no longer configured.
 */
export function getConfigured<Part>(
  parts: ReadonlyMap<number, Part>,
  chainId: number,
  message: string,
): Part {
  const part = parts.get(chainId);
  if (part) return part;
  throw new OperatingError("CONFIG_MISSING", message, { details: { chainId } });
}

/** Returns the error for an object that the configuration lacks. */
export function missing(what: string, chainId: number): OperatingError {
  return new OperatingError("CONFIG_MISSING", `Not configured: ${what} (chain ${chainId}).`, {
    details: { chainId },
  });
}
