/** The inspector port over one EVM node. */
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type DecodeFunctionResultParameters,
  type EncodeFunctionDataParameters,
  keccak256,
} from "viem";
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  erc20Abi,
  escrowAbi,
  sameAssetRouteAbi,
  swapCctpRouteAbi,
  swapRouteAbi,
  transferRouteAbi,
  treasuryAbi,
} from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import {
  type EvmAddress,
  type Hex,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
  toHex32,
} from "../../core/hex.ts";
import type { ChainInspector, FactoryExpectation, SeenBlock } from "../inspector.ts";
import type { NodeTraffic } from "../rpc/traffic.ts";
import { parseBlock, parseBytes, parseIndex } from "./answers.ts";
import { readImmutables } from "./built-code.ts";
import { findInView, readView, tagOf, toQuantity } from "./calls.ts";
import { implementationOf, walletInitCodeOf } from "./commitment.ts";
import { suggestFees } from "./fees.ts";
import { hashOfRole } from "./governance.ts";
import { createNonceSequencing } from "./sender.ts";
import { readUsualSurcharge } from "./surcharge.ts";
import { readPriceFeed } from "./price-feeds.ts";
import { cctpAbi, feedDescriptionAbi, poolsAbi, swapRouterAbi } from "./public-contracts.ts";
import { getNativeBalance, getTaggedBlock, hasCode } from "./reader.ts";
import { createRpc, type Rpc } from "./rpc.ts";
import type { EvmContracts } from "./contracts.ts";
import { createEvmMeasures } from "./measures.ts";

/** Canonical deployer and the hash of its 69 bytes of code. https://github.com/Arachnid/deterministic-deployment-proxy */
const DEPLOYER = {
  address: toEvmAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C"),
  codeHash: toHex32("0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989"),
};

/** Code prefix of an account that delegates to a contract (EIP-7702). */
const DELEGATION = "0xef0100";

/** Values that a factory of this build must report. */
export const evmFactoryExpectation: FactoryExpectation = {
  deployer: DEPLOYER,
  identityOf(factory) {
    return {
      implementation: implementationOf(factory),
      initCodeHash: toHex32(keccak256(walletInitCodeOf(factory))),
    };
  },
};

