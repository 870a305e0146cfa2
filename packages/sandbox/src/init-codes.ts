/** Creation codes of the service's contracts, and of the doubles of Circle's, with their arguments. */
import {
  cctpRouteAbi,
  deliveryAbi,
  escrowAbi,
  hostileTokenAbi,
  pricedRouteAbi,
  sameAssetRouteAbi,
  sandboxMessageTransmitterV2Abi,
  sandboxTokenMessengerV2Abi,
  swapCctpRouteAbi,
  swapRouteAbi,
  transferRouteAbi,
  treasuryAbi,
} from "@sluice/contracts/abi";
import {
  cctpRouteBytecode,
  deliveryBytecode,
  escrowBytecode,
  hostileTokenBytecode,
  pricedRouteBytecode,
  sameAssetRouteBytecode,
  sandboxMessageTransmitterV2Bytecode,
  sandboxTokenMessengerV2Bytecode,
  swapCctpRouteBytecode,
  swapRouteBytecode,
  transferRouteBytecode,
  treasuryBytecode,
} from "@sluice/contracts/bytecode";
import {
  type Address,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  pad,
  parseUnits,
  zeroAddress,
  zeroHash,
} from "viem";
import {
  CHAIN_SPECS,
  type ChainName,
  type ChainSpec,
  FEE_TOKEN,
  NATIVE_DECIMALS,
  USDC,
} from "./chain-specs.ts";
import type { ChainDeployment } from "./deployment.ts";
import type { Call } from "./evm-client.ts";
import type { SandboxKeys } from "./keys.ts";
import { deriveSolanaAccounts, toBytes32 } from "./solana/accounts.ts";
import { SOLANA_TOKENS } from "./solana/genesis.ts";
import { SOLANA_SPEC } from "./solana/spec.ts";
import { POOL_FEE, SWAP_LIMITS, swapCapOf } from "./uniswap.ts";

export type ChainPlan = Omit<ChainDeployment, "startBlock"> & { readonly noncesSkipped: number };

export interface Context {
  readonly keys: SandboxKeys;
  readonly delaySeconds: number;
  readonly payoutWindowSeconds: number;
  /** Whether claims are paid to the treasury contract. */
  readonly treasuryContract: boolean;
  /** Attestors beside the sandbox's two, and the signatures that are needed. */
  readonly attestors: { readonly threshold: number; readonly further: readonly Address[] };
  readonly factory: Address;
  readonly factoryInitCode: Hex;
  readonly plan: Readonly<Record<ChainName, ChainPlan>>;
}

export function escrowInitCode(chain: ChainSpec, { factory }: Context): Hex {
  return encodeDeployData({
    abi: escrowAbi,
    bytecode: escrowBytecode,
    args: [factory, chain.chainId, BigInt(chain.evmChainId)],
  });
}

export function deliveryInitCode(
  chain: ChainSpec,
  { keys, factory, delaySeconds, payoutWindowSeconds }: Context,
): Hex {
  return encodeDeployData({
    abi: deliveryAbi,
    bytecode: deliveryBytecode,
    args: [
      keys.owner.account.address,
      keys.guardian.account.address,
      BigInt(delaySeconds),
      factory,
      chain.chainId,
      BigInt(payoutWindowSeconds),
    ],
  });
}

export function treasuryInitCode({ keys, delaySeconds }: Context): Hex {
  const { owner, guardian } = keys;
  return encodeDeployData({
    abi: treasuryAbi,
    bytecode: treasuryBytecode,
    args: [owner.account.address, guardian.account.address, BigInt(delaySeconds)],
  });
}

export function transferRouteInitCode(
  chain: ChainSpec,
  token: Address,
  { keys, factory }: Context,
): Hex {
  return encodeDeployData({
    abi: transferRouteAbi,
    bytecode: transferRouteBytecode,
    args: [
      {
        evmChainId: BigInt(chain.evmChainId),
        bridgeId: chain.chainId,
        factory,
        token,
        feeRecipient: keys.feeRecipient.account.address,
      },
    ],
  });
}

