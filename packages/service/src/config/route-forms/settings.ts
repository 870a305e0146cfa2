/** The settings that kinds of routes share, and what their names lead to. */
import { Type } from "typebox";
import { parseSolanaAddress } from "../../core/base58.ts";
import {
  type Address,
  isEvmAddress,
  isNative,
  NATIVE_TOKEN,
  nativeOf,
  toEvmAddress,
} from "../../core/hex.ts";
import type { ChainConfig } from "../chains.ts";
import type { TokenConfig } from "../tokens.ts";
import { BridgeId, EvmAddressText, setting } from "../values.ts";

/** A chain of the file, as routes name it. */
const ChainName = Type.Union([BridgeId, Type.String({ minLength: 1, maxLength: 32 })], {
  description: "a bridge chain id, or the name of a chain",
});
export const TokenName = Type.String({
  minLength: 1,
  maxLength: 44,
  description: "0x and 40 hex digits, or the symbol of a token of the chain, or native",
});
const ChainNames = Type.Array(ChainName, {
  minItems: 1,
  description: "a list of chains, by bridge chain id or name",
});
export const TokenNames = Type.Array(Type.String({ minLength: 1, maxLength: 16 }), {
  minItems: 1,
  description: "a list of symbols",
});

/** The settings of one route on one chain, and of a group of routes; `routes.ts` tells the two apart. */
export const RoutePlace = {
  chainId: setting(
    Type.Optional(ChainName),
    'Of one route: the chain where it begins, by bridge chain id or name (`"base"`).',
    { defaultText: "none: the entry is a group" },
  ),
  token: setting(
    Type.Optional(TokenName),
    'Of one route: the deposited token, by address, by the symbol of a token that the chain lists, or `"native"`.',
    { defaultText: "none: the entry is a group" },
  ),
  contract: setting(Type.Optional(EvmAddressText), "Of one route: its contract.", {
    defaultText: "the one that follows from `deployment`",
  }),
  chains: setting(Type.Optional(ChainNames), "Of a group: the chains that it is kept to.", {
    defaultText: "all chains",
  }),
};
/** The same of routes between two chains. */
export const RoutePairPlace = {
  ...RoutePlace,
  destChain: setting(Type.Optional(ChainName), "Of one route: the chain where it ends.", {
    defaultText: "none: the entry is a group",
  }),
  destToken: setting(Type.Optional(TokenName), "Of one route: the delivered token.", {
    defaultText: "none: the entry is a group",
  }),
};

/** Chains of the file, where mistakes are added to `problems`. */
export interface Given {
  readonly chains: readonly ChainConfig[];
  readonly problems: string[];
}

/** How a token of any chain is called that has no contract. */
export const NATIVE_NAME = "native";

/** Stands in for a chain that could not be found, and was named. */
export const NO_CHAIN = 0;

/** An id is taken as it is: whether the chain is configured is checked with everything else. */
export function resolveChainName(
  written: number | string | undefined,
  setting: string,
  { chains, problems }: Given,
): number {
  if (typeof written === "number") return written;
  const known = chains.find(({ name }) => name === written);
  if (known) return known.chainId;
  const names = chains.map(({ name }) => name).join(", ");
  const expected = `expected a bridge chain id, or the name of a configured chain (${names})`;
  problems.push(`${setting}: ${expected}${written === undefined ? ", it is missing" : ""}`);
  return NO_CHAIN;
}

/** An address is taken as it is: whether the chain lists it is checked with everything else. */
export function resolveTokenName(
  written: string | undefined,
  chainId: number,
  setting: string,
  { chains, problems }: Given,
): Address {
  const chain = chains.find((known) => known.chainId === chainId);
  const { kind = "evm" } = chain ?? {};
  if (written === NATIVE_NAME) return nativeOf(kind);
  if (written !== undefined) {
    const address = kind === "evm" ? parseEvmAddress(written) : parseSolanaAddress(written);
    if (address !== undefined) return address;
  }
  // The chain is named first.
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
  problems.push(`${setting}: ${problem}${written === undefined ? ", it is missing" : ""}`);
  return NATIVE_TOKEN;
}

const parseEvmAddress = (text: string) => (isEvmAddress(text) ? toEvmAddress(text) : undefined);

/** Finds a token of a chain by the name that a group has for it. */
export function findNamed(
  { tokens }: Pick<ChainConfig, "tokens">,
  name: string,
): TokenConfig | undefined {
  return tokens.find(({ symbol, address }) =>
    name === NATIVE_NAME ? isNative(address) : symbol === name,
  );
}

/** Returns the decimals of a listed token, or undefined. */
export function decimalsOf(
  { tokens }: Pick<ChainConfig, "tokens">,
  token: Address,
): number | undefined {
  return tokens.find(({ address }) => address === token)?.decimals;
}

/** Resolves where a route between two chains ends. */
export function resolveDestination(
  written: { readonly destChain?: number | string; readonly destToken?: string },
  setting: string,
  given: Given,
) {
  const destChain = resolveChainName(written.destChain, `${setting}.destChain`, given);
  const destToken = resolveTokenName(written.destToken, destChain, `${setting}.destToken`, given);
  return { destChain, destToken };
}

/** Lists the pairs of each symbol between chains that list it. */
export function listBetween(chains: readonly ChainConfig[], symbols: readonly string[]) {
  return chains.flatMap((source) =>
    symbols.flatMap((symbol) =>
      chains.flatMap((destination) => {
        const token = findNamed(source, symbol)?.address;
        const destToken = findNamed(destination, symbol)?.address;
        if (source === destination || !token || !destToken) return [];
        return [{ chainId: source.chainId, token, destChain: destination.chainId, destToken }];
      }),
    ),
  );
}
