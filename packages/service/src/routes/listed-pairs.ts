/** Expands a group of routes in the configuration into pairs between chains. */
import { type ChainConfig, type ChainToken, findNamedToken } from "../config/index.ts";
import type { Address } from "../core/hex.ts";

/** Lists every pair of tokens with the same symbol on two different chains. */
export function listSameSymbols(
  symbols: readonly string[],
  chains: readonly ChainConfig[],
): readonly (ChainToken & { readonly destChain: number; readonly destToken: Address })[] {
  return chains.flatMap((source) =>
    symbols.flatMap((symbol) =>
      chains.flatMap((destination) => {
        const token = findNamedToken(source, symbol)?.address;
        const destToken = findNamedToken(destination, symbol)?.address;
        if (source === destination || !token || !destToken) return [];
        return [{ chainId: source.chainId, token, destChain: destination.chainId, destToken }];
      }),
    ),
  );
}
