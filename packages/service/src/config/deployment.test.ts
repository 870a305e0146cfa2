/** Contract addresses derived from a deployment, compared with viem's implementation of the same standards. */
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  pricedRouteAbi,
  sameAssetRouteAbi,
  swapCctpRouteAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import {
  cctpRouteBytecode,
  deliveryBytecode,
  depositFactoryBytecode,
  escrowBytecode,
  pricedRouteBytecode,
  sameAssetRouteBytecode,
  swapCctpRouteBytecode,
  swapRouteBytecode,
  transferRouteBytecode,
} from "@sluice/contracts/bytecode";
import { encodeDeployData, getContractAddress, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress } from "../core/hex.ts";
import {
  type DeploymentConfig,
  resolveDeployment,
  type Derived,
  deriveDelivery,
  deriveEscrow,
  deriveFactory,
} from "./deployment.ts";
import { configuredRoute, type RouteGiven } from "../../test/support/routes.ts";
import { moduleOf } from "../routes/index.ts";
import type { ChainConfig } from "./chains.ts";

const addressOf = (digits: string) => toEvmAddress(`0x${digits.repeat(20)}`);
const OWNER = addressOf("0a");
const GUARDIAN = addressOf("0b");
const TREASURY = addressOf("0c");
const FEES = addressOf("0d");

const deployment: DeploymentConfig = {
  owner: OWNER,
  guardian: GUARDIAN,
  treasury: TREASURY,
  hasTreasuryContract: false,
  feeRecipient: FEES,
  delaySeconds: 604_800,
  payoutWindowSeconds: 43_200,
  securityContact: undefined,
};
const messenger = addressOf("4e");
const cctp = (domain: number) => ({ domain, messenger, transmitter: addressOf("7a") });
const DAI = addressOf("da");
const here: ChainConfig = { ...CHAIN, cctp: cctp(0) };
const there: ChainConfig = {
  ...CHAIN,
  chainId: 30,
  evmChainId: 8453,
  contracts: { ...CHAIN.contracts, delivery: addressOf("de") },
  cctp: cctp(6),
  tokens: CHAIN.tokens.map((token) => ({ ...token, address: DAI, decimals: 18 })),
};
const across = { chainId: 2, token: USDC, destChain: 30, destToken: DAI };

/** Expects the init code, and the CREATE2 address that viem computes from it. */
function expectCreated(derived: Derived | null, initCode: Hex): void {
  expect(derived?.initCode).toBe(initCode);
  const address = getContractAddress({
    opcode: "CREATE2",
    from: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
    salt: `0x${"0".repeat(64)}`,
    bytecode: initCode,
  });
  expect(derived?.address).toBe(address.toLowerCase());
}

type Pair<Route = RouteGiven> = Route extends unknown ? Omit<Route, "contract"> : never;

function derive(chains: readonly ChainConfig[], pair: Pair): Derived | null {
  // CAST: the spread restores the contract that `Pair` omits.
  const route = configuredRoute({ ...pair, contract: NATIVE_TOKEN } as RouteGiven);
  return moduleOf(route).definition.derive(deployment, chains, route);
}

const routeOf = (pair: Pair) => derive([here, there], pair);