export function otherOf(chain: ChainSpec): ChainSpec & { readonly name: ChainName } {
  const other = CHAIN_SPECS.find((spec) => spec.chainId !== chain.chainId);
  if (!other) throw new Error("the sandbox has two chains");
  return other;
}

export function transmitterInitCode(chain: ChainSpec, { keys }: Context): Hex {
  const attesters = keys.attesters.map(({ account }) => account.address);
  return encodeDeployData({
    abi: sandboxMessageTransmitterV2Abi,
    bytecode: sandboxMessageTransmitterV2Bytecode,
    args: [chain.domain, attesters, BigInt(attesters.length)],
  });
}

export function messengerInitCode(chain: ChainSpec, { keys, plan }: Context): Hex {
  const { transmitter, token } = plan[chain.name];
  return encodeDeployData({
    abi: sandboxTokenMessengerV2Abi,
    bytecode: sandboxTokenMessengerV2Bytecode,
    args: [transmitter, token, keys.feeRecipient.account.address],
  });
}

export function cctpRouteInitCode(chain: ChainSpec, { keys, factory, plan }: Context): Hex {
  const here = plan[chain.name];
  const other = otherOf(chain);
  return encodeDeployData({
    abi: cctpRouteAbi,
    bytecode: cctpRouteBytecode,
    args: [
      {
        evmChainId: BigInt(chain.evmChainId),
        factory,
        token: here.token,
        messenger: here.messenger,
        destChain: other.chainId,
        destToken: pad(plan[other.name].token),
        destDomain: other.domain,
        feeRecipient: keys.feeRecipient.account.address,
      },
    ],
  });
}

type Asset = "usdc" | "native";

/** Decimals of the assets; those of the token with a transfer fee are USDC's. */
const decimalsOf = (asset: Asset | "fee") => (asset === "native" ? NATIVE_DECIMALS : USDC.decimals);

/** Returns the creation code of a route to the other asset of the same chain, through the pool. */
export function swapRouteInitCode(
  chain: ChainSpec & { readonly name: ChainName },
  { keys, factory, plan }: Context,
  { from, to }: { readonly from: Asset; readonly to: Asset },
): Hex {
  const here = plan[chain.name];
  const tokenOf = (asset: Asset) => (asset === "usdc" ? here.token : zeroAddress);
  return encodeDeployData({
    abi: swapRouteAbi,
    bytecode: swapRouteBytecode,
    args: [
      {
        evmChainId: BigInt(chain.evmChainId),
        bridgeId: chain.chainId,
        factory,
        router: here.swapRouter,
        weth: here.weth,
        tokenIn: tokenOf(from),
        decimalsIn: decimalsOf(from),
        tokenOut: tokenOf(to),
        decimalsOut: decimalsOf(to),
        poolFee: POOL_FEE,
        feeRecipient: keys.feeRecipient.account.address,
        limits: { ...SWAP_LIMITS, perDay: swapCapOf(from) },
      },
    ],
  });
}

/** Returns the creation code of a route from WETH to USDC of the other chain, through the pool and the bridge. */
export function swapCctpRouteInitCode(
  chain: ChainSpec & { readonly name: ChainName },
  { keys, factory, plan }: Context,
): Hex {
  const here = plan[chain.name];
  const other = otherOf(chain);
  return encodeDeployData({
    abi: swapCctpRouteAbi,
    bytecode: swapCctpRouteBytecode,
    args: [
      {
        evmChainId: BigInt(chain.evmChainId),
        factory,
        router: here.swapRouter,
        weth: here.weth,
        tokenIn: here.weth,
        decimalsIn: NATIVE_DECIMALS,
        usdc: here.token,
        usdcDecimals: USDC.decimals,
        poolFee: POOL_FEE,
        messenger: here.messenger,
        destChain: other.chainId,
        destToken: pad(plan[other.name].token),
        destDomain: other.domain,
        feeRecipient: keys.feeRecipient.account.address,
        limits: { ...SWAP_LIMITS, perDay: swapCapOf("native") },
      },
    ],
  });
}

