/** `FAST_MCTP`: to another chain, as USDC by Circle's bridge, deposited or out of a pool. */
import { cctpRouteBytecode, swapCctpRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import type { Frozen } from "../../core/frozen.ts";
import { type Address, isNative, padAddress } from "../../core/hex.ts";
import { type ChainConfig, findEvmChain, listEvmChains } from "../chains.ts";
import { derive } from "../deployment.ts";
import { setting } from "../values.ts";
import type { RouteForm, Source } from "./form.ts";
import { checkSwap, Pool, poolArgs, resolveSwap } from "./pool.ts";
import {
  decimalsOf,
  type Given,
  listBetween,
  NO_CHAIN,
  resolveDestination,
  RoutePairPlace,
  TokenName,
} from "./settings.ts";

/** What Circle's bridge carries. */
const BRIDGED_SYMBOL = "USDC";

export const FastMctpEntry = Type.Object(
  {
    kind: setting(
      Type.Literal("FAST_MCTP"),
      "USDC by Circle's bridge, between EVM chains with `cctp`.",
    ),
    ...RoutePairPlace,
    bridgeToken: setting(
      Type.Optional(TokenName),
      "Of one route: the USDC of the chain, where another token is deposited. A Uniswap pool exchanges it first, in the same transaction.",
      { defaultText: "the deposited token" },
    ),
    ...Pool,
  },
  { additionalProperties: false },
);
type Written = Static<typeof FastMctpEntry>;

export type FastMctpPair = Frozen<ReturnType<typeof resolve>>;

function resolve(written: Written, source: Source, at: string, given: Given) {
  return {
    kind: written.kind,
    ...source,
    ...resolveDestination(written, at, given),
    ...resolveSwap(written, ["bridgeToken", written.bridgeToken], source.chainId, at, given),
  };
}

export const fastMctp: RouteForm<Written, FastMctpPair> = {
  kind: "FAST_MCTP",
  single: ["destChain", "destToken", "bridgeToken"],
  wanted: `two chains with cctp and ${BRIDGED_SYMBOL}`,
  pricedBy: "bridgeToken",
  paysFromInventory: false,
  resolve,

  checkGroup(group, at, given) {
    resolveSwap(group, ["bridgeToken", group.bridgeToken], NO_CHAIN, at, given);
  },

  /** USDC between all chains that have the bridge. */
  list({ kind }, chains) {
    const connected = listEvmChains({ chains }).filter(({ cctp }) => cctp);
    return listBetween(connected, [BRIDGED_SYMBOL]).map((pair) => ({ kind, ...pair }));
  },

  derive(pair, { source, chains, deployment: { feeRecipient } }) {
    const { token, destChain, destToken, swap } = pair;
    const { cctp } = findEvmChain({ chains }, destChain) ?? {};
    if (!source.cctp || !cctp) return null;
    const { evmChainId } = source;
    const bridge = [source.cctp.messenger, destChain, padAddress(destToken), cctp.domain] as const;
    if (!swap) return derive(cctpRouteBytecode, [evmChainId, token, ...bridge, feeRecipient]);
    const pool = poolArgs(source, token, swap);
    return pool && derive(swapCctpRouteBytecode, [evmChainId, ...pool, ...bridge, feeRecipient]);
  },

  accountOf: ({ accounts }) => accounts.binding,

  /** What the bridge needs beyond a pair: its contracts on both chains, its service, and one asset. */
  check(route, setting, { chains, cctp }) {
    const problems: string[] = [];
    if (!cctp) {
      problems.push("cctp: expected an object with apiUrl, a route of the kind FAST_MCTP needs it");
    }
    for (const name of ["chainId", "destChain"] as const) {
      const index = chains.findIndex((chain) => chain.chainId === route[name]);
      const chain = chains[index];
      if (chain?.kind === "svm") {
        problems.push(
          `${setting}.${name}: expected an EVM chain, the bridge is not used on Solana`,
        );
      } else if (chain && !chain.cctp) {
        problems.push(
          `${setting}.${name}: expected a chain with chains[${index}].cctp, as the bridge reaches no other`,
        );
      }
    }
    const name = route.swap ? "bridgeToken" : "token";
    const burned = route.swap ? route.swap.tokenOut : route.token;
    const source = decimalsOn(chains, route.chainId, burned);
    const destination = decimalsOn(chains, route.destChain, route.destToken);
    if (source !== undefined && destination !== undefined && source !== destination) {
      problems.push(
        `${setting}.destToken: expected ${source} decimals as ${name} has, the bridge mints unit for unit`,
      );
    }
    for (const [at, token] of [
      [name, burned],
      ["destToken", route.destToken],
    ] as const) {
      if (isNative(token)) {
        problems.push(`${setting}.${at}: expected USDC, the bridge takes no native coin`);
      }
    }
    if (route.swap) {
      problems.push(
        ...checkSwap(chains, { ...route, swap: route.swap, name: "bridgeToken" }, setting),
      );
    }
    return problems;
  },
};

function decimalsOn(
  chains: readonly ChainConfig[],
  chainId: number,
  token: Address,
): number | undefined {
  const chain = chains.find((known) => known.chainId === chainId);
  return chain && decimalsOf(chain, token);
}