/** Returns an inspector of a chain through one node. */
export function createEvmInspector(options: {
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id. */
  readonly evmChainId: number;
  readonly contracts: EvmContracts;
  /** May carry credentials; never displayed. */
  readonly rpcUrl: string;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  /** The limits of the node; none by default. */
  readonly traffic?: NodeTraffic | undefined;
}): ChainInspector {
  const rpc = createRpc(options);
  const view = createViews(rpc);
  const getCode = (address: EvmAddress) => rpc.ask("eth_getCode", [address, "latest"], parseBytes);
  return {
    ...createEvmMeasures(options),
    chainId: rpc.chainId,
    getEvmChainId: () => rpc.ask("eth_chainId", [], parseIndex),
    getHead: (at) => getHead(rpc, tagOf(at)),
    getSafeHead: () => getHead(rpc, "safe"),

    async getBlockHash(number) {
      const params = [toQuantity(number), false];
      return (await rpc.ask("eth_getBlockByNumber", params, parseBlock))?.hash ?? null;
    },

    async getTimestamp(number) {
      const params = [toQuantity(number), false];
      const block = await rpc.ask("eth_getBlockByNumber", params, parseBlock);
      if (block === null) throw rpc.unavailable("block not found");
      return block.timestamp;
    },

    getCoinBalance: (owner) => getNativeBalance(rpc, owner),
    getTransactionCount: (account) => createNonceSequencing(rpc).getTransactionCount(account),
    suggestFees: () => suggestFees(rpc),
    readSurcharge: () => readUsualSurcharge(rpc),

    hasCode: (address) => hasCode(rpc, address),
    async isContract(address) {
      const code = await getCode(address);
      return code !== "0x" && !code.startsWith(DELEGATION);
    },
    getCodeHash: async (address) => toHex32(keccak256(await getCode(address))),
    isOfBuild: async (address, contract) =>
      readImmutables(contract, await getCode(address)) !== null,
    async isImplementationOf(address, factory) {
      const immutables = readImmutables("implementation", await getCode(address));
      return immutables !== null && immutables.every((value) => value === padAddress(factory));
    },

    getBalance: (token, owner) =>
      token === NATIVE_TOKEN
        ? getNativeBalance(rpc, owner)
        : view(token, { abi: erc20Abi, functionName: "balanceOf", args: [owner] }),
    getTokenDecimals: (token) => view(token, { abi: erc20Abi, functionName: "decimals" }),
    getTokenSymbol: (token) => view(token, { abi: erc20Abi, functionName: "symbol" }),

    // Factory and delivery share the governance functions.
    async getGovernance(contract) {
      const abi = depositFactoryAbi;
      return {
        owner: toEvmAddress(await view(contract, { abi, functionName: "owner" })),
        guardian: toEvmAddress(await view(contract, { abi, functionName: "guardian" })),
        delaySeconds: await view(contract, { abi, functionName: "delay" }),
        isSealed: await view(contract, { abi, functionName: "isSealed" }),
        isPaused: await view(contract, { abi, functionName: "paused" }),
      };
    },

    getReadyAt: (contract, { role, account }) =>
      view(contract, {
        abi: depositFactoryAbi,
        functionName: "eta",
        args: [hashOfRole(role), account],
      }),
    async getCapRaise(delivery, token) {
      const call = { abi: deliveryAbi, functionName: "capRaiseOf", args: [token] } as const;
      const [perDay, readyAt] = await view(delivery, call);
      return { perDay, readyAt };
    },

    isMover: (treasury, account) =>
      view(treasury, { abi: treasuryAbi, functionName: "isMover", args: [account] }),
    async getDirection(treasury, { token, to }) {
      const call = { abi: treasuryAbi, args: [token, to] } as const;
      const perDay = await view(treasury, { ...call, functionName: "capOf" });
      const scheduled = await view(treasury, { ...call, functionName: "pendingDirection" });
      return { perDay, pending: { perDay: scheduled[0], readyAt: scheduled[1] } };
    },

    async getFactoryIdentity(factory) {
      const abi = depositFactoryAbi;
      return {
        implementation: toEvmAddress(await view(factory, { abi, functionName: "implementation" })),
        initCodeHash: toHex32(await view(factory, { abi, functionName: "initCodeHash" })),
      };
    },

    // Escrow and delivery share these functions.
    async getContractTerms(contract) {
      const abi = escrowAbi;
      return {
        factory: toEvmAddress(await view(contract, { abi, functionName: "factory" })),
        bridgeId: await view(contract, { abi, functionName: "bridgeId" }),
      };
    },

    getTreasury: async (factory) =>
      toEvmAddress(await view(factory, { abi: depositFactoryAbi, functionName: "treasury" })),
    getSecurityContact: (factory) =>
      view(factory, { abi: depositFactoryAbi, functionName: "securityContact" }),
    getPayoutWindow: async (delivery) =>
      Number(await view(delivery, { abi: deliveryAbi, functionName: "PAYOUT_WINDOW" })),
    getThreshold: async (factory) =>
      Number(await view(factory, { abi: depositFactoryAbi, functionName: "threshold" })),

    getUncollected: (escrow, token) =>
      view(escrow, { abi: escrowAbi, functionName: "uncollected", args: [token] }),

    getEscrowEvmChainId: (escrow) => view(escrow, { abi: escrowAbi, functionName: "evmChainId" }),

    async getTransferTerms(route) {
      const terms = await view(route, { abi: transferRouteAbi, functionName: "config" });
      return {
        ...terms,
        factory: toEvmAddress(terms.factory),
        token: toEvmAddress(terms.token),
        feeRecipient: toEvmAddress(terms.feeRecipient),
      };
    },

    // Every route into the escrow has the same `pair`.
    async getEscrowPair(route) {
      const pair = await view(route, { abi: sameAssetRouteAbi, functionName: "pair" });
      return {
        ...pair,
        sourceToken: toEvmAddress(pair.sourceToken),
        escrow: toEvmAddress(pair.escrow),
        destToken: toHex32(pair.destToken),
        delivery: toHex32(pair.delivery),
      };
    },

    async getBridgePair(route) {
      const { feeRecipient: _, ...pair } = await view(route, {
        abi: cctpRouteAbi,
        functionName: "config",
      });
      return {
        ...pair,
        factory: toEvmAddress(pair.factory),
        token: toEvmAddress(pair.token),
        messenger: toEvmAddress(pair.messenger),
        destToken: toHex32(pair.destToken),
      };
    },

    async getSwapTerms(route) {
      const terms = await view(route, { abi: swapRouteAbi, functionName: "config" });
      return {
        ...terms,
        factory: toEvmAddress(terms.factory),
        router: toEvmAddress(terms.router),
        weth: toEvmAddress(terms.weth),
        tokenIn: toEvmAddress(terms.tokenIn),
        tokenOut: toEvmAddress(terms.tokenOut),
        feeRecipient: toEvmAddress(terms.feeRecipient),
      };
    },

    async getSwapBridgePair(route) {
      const { feeRecipient: _, ...pair } = await view(route, {
        abi: swapCctpRouteAbi,
        functionName: "config",
      });
      const { usdc, usdcDecimals, ...rest } = pair;
      return {
        ...rest,
        factory: toEvmAddress(pair.factory),
        router: toEvmAddress(pair.router),
        weth: toEvmAddress(pair.weth),
        tokenIn: toEvmAddress(pair.tokenIn),
        tokenOut: toEvmAddress(usdc),
        decimalsOut: usdcDecimals,
        messenger: toEvmAddress(pair.messenger),
        destToken: toHex32(pair.destToken),
      };
    },

    async findPool(factory, { tokens, fee }) {
      const args = [...tokens, fee] as const;
      const found = await view(factory, { abi: poolsAbi, functionName: "getPool", args });
      const pool = toEvmAddress(found);
      return pool === NATIVE_TOKEN ? null : pool;
    },

    isRoute: (factory, route) =>
      view(factory, { abi: depositFactoryAbi, functionName: "isRoute", args: [route] }),
    isRelayer: (factory, relayer) =>
      view(factory, { abi: depositFactoryAbi, functionName: "isRelayer", args: [relayer] }),
    isAttestor: (factory, attestor) =>
      view(factory, { abi: depositFactoryAbi, functionName: "isAttestor", args: [attestor] }),
    isSettler: (delivery, settler) =>
      view(delivery, { abi: deliveryAbi, functionName: "isSettler", args: [settler] }),
    getDailyCap: (contract, token) =>
      view(contract, { abi: deliveryAbi, functionName: "capOf", args: [token] }),
    async hasAveragedPrice(route) {
      const call = { abi: swapRouteAbi, functionName: "bandMinOut", args: [1n] } as const;
      const data = encodeFunctionData(call);
      return (await findInView(rpc, { to: route, data, at: "latest" }, () => true)) !== null;
    },

    async getPriceFeed(feed) {
      const abi = feedDescriptionAbi;
      const description = await view(feed, { abi, functionName: "description" });
      return { description, ...(await readPriceFeed(rpc, feed, "latest")) };
    },

    async getCctpTransmitter(messenger) {
      const call = { abi: cctpAbi, functionName: "localMessageTransmitter" } as const;
      return toEvmAddress(await view(messenger, call));
    },
    getCctpDomain: (transmitter) =>
      view(transmitter, { abi: cctpAbi, functionName: "localDomain" }),

    async getSwapRouterTerms(router) {
      const abi = swapRouterAbi;
      return {
        factory: toEvmAddress(await view(router, { abi, functionName: "factory" })),
        weth: toEvmAddress(await view(router, { abi, functionName: "WETH9" })),
      };
    },
  };
}