/** Returns the creation code of a route to the other EVM chain, for the same asset or at a price. */
export function escrowRouteInitCode(
  chain: ChainSpec,
  { plan }: Context,
  { from, to }: { readonly from: Asset | "fee"; readonly to: Asset },
): Hex {
  const other = otherOf(chain);
  const tokenOf = (asset: Asset | "fee", name: ChainName) => {
    if (asset === "fee") return plan[name].feeToken;
    return asset === "usdc" ? plan[name].token : zeroAddress;
  };
  const pair = {
    evmChainId: BigInt(chain.evmChainId),
    sourceChain: chain.chainId,
    sourceToken: tokenOf(from, chain.name),
    sourceDecimals: decimalsOf(from),
    escrow: plan[chain.name].escrow,
    destChain: other.chainId,
    destToken: pad(tokenOf(to, other.name)),
    destDecimals: decimalsOf(to),
    delivery: pad(plan[other.name].delivery),
  };
  return from === to
    ? encodeDeployData({ abi: sameAssetRouteAbi, bytecode: sameAssetRouteBytecode, args: [pair] })
    : encodeDeployData({ abi: pricedRouteAbi, bytecode: pricedRouteBytecode, args: [pair] });
}

/** Returns the creation code of the token with a transfer fee. */
export function feeTokenInitCode(): Hex {
  const { name, symbol, decimals } = FEE_TOKEN;
  return encodeDeployData({
    abi: hostileTokenAbi,
    bytecode: hostileTokenBytecode,
    args: [name, symbol, decimals],
  });
}

/** Returns the calls that mint the token with a transfer fee for the payers. */
export function feeTokenCalls(
  chain: ChainSpec & { readonly name: ChainName },
  { keys, plan }: Context,
): readonly Call[] {
  return keys.payers[chain.name].map(({ account }) => ({
    label: "feeToken.mint",
    to: plan[chain.name].feeToken,
    gas: 500_000n,
    data: encodeFunctionData({
      abi: hostileTokenAbi,
      functionName: "mint",
      args: [account.address, FEE_TOKENS_PER_PAYER],
    }),
  }));
}

const FEE_TOKENS_PER_PAYER = parseUnits("100000", FEE_TOKEN.decimals);

/** Returns the creation code of a route to the Solana chain, for the same asset or at a price. */
export function solanaRouteInitCode(
  chain: ChainSpec & { readonly name: ChainName },
  { keys, plan }: Context,
  { from, to }: { readonly from: Asset; readonly to: keyof typeof SOLANA_DESTINATIONS },
): Hex {
  const here = plan[chain.name];
  const { token, decimals, isSameAsset } = SOLANA_DESTINATIONS[to];
  const pair = {
    evmChainId: BigInt(chain.evmChainId),
    sourceChain: chain.chainId,
    sourceToken: from === "usdc" ? here.token : zeroAddress,
    sourceDecimals: decimalsOf(from),
    escrow: here.escrow,
    destChain: SOLANA_SPEC.chainId,
    destToken: token,
    destDecimals: decimals,
    delivery: toBytes32(deriveSolanaAccounts(keys.solanaSeed.privateKey).delivery),
  };
  return isSameAsset
    ? encodeDeployData({ abi: sameAssetRouteAbi, bytecode: sameAssetRouteBytecode, args: [pair] })
    : encodeDeployData({ abi: pricedRouteAbi, bytecode: pricedRouteBytecode, args: [pair] });
}

/** Tokens delivered on the Solana chain from inventory. SOL is zero, as every native coin. */
const SOLANA_DESTINATIONS = {
  USDC: { token: toBytes32(SOLANA_TOKENS.USDC.mint), decimals: 6, isSameAsset: true },
  WETH: { token: toBytes32(SOLANA_TOKENS.WETH.mint), decimals: 8, isSameAsset: true },
  SOL: { token: zeroHash, decimals: 9, isSameAsset: false },
} as const;
