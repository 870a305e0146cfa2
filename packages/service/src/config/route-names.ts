/** Resolves the names of chains and tokens in an entry of `routes`. */
import { parseSolanaAddress } from "../core/base58.ts";
import {
  type Address,
  isEvmAddress,
  isNative,
  NATIVE_TOKEN,
  nativeOf,
  toEvmAddress,
} from "../core/hex.ts";
import type { ChainConfig } from "./chains.ts";
import type { TokenConfig } from "./tokens.ts";

/** Name of the native coin of any chain. */
export const NATIVE_NAME = "native";

/** Placeholder for a chain that was not found and already reported. */
export const NO_CHAIN = 0;

/** Resolver for one entry. Mistakes are added to `problems`. */
export interface RouteNames {
  /** The entry, such as `routes[0]`. */
  readonly setting: string;
  readonly problems: string[];
  /** Resolves a chain. Accepts any id; `findContradictions` checks that the chain is configured. */
  resolveChain(written: number | string | undefined, name: string): number;
  /** Resolves a token. Accepts any address; `findContradictions` checks that the chain lists it. */
  resolveToken(written: string | undefined, chainId: number, name: string): Address;
}

/** Creates the resolver of names in one entry. Mistakes are added to `problems` with the entry's setting. */
export function createRouteNames(
  setting: string,
  { chains, problems }: { readonly chains: readonly ChainConfig[]; readonly problems: string[] },
): RouteNames {
  return {
    setting,
    problems,

    resolveChain(written, name) {
      if (typeof written === "number") return written;
      const known = chains.find((chain) => chain.name === written);
      if (known) return known.chainId;
      const names = chains.map((chain) => chain.name).join(", ");
      const expected = `expected a bridge chain id, or the name of a configured chain (${names})`;
      const missing = written === undefined ? ", it is missing" : "";
      problems.push(`${setting}.${name}: ${expected}${missing}`);
      return NO_CHAIN;
    },

    resolveToken(written, chainId, name) {
      const chain = chains.find((known) => known.chainId === chainId);
      const { kind = "evm" } = chain ?? {};
      if (written === NATIVE_NAME) return nativeOf(kind);
      if (written !== undefined) {
        const address = kind === "evm" ? parseEvmAddress(written) : parseSolanaAddress(written);
        if (address !== undefined) return address;
      }
      // The chain was not found, which is reported already.
      if (!chain && written !== undefined) return NATIVE_TOKEN;
      const tokens = chain?.tokens ?? [];
      const found = tokens.filter(({ symbol }) => symbol === written);
      const [token] = found;
      if (token && found.length === 1) return token.address;
      const symbols = [...new Set(tokens.map(({ symbol }) => symbol)), NATIVE_NAME].join(", ");
      const problem =
        found.length > 1
          ? "expected an address, more than one token of the chain has the symbol"
          : `expected ${kind === "evm" ? "0x and 40 hex digits" : "32 bytes in base58"}, or one of ${symbols}`;
      const missing = written === undefined ? ", it is missing" : "";
      problems.push(`${setting}.${name}: ${problem}${missing}`);
      return NATIVE_TOKEN;
    },
  };
}

const parseEvmAddress = (text: string) => (isEvmAddress(text) ? toEvmAddress(text) : undefined);

/** Returns the token of a chain with a symbol, or its native coin for `native`; undefined if there is none. */
export function findNamedToken({ tokens }: ChainConfig, name: string): TokenConfig | undefined {
  return tokens.find(({ symbol, address }) =>
    name === NATIVE_NAME ? isNative(address) : symbol === name,
  );
}
