/** Calls to the service's contracts on an EVM chain, and reads of their state. */
import { maxUint256 } from "viem";
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { encodeFunctionData } from "./abi.ts";
import { type EvmAddress, type Hex, padAddress, toEvmAddress } from "../../core/hex.ts";
import { numberOfReason } from "../../core/refund-reason.ts";
import type {
  Call,
  ChainCodec,
  ChainSender,
  ContractReader,
  ContractWallets,
  GovernanceLog,
  PayoutSearch,
} from "../port/index.ts";
import { combineCalls, tookEffect } from "./batches.ts";
import { tagOf } from "./calls.ts";
import { deliveryIdOf, deliveryIdOfPayout, hashCommitment, predictWallet } from "./commitment.ts";
import {
  createPayoutSearch,
  findDelivery,
  getDailyCapLeft,
  getPayoutWindow,
  isDelivered,
} from "./deliveries.ts";
import { createGovernanceLog } from "./governance.ts";
import { getLock, getThresholdAt, toLockArgument, wasListed } from "./locks.ts";
import { encodeTakeBack, getAnnouncement } from "./take-back.ts";
import { getTaggedBlock, hasCode } from "./reader.ts";
import { findOutflow, findRefund } from "./refunds.ts";
import { isRefused } from "./refusal-state.ts";
import { encodeLockData, encodeTransferData } from "./route-data.ts";
import type { Rpc } from "./rpc.ts";

/** Our contracts on an EVM chain. */
export interface EvmContracts {
  readonly factory: EvmAddress;
  readonly escrow: EvmAddress;
  readonly delivery: EvmAddress;
  /** Undefined if claims are paid to an account of another kind. */
  readonly treasury?: EvmAddress | undefined;
}

/** Returns the wallet operations: the factory deploys wallets and refunds them. */
export function createWallets(
  rpc: Rpc,
  { factory, escrow }: Pick<EvmContracts, "factory" | "escrow">,
): ContractWallets {
  return {
    kind: "contract",
    hasCode: (address, at) => hasCode(rpc, toEvmAddress(address), at),
    buildDeploy: (commitment) =>
      callTo(
        factory,
        encodeFunctionData({ abi: depositFactoryAbi, functionName: "deploy", args: [commitment] }),
      ),
    buildRefund: (commitment, token) =>
      callTo(
        factory,
        encodeFunctionData({
          abi: depositFactoryAbi,
          functionName: "refund",
          args: [commitment, token, maxUint256],
        }),
      ),
    buildAttestedRefund: ({ commitment, token, maxAmount, reason, deadline }, signatures) =>
      callTo(
        factory,
        encodeFunctionData({
          abi: depositFactoryAbi,
          functionName: "refundBySignature",
          args: [
            commitment,
            toEvmAddress(token),
            maxAmount,
            numberOfReason(reason),
            deadline,
            signatures,
          ],
        }),
      ),
    async findOutflow({ wallet, token, fromBlock }) {
      const { number: newest } = await getTaggedBlock(rpc, tagOf("final"));
      const place = { wallet: toEvmAddress(wallet), token: toEvmAddress(token) };
      return findOutflow(rpc, factory, { ...place, fromBlock, newest });
    },
    buildTakeBack: (step) => callTo(escrow, encodeTakeBack(step)),
    getAnnouncement: (wallet, token, at = "latest") =>
      getAnnouncement(rpc, escrow, { wallet, token }, at),
    isRefused: (refusal, at = "latest") => isRefused(rpc, factory, refusal, at),
  };
}

/** Returns the contracts of a chain over a node. Computed values need no node; reads throw RPC_UNAVAILABLE. */
export function createContracts(
  rpc: Rpc,
  contracts: EvmContracts,
  {
    deployBlock,
    getReceipt,
  }: { readonly deployBlock: bigint; readonly getReceipt: ChainSender["getReceipt"] },
): ChainCodec &
  ContractReader & {
    readonly payoutSearch: PayoutSearch;
    readonly governance: GovernanceLog;
  } {
  const { factory, escrow, delivery } = contracts;
  const place = { address: delivery, deployBlock };
  return {
    addresses: { walletRoot: factory, escrow, delivery },
    costOf: (gas, feePerGas) => gas * feePerGas,
    costOfStep: ({ gas }, feePerGas) => gas * feePerGas,
    isGivenBack: (transfer) => transfer.from === escrow,
    hashCommitment,
    predictWallet: (commitment) => predictWallet(factory, commitment),
    isWalletOf: ({ commitment, wallet }) => predictWallet(factory, commitment) === wallet,

    buildSettle({ commitment, token, route, routeData, amount, asOf, proof = [] }) {
      // The whole balance when it is mined, unless the amount is a part of it.
      const maxAmount = asOf === undefined ? 0n : amount;
      const job = { c: commitment, token, maxAmount, route, data: routeData, proof };
      return callTo(
        factory,
        encodeFunctionData({ abi: depositFactoryAbi, functionName: "settle", args: [job] }),
      );
    },

    buildDeliver({ commitment: c, escrow, srcToken, ...order }, attestorSignature) {
      const places = { escrow: padAddress(escrow), srcToken: padAddress(srcToken) };
      const args = [{ c, ...order, ...places }, attestorSignature] as const;
      return callTo(
        delivery,
        encodeFunctionData({ abi: deliveryAbi, functionName: "deliver", args }),
      );
    },

    buildClaim({ paidAmount, deadline }, attestorSignature, { facts }) {
      const args = [toLockArgument(facts), paidAmount, deadline, attestorSignature] as const;
      return callTo(escrow, encodeFunctionData({ abi: escrowAbi, functionName: "claim", args }));
    },

    buildReturn({ deadline }, attestorSignature, { facts }) {
      const args = [toLockArgument(facts), deadline, attestorSignature] as const;
      return callTo(
        escrow,
        encodeFunctionData({ abi: escrowAbi, functionName: "returnToWallet", args }),
      );
    },

    combine: (calls) => combineCalls(contracts, calls),
    tookEffect: (receipt, call) => tookEffect(contracts, { chainId: rpc.chainId, receipt }, call),

    encodeLockData,
    encodeTransferData,

    deliveryIdOf: (lock) => deliveryIdOf({ srcChain: rpc.chainId, escrow, ...lock }),
    deliveryIdOfPayout: (order) => deliveryIdOfPayout(delivery, order),

    getLock: (lock, at) => getLock(rpc, escrow, lock, at),
    wasListed: (listing, at) => wasListed(rpc, factory, listing, at),
    getThresholdAt: (time, at) => getThresholdAt(rpc, factory, time, at),
    findRefund: async (args) => {
      const { number: newest } = await getTaggedBlock(rpc, tagOf("final"));
      const { wallet, token, fromBlock } = args;
      const place = { wallet: toEvmAddress(wallet), token: toEvmAddress(token) };
      return findRefund(rpc, factory, { ...place, fromBlock, newest });
    },
    isDelivered: (lock, at) => isDelivered(rpc, delivery, lock, at),
    getPayoutWindow: (at) => getPayoutWindow(rpc, delivery, at),
    getDailyCapLeft: (token, at = "latest") =>
      getDailyCapLeft(rpc, delivery, toEvmAddress(token), at),
    findDelivery: (lock, at = "latest", hints = []) =>
      findDelivery(rpc, place, lock, { at, hints, getReceipt }),
    payoutSearch: createPayoutSearch(rpc, place),
    governance: createGovernanceLog(rpc, contracts),
  };
}

function callTo(to: EvmAddress, data: Hex): Call {
  return { to, data, value: 0n };
}
