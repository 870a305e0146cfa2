/** Calls to the service's contracts on an EVM chain, and reads of their state. */
import { encodeFunctionData } from "viem";
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type EvmAddress, type Hex, padAddress, toEvmAddress } from "../../core/hex.ts";
import type { Call, ChainCodec, ContractReader, ContractWallets } from "../port/index.ts";
import { combineCalls, tookEffect } from "./batches.ts";
import { tagOf } from "./calls.ts";
import { deliveryIdOf, deliveryIdOfPayout, hashCommitment, predictWallet } from "./commitment.ts";
import { findDelivery, getDailyCapLeft, isDelivered } from "./deliveries.ts";
import { getLock, wasListed } from "./locks.ts";
import { encodeTakeBack, getAnnouncement } from "./take-back.ts";
import { getTaggedBlock, hasCode } from "./reader.ts";
import { findRefund } from "./refunds.ts";
import { encodeLockData, encodeTransferData } from "./route-data.ts";
import type { Rpc } from "./rpc.ts";

/** Our contracts on an EVM chain. */
export interface EvmContracts {
  readonly factory: EvmAddress;
  readonly escrow: EvmAddress;
  readonly delivery: EvmAddress;
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
          args: [commitment, token],
        }),
      ),
    buildTakeBack: (step) => callTo(escrow, encodeTakeBack(step)),
    getAnnouncement: (wallet, token, at = "latest") =>
      getAnnouncement(rpc, escrow, { wallet, token }, at),
  };
}

/** Returns the contracts of a chain over a node. Computed values need no node; reads throw RPC_UNAVAILABLE. */
export function createContracts(
  rpc: Rpc,
  contracts: EvmContracts,
  deployBlock: bigint,
): ChainCodec & ContractReader {
  const { factory, escrow, delivery } = contracts;
  return {
    addresses: { walletRoot: factory, escrow, delivery },
    costOf: (gas, feePerGas) => gas * feePerGas,
    costOfStep: ({ gas }, feePerGas) => gas * feePerGas,
    isGivenBack: (transfer) => transfer.from === escrow,
    hashCommitment,
    predictWallet: (commitment) => predictWallet(factory, commitment),
    isWalletOf: ({ commitment, wallet }) => predictWallet(factory, commitment) === wallet,
    isLockOf: (lock, commitment) =>
      lock.commitment === hashCommitment(commitment) &&
      lock.wallet === predictWallet(factory, commitment),

    buildSettle({ commitment, token, route, routeData }) {
      const job = { c: commitment, token, route, data: routeData };
      return callTo(
        factory,
        encodeFunctionData({ abi: depositFactoryAbi, functionName: "settle", args: [job] }),
      );
    },

    buildDeliver(order, attestorSignature) {
      const { commitment: c, srcChain, seq, amount, deadline } = order;
      const args = [
        {
          c,
          srcChain,
          escrow: padAddress(order.escrow),
          srcToken: padAddress(order.srcToken),
          seq,
          amount,
          deadline,
        },
        attestorSignature,
      ] as const;
      return callTo(
        delivery,
        encodeFunctionData({ abi: deliveryAbi, functionName: "deliver", args }),
      );
    },

    buildClaim({ deliveryId, paidAmount, deadline }, attestorSignature) {
      const args = [deliveryId, paidAmount, deadline, attestorSignature] as const;
      return callTo(escrow, encodeFunctionData({ abi: escrowAbi, functionName: "claim", args }));
    },

    buildReturn({ deliveryId, deadline }, attestorSignature) {
      const args = [deliveryId, deadline, attestorSignature] as const;
      return callTo(
        escrow,
        encodeFunctionData({ abi: escrowAbi, functionName: "returnToWallet", args }),
      );
    },

    combine: (calls) => combineCalls(factory, calls),
    tookEffect: (receipt, call) => tookEffect(factory, receipt, call),

    encodeLockData,
    encodeTransferData,

    deliveryIdOf: ({ wallet, token, seq }) =>
      deliveryIdOf({
        srcChain: rpc.chainId,
        escrow: padAddress(escrow),
        wallet: padAddress(wallet),
        token: padAddress(token),
        seq,
      }),
    deliveryIdOfPayout: (order) => deliveryIdOfPayout(factory, order),

    getLock: (deliveryId, at) => getLock(rpc, escrow, deliveryId, at),
    wasListed: (listing, at) => wasListed(rpc, factory, listing, at),
    findRefund: async (args) => {
      const { number: newest } = await getTaggedBlock(rpc, tagOf("final"));
      const { wallet, token, fromBlock } = args;
      const place = { wallet: toEvmAddress(wallet), token: toEvmAddress(token) };
      return findRefund(rpc, factory, { ...place, fromBlock, newest });
    },
    isDelivered: (deliveryId, at) => isDelivered(rpc, delivery, deliveryId, at),
    getDailyCapLeft: (token, at = "latest") =>
      getDailyCapLeft(rpc, delivery, toEvmAddress(token), at),
    findDelivery: (deliveryId, at = "latest") =>
      findDelivery(rpc, { address: delivery, deployBlock }, deliveryId, at),
  };
}

function callTo(to: EvmAddress, data: Hex): Call {
  return { to, data, value: 0n };
}
