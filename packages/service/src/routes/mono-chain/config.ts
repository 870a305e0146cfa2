/** Configuration of routes of the kind `MONO_CHAIN`. */
import { swapRouteBytecode, transferRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import {
  type ChainConfig,
  derive,
  findEvmChain,
  findNamedToken,
  NO_CHAIN,
  type RouteConfig,
  type RouteDefinition,
  type RouteNames,
  RouteSource,
  setting,
  type SwapConfig,
  TokenName,
  TokenNames,
} from "../../config/index.ts";
import {
  findSwapProblems,
  listLimitArguments,
  listPoolArguments,
  PoolSettings,
  resolveSwap,
} from "../pool-config.ts";

export interface MonoChainConfig extends RouteConfig {
  readonly kind: "MONO_CHAIN";
  /** Pool swap into another token; null if the deposited token is delivered. */
  readonly swap: SwapConfig | null;
}

const Written = Type.Object(
  {
    kind: setting(Type.Literal("MONO_CHAIN"), "Delivers on the chain of the deposit."),
    ...RouteSource,
    destToken: setting(
      Type.Optional(TokenName),
      "Only for one route: another token of the chain to deliver, through a Uniswap pool.",
      { defaultText: "the deposited token" },
    ),
    ...PoolSettings,
    tokens: setting(
      Type.Optional(TokenNames),
      'Only in a group: limits it to these tokens, by symbol or `"native"`.',
      { defaultText: "every token of every chain" },
    ),
  },
  { additionalProperties: false },
);
type Written = Static<typeof Written>;

export const definition: RouteDefinition<Written, MonoChainConfig> = {
  kind: "MONO_CHAIN",
  schema: Written,
  ofOne: ["destToken"],
  isDefault: true,
  pricedBy: "destToken",
  groupNeeds: "chains that list tokens",

  resolve: (written, { chainId, token }, names) =>
    pairOf(chainId, token, readSwap(written, chainId, names)),

  checkGroup(group, chains, names) {
    readSwap(group, NO_CHAIN, names);
    for (const [index, name] of (group.tokens ?? []).entries()) {
      if (chains.some((chain) => findNamedToken(chain, name))) continue;
      const at = `${names.setting}.tokens[${index}]`;
      names.problems.push(`${at}: expected a token of one of its chains, or native`);
    }
  },

  listPairs: ({ tokens }, chains) =>
    chains.flatMap((chain) => {
      const named = tokens?.flatMap((name) => findNamedToken(chain, name) ?? []);
      return (named ?? chain.tokens).map(({ address }) => pairOf(chain.chainId, address, null));
    }),

  derive({ feeRecipient }, chains, { chainId, token, swap }) {
    const chain = findEvmChain({ chains }, chainId);
    if (!chain) return null;
    const { evmChainId, contracts } = chain;
    const { factory } = contracts;
    if (!swap) {
      return derive(transferRouteBytecode, [evmChainId, chainId, factory, token, feeRecipient]);
    }
    const pool = listPoolArguments(chain, token, swap);
    const limits = listLimitArguments(chain, token, swap);
    if (!pool || !limits) return null;
    return derive(swapRouteBytecode, [evmChainId, chainId, ...pool, feeRecipient, ...limits]);
  },

  accountOf: ({ accounts }) => accounts.binding,

  findContradictions: (config, { swap, ...route }, at) =>
    swap ? findSwapProblems(config, { ...route, swap }, { setting: at, name: "destToken" }) : [],
};

const readSwap = (written: Written, chainId: number, names: RouteNames) =>
  resolveSwap(written, { name: "destToken", tokenOut: written.destToken, chainId }, names);

function pairOf(
  chainId: ChainConfig["chainId"],
  token: RouteConfig["token"],
  swap: SwapConfig | null,
): Omit<MonoChainConfig, "contract"> {
  const destToken = swap?.tokenOut ?? token;
  return {
    kind: "MONO_CHAIN",
    chainId,
    token,
    destChain: chainId,
    destToken,
    pricedIn: swap && { chainId, token: destToken },
    fromInventory: false,
    swap,
  };
}
