/** Schemas of the settings that routes of every kind share. */
import { Type } from "typebox";
import type { RouteKind } from "./route-config.ts";
import { BridgeId, EvmAddressText, setting } from "./values.ts";

/** The name of a chain in a route. */
const ChainName = Type.Union([BridgeId, Type.String({ minLength: 1, maxLength: 32 })], {
  description: "a bridge chain id, or the name of a chain",
});
const ChainNames = Type.Array(ChainName, {
  minItems: 1,
  description: "a list of chains, by bridge chain id or name",
});

export const TokenName = Type.String({
  minLength: 1,
  maxLength: 44,
  description: "0x and 40 hex digits, or the symbol of a token of the chain, or native",
});
export const TokenNames = Type.Array(Type.String({ minLength: 1, maxLength: 16 }), {
  minItems: 1,
  description: "a list of symbols",
});

/**
 * Settings of the source of one route or of a group of routes. `routes.ts` decides which of the two an entry is, and
 * whether it is complete.
 */
export const RouteSource = {
  chainId: setting(
    Type.Optional(ChainName),
    'Only in an entry for one route: the source chain, by bridge chain id or name (`"base"`).',
    { defaultText: "none: the entry is a group" },
  ),
  token: setting(
    Type.Optional(TokenName),
    'Only for one route: the deposited token, by address, by the symbol of a listed token of the chain, or `"native"`.',
    { defaultText: "none: the entry is a group" },
  ),
  contract: setting(
    Type.Optional(EvmAddressText),
    "Only for one route: the address of its contract.",
    {
      defaultText: "the address computed from `deployment`",
    },
  ),
  chains: setting(Type.Optional(ChainNames), "Only in a group: limits it to these chains.", {
    defaultText: "all chains",
  }),
};

/** The settings of `RouteSource`, for a route to another chain. */
export const RouteBetween = {
  ...RouteSource,
  destChain: setting(Type.Optional(ChainName), "Only for one route: the destination chain.", {
    defaultText: "none: the entry is a group",
  }),
  destToken: setting(Type.Optional(TokenName), "Only for one route: the delivered token.", {
    defaultText: "none: the entry is a group",
  }),
};

/** An entry of any kind. The schema of its kind has its other settings. */
export interface WrittenRoute {
  kind: RouteKind;
  chainId?: number | string;
  token?: string;
  contract?: string;
  chains?: (number | string)[];
}
