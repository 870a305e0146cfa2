/** Routes as the file has them. */
import { type Static, Type } from "typebox";
import { Bps, BridgeId, EvmAddressText } from "./values.ts";

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
  chainId: Type.Optional(ChainName),
  token: Type.Optional(TokenName),
  contract: Type.Optional(EvmAddressText),
  chains: Type.Optional(ChainNames),
};
const RoutePair = {
  ...RoutePlace,
  destChain: Type.Optional(ChainName),
  destToken: Type.Optional(TokenName),
};

/** Of a route that swaps. */
const Pool = {
  poolFee: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999_999,
      description: "the fee of a pool in hundredths of a basis point, 1 to 999999",
    }),
  ),
  maxImpactBps: Type.Optional(Bps),
  slippageBps: Type.Optional(Bps),
};

export const WrittenRoute = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("MONO_CHAIN"),
      ...RoutePlace,
      destToken: Type.Optional(TokenName),
      ...Pool,
      tokens: Type.Optional(TokenNames),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal("SWIFT"),
      ...RoutePair,
      priced: Type.Optional(Type.Boolean({ description: "true or false" })),
      tokens: Type.Optional(TokenNames),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal("FAST_MCTP"),
      ...RoutePair,
      bridgeToken: Type.Optional(TokenName),
      ...Pool,
    },
    { additionalProperties: false },
  ),
]);

export type WrittenRoute = Static<typeof WrittenRoute>;
