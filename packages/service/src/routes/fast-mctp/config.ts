/** Configuration of routes of the kind `FAST_MCTP`. */
import { cctpRouteBytecode, swapCctpRouteBytecode } from "@sluice/contracts/bytecode";
import { type Static, Type } from "typebox";
import {
  type ChainToken,
  type Config,
  derive,
  findDestinationProblems,
  findEvmChain,
  listEvmChains,
  NO_CHAIN,
  RouteBetween,
  type RouteConfig,
  type RouteDefinition,
  type RouteNames,
  setting,
  type SwapConfig,
  TokenName,
} from "../../config/index.ts";
import { isNative, padAddress } from "../../core/hex.ts";
import { listSameSymbols } from "../listed-pairs.ts";
import {
  decimalsOf,
  findSwapProblems,
  listLimitArguments,
  listPoolArguments,
  PoolSettings,
  resolveSwap,
} from "../pool-config.ts";

export interface BridgeConfig extends RouteConfig {
  readonly kind: "FAST_MCTP";
  /** Pool swap that turns the deposited token into USDC; null if USDC is deposited. */
  readonly swap: SwapConfig | null;
}

/** The token that Circle's bridge carries. */
const BRIDGED_SYMBOL = "USDC";

const Written = Type.Object(
  {
    kind: setting(
      Type.Literal("FAST_MCTP"),
      "USDC over Circle's bridge, between EVM chains with `cctp`.",
    ),
    ...RouteBetween,
    bridgeToken: setting(
      Type.Optional(TokenName),
      "Only for one route: the USDC of the chain, if another token is deposited. A Uniswap pool swaps the deposit into it in the same transaction.",
      { defaultText: "the deposited token" },
    ),
    ...PoolSettings,
  },
  { additionalProperties: false },
);
type Written = Static<typeof Written>;

export const definition: RouteDefinition<Written, BridgeConfig> = {
  kind: "FAST_MCTP",
  schema: Written,
  ofOne: ["destChain", "destToken", "bridgeToken"],
  isDefault: true,
  pricedBy: "bridgeToken",
  groupNeeds: `two chains with cctp and ${BRIDGED_SYMBOL}`,

  resolve(written, source, names) {
    const chainId = names.resolveChain(written.destChain, "destChain");
    const token = names.resolveToken(written.destToken, chainId, "destToken");
    return pairOf(source, { chainId, token }, readSwap(written, source.chainId, names));
  },

  checkGroup(group, _, names) {
    readSwap(group, NO_CHAIN, names);
  },

  listPairs: (_, chains) =>
    listSameSymbols(
      [BRIDGED_SYMBOL],
      listEvmChains({ chains }).filter(({ cctp }) => cctp),
    ).map(({ destChain, destToken, ...source }) =>
      pairOf(source, { chainId: destChain, token: destToken }, null),
    ),

  derive({ feeRecipient }, chains, { chainId, token, destChain, destToken, swap }) {
    const source = findEvmChain({ chains }, chainId);
    const { cctp } = findEvmChain({ chains }, destChain) ?? {};
    if (!source?.cctp || !cctp) return null;
    const { evmChainId, contracts } = source;
    const bridge = [source.cctp.messenger, destChain, padAddress(destToken), cctp.domain] as const;
    const { factory } = contracts;
    if (!swap) {
      return derive(cctpRouteBytecode, [evmChainId, factory, token, ...bridge, feeRecipient]);
    }
    const pool = listPoolArguments(source, token, swap);
    const limits = listLimitArguments(source, token, swap);
    if (!pool || !limits) return null;
    const args = [evmChainId, ...pool, ...bridge, feeRecipient, ...limits];
    return derive(swapCctpRouteBytecode, args);
  },

  accountOf: ({ accounts }) => accounts.binding,

  findContradictions: (config, route, at) => [
    ...findDestinationProblems(config, route, at),
    ...findBridgeProblems(config, route, at),
    ...(route.swap
      ? findSwapProblems(
          config,
          { ...route, swap: route.swap },
          { setting: at, name: "bridgeToken" },
        )
      : []),
  ],
};

const readSwap = (written: Written, chainId: number, names: RouteNames) =>
  resolveSwap(written, { name: "bridgeToken", tokenOut: written.bridgeToken, chainId }, names);

function pairOf(
  source: ChainToken,
  destination: ChainToken,
  swap: SwapConfig | null,
): Omit<BridgeConfig, "contract"> {
  return {
    kind: "FAST_MCTP",
    ...source,
    destChain: destination.chainId,
    destToken: destination.token,
    pricedIn: swap && { chainId: source.chainId, token: swap.tokenOut },
    fromInventory: false,
    swap,
  };
}

/**
 * Lists what the bridge needs beyond a pair and lacks: contracts on both chains, the attestation service, and equal
 * decimals.
 */
function findBridgeProblems(config: Config, route: BridgeConfig, at: string): string[] {
  const problems: string[] = [];
  if (!config.cctp) {
    problems.push(
      "cctp: expected an object with apiUrl, because a route of the kind FAST_MCTP needs it",
    );
  }
  for (const name of ["chainId", "destChain"] as const) {
    const index = config.chains.findIndex((chain) => chain.chainId === route[name]);
    if (index === -1) continue;
    const chain = findEvmChain(config, route[name]);
    if (!chain) {
      problems.push(
        `${at}.${name}: expected an EVM chain, because the bridge does not support Solana`,
      );
    } else if (!chain.cctp) {
      problems.push(
        `${at}.${name}: expected a chain with chains[${index}].cctp, because the bridge needs it`,
      );
    }
  }
  const decimalsAt = ({ chainId, token }: ChainToken) => {
    const chain = config.chains.find((known) => known.chainId === chainId);
    return chain && decimalsOf(chain, token);
  };
  const name = route.swap ? "bridgeToken" : "token";
  const burned = route.swap ? route.swap.tokenOut : route.token;
  const source = decimalsAt({ chainId: route.chainId, token: burned });
  const destination = decimalsAt({ chainId: route.destChain, token: route.destToken });
  if (source !== undefined && destination !== undefined && source !== destination) {
    problems.push(
      `${at}.destToken: expected ${source} decimals like ${name}, because the bridge mints one base unit per burned unit`,
    );
  }
  for (const [tokenName, token] of [
    [name, burned],
    ["destToken", route.destToken],
  ] as const) {
    if (isNative(token)) {
      problems.push(
        `${at}.${tokenName}: expected USDC, because the bridge does not carry native coin`,
      );
    }
  }
  return problems;
}