describe("the derived address", () => {
  test("matches viem for factory, escrow and delivery", () => {
    const factory = addressOf("fa");
    expectCreated(
      deriveFactory(deployment),
      encodeDeployData({
        abi: depositFactoryAbi,
        bytecode: depositFactoryBytecode,
        args: [OWNER, GUARDIAN, 604_800n],
      }),
    );
    expectCreated(
      deriveEscrow({ factory, chainId: 30, evmChainId: 8453 }),
      encodeDeployData({
        abi: escrowAbi,
        bytecode: escrowBytecode,
        args: [factory, 30, 8453n],
      }),
    );
    expectCreated(
      deriveDelivery(deployment, { factory, chainId: 30 }),
      encodeDeployData({
        abi: deliveryAbi,
        bytecode: deliveryBytecode,
        args: [OWNER, GUARDIAN, 604_800n, factory, 30, 43_200n],
      }),
    );
  });

  test("matches viem for a route within one chain", () => {
    expectCreated(
      routeOf({ kind: "MONO_CHAIN", chainId: 30, token: DAI }),
      encodeDeployData({
        abi: transferRouteAbi,
        bytecode: transferRouteBytecode,
        args: [
          {
            evmChainId: 8453n,
            bridgeId: 30,
            factory: there.contracts.factory,
            token: DAI,
            feeRecipient: FEES,
          },
        ],
      }),
    );
  });

  test("matches viem for a pool swap route, and is null on a chain without Uniswap", () => {
    const [router, weth] = [addressOf("a1"), addressOf("a3")];
    const pooled = {
      ...here,
      uniswapV3: { router, weth },
      tokens: [...here.tokens, ...there.tokens],
    };
    const swap = {
      tokenOut: DAI,
      poolFee: 500,
      maxImpactBps: 100,
      slippageBps: 50,
      limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
    };
    const pair: Pair = { kind: "MONO_CHAIN", chainId: 2, token: USDC, swap };
    expectCreated(
      derive([pooled], pair),
      encodeDeployData({
        abi: swapRouteAbi,
        bytecode: swapRouteBytecode,
        args: [
          {
            evmChainId: BigInt(CHAIN.evmChainId),
            bridgeId: 2,
            factory: CHAIN.contracts.factory,
            router,
            weth,
            tokenIn: USDC,
            decimalsIn: 6,
            tokenOut: DAI,
            decimalsOut: 18,
            poolFee: 500,
            feeRecipient: FEES,
            limits: { window: 1_800, toleranceBps: 300, perDay: 10n ** 12n },
          },
        ],
      }),
    );
    expect(derive([{ ...pooled, uniswapV3: undefined }], pair)).toBeNull();
  });

  test("matches viem for routes from inventory, with and without a price", () => {
    const pair = {
      evmChainId: BigInt(CHAIN.evmChainId),
      sourceChain: 2,
      sourceToken: USDC,
      sourceDecimals: 6,
      escrow: CHAIN.contracts.escrow,
      destChain: 30,
      destToken: padAddress(DAI),
      destDecimals: 18,
      delivery: padAddress(there.contracts.delivery),
    };
    expectCreated(
      routeOf({ kind: "SWIFT", ...across, priced: false }),
      encodeDeployData({
        abi: sameAssetRouteAbi,
        bytecode: sameAssetRouteBytecode,
        args: [pair],
      }),
    );
    expectCreated(
      routeOf({ kind: "SWIFT", ...across, priced: true }),
      encodeDeployData({ abi: pricedRouteAbi, bytecode: pricedRouteBytecode, args: [pair] }),
    );
  });

  test("matches viem for a bridge route", () => {
    expectCreated(
      routeOf({ kind: "FAST_MCTP", ...across }),
      encodeDeployData({
        abi: cctpRouteAbi,
        bytecode: cctpRouteBytecode,
        args: [
          {
            evmChainId: BigInt(CHAIN.evmChainId),
            factory: CHAIN.contracts.factory,
            token: USDC,
            messenger,
            destChain: 30,
            destToken: padAddress(DAI),
            destDomain: 6,
            feeRecipient: FEES,
          },
        ],
      }),
    );
  });

  test("matches viem for a pool swap before the bridge, and is null when a part is not configured", () => {
    const [router, weth] = [addressOf("a1"), addressOf("a3")];
    const WETH = addressOf("ee");
    const listed = here.tokens.map((token) => ({ ...token, address: WETH, decimals: 18 }));
    const pooled = { ...here, uniswapV3: { router, weth }, tokens: [...here.tokens, ...listed] };
    const swap = {
      tokenOut: USDC,
      poolFee: 500,
      maxImpactBps: 100,
      slippageBps: 50,
      limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
    };
    const pair: Pair = { kind: "FAST_MCTP", ...across, token: WETH, swap };
    expectCreated(
      derive([pooled, there], pair),
      encodeDeployData({
        abi: swapCctpRouteAbi,
        bytecode: swapCctpRouteBytecode,
        args: [
          {
            evmChainId: BigInt(CHAIN.evmChainId),
            factory: CHAIN.contracts.factory,
            router,
            weth,
            tokenIn: WETH,
            decimalsIn: 18,
            usdc: USDC,
            usdcDecimals: 6,
            poolFee: 500,
            messenger,
            destChain: 30,
            destToken: padAddress(DAI),
            destDomain: 6,
            feeRecipient: FEES,
            limits: { window: 1_800, toleranceBps: 300, perDay: 10n ** 24n },
          },
        ],
      }),
    );
    for (const lacking of [{ uniswapV3: undefined }, { cctp: undefined }, { tokens: listed }]) {
      expect(derive([{ ...pooled, ...lacking }, there], pair)).toBeNull();
    }
  });

  test("is null when a chain, a token or the bridge is not configured", () => {
    expect(routeOf({ kind: "MONO_CHAIN", chainId: 4, token: USDC })).toBeNull();
    expect(routeOf({ kind: "FAST_MCTP", ...across, destChain: 4 })).toBeNull();
    expect(routeOf({ kind: "SWIFT", ...across, destToken: USDC, priced: false })).toBeNull();
    const bridgeless = { ...there, cctp: undefined };
    const bridged: Pair = { kind: "FAST_MCTP", ...across };
    expect(derive([here, bridgeless], bridged)).toBeNull();
  });

  test("of the factory never changes, because every deposit address depends on it", () => {
    expect(deriveFactory(deployment).address).toBe("0x6783c64eec7ad382419960a589abfe0ed2ba3e3c");
  });
});

test("a deployment defaults to fees for the treasury and a delay of seven days, and refuses the zero address and one account for two keys", () => {
  const problems: string[] = [];
  const written = { owner: OWNER, guardian: GUARDIAN, treasury: TREASURY };
  expect(resolveDeployment(written, 43_200, problems)).toEqual({
    ...deployment,
    feeRecipient: TREASURY,
  });
  const full = { ...written, feeRecipient: FEES, delaySeconds: 60 };
  expect(resolveDeployment(full, 43_200, problems)).toEqual({ ...deployment, delaySeconds: 60 });
  expect(resolveDeployment(undefined, 43_200, problems)).toBeUndefined();
  expect(problems).toEqual([]);
  resolveDeployment({ ...written, guardian: NATIVE_TOKEN }, 43_200, problems);
  resolveDeployment({ ...written, guardian: OWNER }, 43_200, problems);
  expect(problems).toEqual([
    "deployment.guardian: expected an account, not the zero address",
    "deployment.guardian: expected another account than the owner",
  ]);
});
