/** `MONO_CHAIN`: on the chain of the deposit, of the same token or through a pool into another. */
import { swapRouteBytecode, transferRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import type { Frozen } from "../../core/frozen.ts";
import { derive } from "../deployment.ts";
import { setting } from "../values.ts";
import type { RouteForm, Source } from "./form.ts";
import { checkSwap, Pool, poolArgs, resolveSwap } from "./pool.ts";
import { findNamed, type Given, NO_CHAIN, RoutePlace, TokenName, TokenNames } from "./settings.ts";

export const MonoChainEntry = Type.Object(
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
);
type Written = Static<typeof MonoChainEntry>;

export type MonoChainPair = Frozen<ReturnType<typeof resolve>>;

function resolve(written: Written, source: Source, at: string, given: Given) {
  const swap = resolveSwap(written, ["destToken", written.destToken], source.chainId, at, given);
  return { kind: written.kind, ...source, ...swap };
}

export const monoChain: RouteForm<Written, MonoChainPair> = {
  kind: "MONO_CHAIN",
  single: ["destToken"],
  wanted: "chains that list tokens",
  pricedBy: "destToken",
  paysFromInventory: false,
  resolve,

  checkGroup(group, at, given) {
    resolveSwap(group, ["destToken", group.destToken], NO_CHAIN, at, given);
    for (const [index, name] of group.tokens?.entries() ?? []) {
      if (given.chains.some((chain) => findNamed(chain, name))) continue;
      given.problems.push(
        `${at}.tokens[${index}]: expected a token of one of its chains, or native`,
      );
    }
  },

  /** Each token with itself. */
  list({ kind, tokens }, chains) {
    return chains.flatMap((chain) => {
      const named = tokens?.flatMap((name) => findNamed(chain, name) ?? []);
      const { chainId } = chain;
      return (named ?? chain.tokens).map(({ address: token }) => ({ kind, chainId, token }));
    });
  },

  derive({ chainId, token, swap }, { source, deployment: { feeRecipient } }) {
    const { evmChainId } = source;
    if (!swap) return derive(transferRouteBytecode, [evmChainId, chainId, token, feeRecipient]);
    const pool = poolArgs(source, token, swap);
    return pool && derive(swapRouteBytecode, [evmChainId, chainId, ...pool, feeRecipient]);
  },

  accountOf: ({ accounts }) => accounts.binding,

  check({ swap, ...source }, at, { chains }) {
    return swap ? checkSwap(chains, { ...source, swap, name: "destToken" }, at) : [];
  },
};
