/**
 * A node of a fake Solana chain behind the chain port. It answers from the newest final block that it knows; only receipts
 * are visible before finality.
 */
import { Bug } from "../../src/core/assert.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { type Address, NATIVE_SOL } from "../../src/core/hex.ts";
import type {
  BlockRef,
  Call,
  Effect,
  LockTerms,
  RouteFee,
  Transfer,
} from "../../src/chains/port/index.ts";
import { costOfStep } from "../../src/chains/solana/costs.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import {
  decode,
  deliveryIdOf,
  deliveryIdOfPayout,
  encode,
  hashCommitment,
  predictWallet,
} from "./codec.ts";
import { type FakeBlock, gasOf, hashOf, type MinedTransaction, tryRun } from "./model.ts";
import { createSectionReader } from "../support/sections.ts";
import { type FakeNode, outflowsOf, parseRaw, paymentsOf } from "./node.ts";
import { type FakeSlotChain, heightOf, LIFETIME_BLOCKS, proofOf } from "./slots.ts";

const BPS = 10_000n;
/** Longer than any transaction is valid. */
const ORDER_GRACE_S = 180n;

export function createFakeSlotNode(chain: FakeSlotChain, dailyCap: bigint): FakeNode {
  const { contracts } = chain;
  const { chainId, factory: binding, escrow, delivery } = contracts;
  let head = chain.head;
  let finalBlock = chain.finalBlock;

  const blocks = () => chain.branchOf(finalBlock);
  const wholeOf = ({ hash }: { readonly hash: string }): FakeBlock => {
    const block = blocks().findLast((one) => one.hash === hash);
    if (!block) throw unavailable("another block");
    return block;
  };
  const unavailable = (reason: string) =>
    new OperatingError("RPC_UNAVAILABLE", "The node did not answer.", {
      details: { chainId, reason },
    });
  const refOf = ({ number, hash, parent }: FakeBlock): BlockRef => ({
    number,
    hash,
    parentHash: parent?.hash ?? hash,
  });
  const find = (number: bigint) => blocks().findLast((block) => block.number === number);
  const callOf = (to: Address, order: Order): Call => ({ to, data: encode(order), value: 0n });
  const balanceOf = async (token: Address, owner: Address) =>
    finalBlock.state.balanceOf(token, owner);

  const readSection = createSectionReader({
    async getBlockAfter(number) {
      const block = blocks().find((one) => one.number > number);
      return block ? refOf(block) : null;
    },
    getBlockTime: (block) => wholeOf(block).time,
    async listTransfers(block, tokens) {
      return wholeOf(block).transactions.flatMap((mined, index) =>
        gainsOf(mined, index).filter(({ token }) => tokens.includes(token)),
      );
    },
    async listNativeTransfers(block) {
      return wholeOf(block).transactions.flatMap(paymentsOf);
    },
    async listOutflows(block) {
      return wholeOf(block).transactions.flatMap((mined, place) => outflowsOf(mined, () => place));
    },
  });

  return {
    chainId,
    kind: "svm",
    isOrderOver: async (deadline) => finalBlock.time > deadline + ORDER_GRACE_S,
    addresses: { walletRoot: binding, escrow, delivery },
    cctp: null,
    payoutSearch: null,
    treasury: null,
    governance: null,
    coin: { token: NATIVE_SOL, decimals: 9 },
    sequencing: {
      kind: "blockhash",
      async getLifetime() {
        return {
          blockhash: head.hash,
          lastValidHeight: heightOf(chain, head) + LIFETIME_BLOCKS,
        };
      },
      isExpired: async ({ lastValidHeight }) => heightOf(chain, finalBlock) > lastValidHeight,
    },
    balances: {
      kind: "final",
      listHoldings: async (holdings) =>
        holdings.map(({ token, wallet }) => ({
          token,
          wallet,
          amount: finalBlock.state.balanceOf(token, wallet),
          at: finalBlock.number,
        })),
    },
    wallets: {
      kind: "vault",
      buildRefund: (commitment, token, { amount, reason }) =>
        callOf(binding, { kind: "refund", commitment, token, amount, reason }),
      async readStood({ wallet, token, sinceS }) {
        const since = blocks().findIndex(({ time }) => time >= sinceS);
        const before = blocks().at(since - 1);
        if (since < 1 || !before) return "too_recent";
        const isOut = (effect: Effect) =>
          (effect.kind === "settled" || effect.kind === "refunded") &&
          effect.wallet === wallet &&
          effect.token === token;
        const later = blocks()
          .slice(since)
          .flatMap(({ transactions }) => transactions);
        if (later.some((mined, index) => effectsOf(mined, index).some(isOut))) return "moved_since";
        return before.state.balanceOf(token, wallet) || "too_recent";
      },
    },
    priceFeeds: null,
    pools: null,

    sync(behind) {
      head = chain.branchOf(chain.head).at(-1 - behind) ?? chain.head;
      finalBlock = chain.finalBlock.number <= head.number ? chain.finalBlock : head;
    },

    checkIdentity: async () => undefined,
    getHead: async () => refOf(finalBlock),
    getFinalNumber: async () => finalBlock.number,
    getFinalBlock: async () => ({ number: finalBlock.number, hash: null }),
    getSafeBlock: async () => ({ number: finalBlock.number, hash: null }),
    getTime: async (at) => (typeof at === "string" ? finalBlock : wholeOf(at)).time,
    async getBlock(number) {
      const block = find(number);
      return block ? refOf(block) : null;
    },
    readSection,
    // Only final blocks are read, of which there are no two.
    readStale: readSection,
    getBalance: balanceOf,
    findBalance: balanceOf,
    readHolding: async (token, owner) => ({
      amount: await balanceOf(token, owner),
      asOf: finalBlock.number,
    }),
    getLeastPayment: async () => 1n,
    simulatePayment: async () => "accepted",
    // Queried where gas is charged; nobody pays it here.
    costOf: (gas, feePerGas) => 15_000n + (gas * feePerGas) / 1_000_000n,
    costOfStep,
    isGivenBack: ({ to, token, txHash }, outflows) =>
      outflows.some(
        (outflow) =>
          outflow.kind === "returned" &&
          outflow.wallet === to &&
          outflow.token === token &&
          outflow.txHash === txHash,
      ),
    readSurcharge: async () => 0n,
    suggestFees: async () => ({ gasPriceMax: 1_000n, tipMax: 1_000n }),
    async simulate(from, { data }) {
      const action = { kind: "order", order: decode<Order>(data) } as const;
      const env = {
        contracts,
        from,
        txHash: hashOf(data),
        blockNumber: head.number + 1n,
        time: head.time + 1n,
      };
      const tried = tryRun(chain, head.state, env, action);
      return "reason" in tried
        ? { ok: false, reason: tried.reason }
        : { ok: true, gas: (gasOf(action) * 12n) / 10n };
    },
    send: async (raw) => chain.offer(parseRaw(raw)),
    async getReceipt(txHash) {
      const branch = chain.branchOf(head);
      const block = chain.placesOf(txHash).find((place) => branch.includes(place));
      const index = block?.transactions.findIndex(({ transaction }) => transaction.hash === txHash);
      const mined = block?.transactions[index ?? -1];
      if (!block || !mined) return null;
      const { succeeded, gasCost } = mined;
      const effects = effectsOf(mined, index ?? 0);
      const { hash: blockHash, number: blockNumber } = block;
      return { txHash, blockHash, blockNumber, succeeded, gasCost, effects };
    },

    predictWallet,
    hashCommitment,
    isWalletOf: ({ commitment, wallet, proof }) => proof === proofOf(binding, commitment, wallet),
    buildSettle({ commitment, token, route, routeData, amount, asOf }) {
      if (asOf === undefined) throw new Bug("a sweep says up to which block it counts");
      const facts = { commitment, token, amount, asOf };
      if (route === escrow) {
        return callOf(escrow, { kind: "lock", ...facts, ...decode<LockTerms>(routeData) });
      }
      const { bps, flat } = decode<RouteFee>(routeData);
      const fee = (amount * BigInt(bps)) / BPS + flat;
      return callOf(binding, { kind: "transfer", ...facts, fee });
    },
    buildDeliver: (order, signature) => callOf(delivery, { kind: "deliver", order, signature }),
    buildClaim: (claim, signature, { facts: { token, amount } }) =>
      callOf(escrow, { kind: "claim", ...claim, token, amount, signature }),
    buildReturn: ({ deadline }, signature, { commitment, facts }) =>
      callOf(escrow, { ...facts, kind: "return", commitment, deadline, signature }),
    combine: () => null,
    tookEffect: ({ succeeded }) => succeeded,
    encodeLockData: (terms) => encode(terms),
    encodeTransferData: (fee) => encode(fee),
    deliveryIdOf: (lock) => deliveryIdOf({ ...lock, srcChain: chainId, escrow }),
    deliveryIdOfPayout: (payout) => deliveryIdOfPayout(delivery, payout),
    async findRefund({ wallet, token, fromBlock }) {
      const refunds = blocks()
        .filter(({ number }) => number >= fromBlock)
        .flatMap((block) =>
          block.transactions.flatMap((mined, logIndex) =>
            effectsOf(mined, logIndex).flatMap((effect) => {
              if (effect.kind !== "refunded" || effect.wallet !== wallet) return [];
              if (effect.token !== token) return [];
              const { to, amount } = effect;
              const txHash = mined.transaction.hash;
              return [{ to, amount, txHash, blockNumber: block.number, logIndex }];
            }),
          ),
        );
      return refunds.at(-1) ?? null;
    },
    getLock: async (lock) =>
      finalBlock.state.locks.get(deliveryIdOf({ ...lock, srcChain: chainId, escrow })) ?? null,
    findDelivery: async ({ deliveryId }) => finalBlock.state.delivered.get(deliveryId) ?? null,
    isDelivered: async ({ deliveryId }) => finalBlock.state.delivered.has(deliveryId),
    getPayoutWindow: async () => contracts.payoutWindowS,
    wasListed: async () => true,
    getThresholdAt: async () => 1,
    getDailyCapLeft: async () => dailyCap,
  };
}

/** Returns who has more of a token after a transaction, and how much: balances do not show single transfers. */
function gainsOf({ logs, transaction }: MinedTransaction, logIndex: number): Transfer[] {
  const gains = new Map<string, Transfer>();
  for (const log of logs) {
    if (log.kind !== "transfer" || log.amount === 0n) continue;
    const { token, from, to } = log;
    const key = `${token}:${to}`;
    const before = gains.get(key);
    const ordinal = [...gains.values()].filter((one) => one.token === token).length;
    const facts = { token, from, to, txHash: transaction.hash, logIndex };
    const amount = (before?.amount ?? 0n) + log.amount;
    gains.set(key, { ...facts, ordinal: before?.ordinal ?? ordinal, amount });
  }
  return [...gains.values()];
}

function effectsOf({ logs }: MinedTransaction, logIndex: number): Effect[] {
  return logs.flatMap((log) => {
    if (log.kind !== "effect") return [];
    return [log.effect.kind === "settled" ? { ...log.effect, logIndex } : log.effect];
  });
}
