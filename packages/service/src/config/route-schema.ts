/** Routes as the file has them. */
import { type Static, Type } from "typebox";
import { Bps, BridgeId, EvmAddressText, Flag, setting } from "./values.ts";

/** A chain of the file, as routes name it. */
const ChainName = Type.Union([BridgeId, Type.String({ minLength: 1, maxLength: 32 })], {
  description: "a bridge chain id, or the name of a chain",
});
const TokenName = Type.String({
  minLength: 1,
  maxLength: 44,
  description: "0x and 40 hex digits, or the symbol of a token of the chain, or native",
});
const ChainNames = Type.Array(ChainName, {
  minItems: 1,
  description: "a list of chains, by bridge chain id or name",
});
const TokenNames = Type.Array(Type.String({ minLength: 1, maxLength: 16 }), {
  minItems: 1,
  description: "a list of symbols",
});

/**
 * What one route says, and what a group of routes says instead: which of the two an entry is, and whether it is whole, is
 * told by `routes.ts`.
 */
const RoutePlace = {
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
const RoutePair = {
  ...RoutePlace,
  destChain: setting(Type.Optional(ChainName), "Of one route: the chain where it ends.", {
    defaultText: "none: the entry is a group",
  }),
  destToken: setting(Type.Optional(TokenName), "Of one route: the delivered token.", {
    defaultText: "none: the entry is a group",
  }),
};

/** Of a route that swaps. */
export const SWAP_IMPACT_MAX_BPS = 100;
export const SWAP_SLIPPAGE_BPS = 50;

const Pool = {
  poolFee: setting(
    Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999_999,
        description: "the fee of a pool in hundredths of a basis point, 1 to 999999",
      }),
    ),
    "Of a route that swaps: the fee of the Uniswap pool.",
    { defaultText: "required where the route swaps" },
  ),
  maxImpactBps: setting(
    Type.Optional(Bps),
    "Of a route that swaps: how far the pool's answer may be from the fair price.",
    { default: SWAP_IMPACT_MAX_BPS },
  ),
  slippageBps: setting(
    Type.Optional(Bps),
    "Of a route that swaps: how far the pool may then move, never more than the address allows.",
    { default: SWAP_SLIPPAGE_BPS },
  ),
};

export const WrittenRoute = Type.Union([
  Type.Object(
    {
      kind: setting(Type.Literal("MONO_CHAIN"), "On the chain of the deposit."),
      ...RoutePlace,
      destToken: setting(
        Type.Optional(TokenName),
        "Of one route: another token of the chain that is delivered instead, through a Uniswap pool.",
        { defaultText: "the deposited token" },
      ),
      ...Pool,
      tokens: setting(
        Type.Optional(TokenNames),
        'Of a group: the tokens that it is kept to, by symbol, or `"native"`.',
        { defaultText: "every token of every chain" },
      ),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: setting(Type.Literal("SWIFT"), "From inventory."),
      ...RoutePair,
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
  ),
  Type.Object(
    {
      kind: setting(
        Type.Literal("FAST_MCTP"),
        "USDC by Circle's bridge, between EVM chains with `cctp`.",
      ),
      ...RoutePair,
      bridgeToken: setting(
        Type.Optional(TokenName),
        "Of one route: the USDC of the chain, where another token is deposited. A Uniswap pool exchanges it first, in the same transaction.",
        { defaultText: "the deposited token" },
      ),
      ...Pool,
    },
    { additionalProperties: false },
  ),
]);

export type WrittenRoute = Static<typeof WrittenRoute>;
