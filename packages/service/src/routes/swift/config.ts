/** Configuration of routes of the kind `SWIFT`. */
import { pricedRouteBytecode, sameAssetRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import {
  type ChainToken,
  deliveryOf,
  derive,
  findDestinationProblems,
  findEvmChain,
  findNamedToken,
  Flag,
  NATIVE_NAME,
  RouteBetween,
  type RouteConfig,
  type RouteDefinition,
  setting,
  TokenNames,
} from "../../config/index.ts";
import { padAddress } from "../../core/hex.ts";
import { listSameSymbols } from "../listed-pairs.ts";
import { decimalsOf } from "../pool-config.ts";

export interface SwiftConfig extends RouteConfig {
  readonly kind: "SWIFT";
}

const Written = Type.Object(
  {
    kind: setting(Type.Literal("SWIFT"), "Pays from inventory."),
    ...RouteBetween,
    priced: setting(
      Type.Optional(Flag),
      "Only for one route: whether its two tokens are different assets, so that their prices are needed.",
      { default: false },
    ),
    tokens: setting(
      Type.Optional(TokenNames),
      "Only in a group: symbols, each exchanged **one for one** between all chains that list it. Name only symbols that are the same asset on every chain: USDC on BSC, for example, is not issued by Circle.",
      { defaultText: "required in a group" },
    ),
  },
  { additionalProperties: false },
);

export const definition: RouteDefinition<Static<typeof Written>, SwiftConfig> = {
  kind: "SWIFT",
  schema: Written,
  ofOne: ["destChain", "destToken"],
  isDefault: false,
  pricedBy: "priced",
  groupNeeds: "chains that list tokens",

  resolve(written, source, { resolveChain, resolveToken }) {
    const chainId = resolveChain(written.destChain, "destChain");
    const token = resolveToken(written.destToken, chainId, "destToken");
    return pairOf(source, { chainId, token }, written.priced ?? false);
  },

  checkGroup({ tokens, priced }, chains, { setting: at, problems }) {
    if (!tokens) problems.push(`${at}.tokens: expected a list of symbols, got nothing`);
    if (priced) {
      problems.push(`${at}.priced: expected nothing in a group, because each symbol is one asset`);
    }
    for (const [index, name] of (tokens ?? []).entries()) {
      const place = `${at}.tokens[${index}]`;
      if (name === NATIVE_NAME) {
        problems.push(
          `${place}: expected a symbol, because native coins of two chains may be different assets`,
        );
      } else if (chains.filter((chain) => findNamedToken(chain, name)).length < 2) {
        problems.push(`${place}: expected a token that two of its chains list`);
      }
    }
  },

  listPairs: ({ tokens }, chains) =>
    listSameSymbols(tokens ?? [], chains).map(({ destChain, destToken, ...source }) =>
      pairOf(source, { chainId: destChain, token: destToken }, false),
    ),

  derive(_, chains, { chainId, token, destChain, destToken, pricedIn }) {
    const source = findEvmChain({ chains }, chainId);
    const destination = chains.find((chain) => chain.chainId === destChain);
    if (!source || !destination) return null;
    const decimalsIn = decimalsOf(source, token);
    const decimalsOut = decimalsOf(destination, destToken);
    if (decimalsIn === undefined || decimalsOut === undefined) return null;
    return derive(pricedIn ? pricedRouteBytecode : sameAssetRouteBytecode, [
      source.evmChainId,
      chainId,
      token,
      decimalsIn,
      source.contracts.escrow,
      destChain,
      padAddress(destToken),
      decimalsOut,
      padAddress(deliveryOf(destination)),
    ]);
  },

  accountOf: ({ accounts }) => accounts.escrow,

  findContradictions: findDestinationProblems,
};

function pairOf(
  source: ChainToken,
  destination: ChainToken,
  priced: boolean,
): Omit<SwiftConfig, "contract"> {
  return {
    kind: "SWIFT",
    ...source,
    destChain: destination.chainId,
    destToken: destination.token,
    pricedIn: priced ? destination : null,
    fromInventory: true,
  };
}
