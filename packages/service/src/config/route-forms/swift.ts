/** `SWIFT`: to another chain, from inventory. */
import { pricedRouteBytecode, sameAssetRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import type { Frozen } from "../../core/frozen.ts";
import { padAddress } from "../../core/hex.ts";
import { deliveryOf } from "../chains.ts";
import { derive } from "../deployment.ts";
import { Flag, setting } from "../values.ts";
import type { RouteForm, Source } from "./form.ts";
import {
  decimalsOf,
  findNamed,
  type Given,
  NATIVE_NAME,
  resolveDestination,
  RoutePairPlace,
  TokenNames,
  listBetween,
} from "./settings.ts";

export const SwiftEntry = Type.Object(
  {
    kind: setting(Type.Literal("SWIFT"), "From inventory."),
    ...RoutePairPlace,
    priced: setting(
      Type.Optional(Flag),
      "Of one route: whether its two tokens are not the same asset, so that it needs their prices.",
      { default: false },
    ),
    tokens: setting(
      Type.Optional(TokenNames),
      "Of a group: symbols, each of which is exchanged **one for one** between all chains that list it. Name only what is the same asset on all of them: USDC of BSC, for one, is not Circle's.",
      { defaultText: "required in a group" },
    ),
  },
  { additionalProperties: false },
);
type Written = Static<typeof SwiftEntry>;

export type SwiftPair = Frozen<ReturnType<typeof resolve>>;

function resolve(written: Written, source: Source, at: string, given: Given) {
  return {
    kind: written.kind,
    ...source,
    ...resolveDestination(written, at, given),
    /** Whether the pair is not the same asset: sweeps carry a price that the attestor signs. */
    priced: written.priced ?? false,
  };
}

export const swift: RouteForm<Written, SwiftPair> = {
  kind: "SWIFT",
  single: ["destChain", "destToken"],
  wanted: "chains that list tokens",
  pricedBy: "priced",
  paysFromInventory: true,
  resolve,

  checkGroup(group, at, { chains, problems }) {
    if (!group.tokens) problems.push(`${at}.tokens: expected a list of symbols, it is missing`);
    if (group.priced) {
      problems.push(`${at}.priced: expected nothing in a group, its tokens are one asset`);
    }
    for (const [index, name] of group.tokens?.entries() ?? []) {
      const here = `${at}.tokens[${index}]`;
      if (name === NATIVE_NAME) {
        problems.push(`${here}: expected a symbol, native coins of two chains may be two assets`);
      } else if (chains.filter((chain) => findNamed(chain, name)).length < 2) {
        problems.push(`${here}: expected a token of two of its chains`);
      }
    }
  },

  /** The same symbol on two chains. */
  list({ kind, tokens = [] }, chains) {
    return listBetween(chains, tokens).map((pair) => ({ kind, ...pair, priced: false }));
  },

  derive({ chainId, token, destChain, destToken, priced }, { source, chains }) {
    const destination = chains.find((chain) => chain.chainId === destChain);
    if (!destination) return null;
    const decimalsIn = decimalsOf(source, token);
    const decimalsOut = decimalsOf(destination, destToken);
    if (decimalsIn === undefined || decimalsOut === undefined) return null;
    return derive(priced ? pricedRouteBytecode : sameAssetRouteBytecode, [
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

  check: () => [],
};