async function getHead(rpc: Rpc, tag: Parameters<typeof getTaggedBlock>[1]): Promise<SeenBlock> {
  const { number, hash, parentHash, timestamp } = await getTaggedBlock(rpc, tag);
  return { number, hash, parentHash, timestamp };
}

/** Calls views by their ABI, which types name, arguments and result. */
function createViews(rpc: Rpc) {
  return function view<
    const A extends Abi,
    Name extends ContractFunctionName<A, "view">,
    Args extends ContractFunctionArgs<A, "view", Name>,
  >(
    to: EvmAddress,
    call: { readonly abi: A; readonly functionName: Name; readonly args?: Args },
  ): Promise<ContractFunctionReturnType<A, "view", Name, Args>> {
    const { abi, functionName } = call;
    // CAST: the library's types do not follow a generic ABI; the parameters above check the call.
    const data = encodeFunctionData(call as unknown as EncodeFunctionDataParameters);
    function parse(returned: Hex): unknown {
      const answer = { abi, functionName, data: returned };
      // CAST: as above.
      return decodeFunctionResult(answer as unknown as DecodeFunctionResultParameters);
    }
    // CAST: decoded by the ABI that the type is computed from.
    return readView(rpc, { to, data, at: "latest" }, parse) as Promise<
      ContractFunctionReturnType<A, "view", Name, Args>
    >;
  };
}
