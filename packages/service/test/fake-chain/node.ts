/**
 * A node of the fake chain behind the chain port. It knows the chain up to its own head, which may lag or be on an orphaned
 * branch.
 */
import { OperatingError } from "../../src/core/errors.ts";
import { type Address, type Hex, isNative, NATIVE_TOKEN } from "../../src/core/hex.ts";
import type {
  BlockId,
  BlockRef,
  Call,
  Chain,
  Effect,
  GasCall,
  Outflow,
  Payout,
  ReadPoint,
  Receipt,
  Transfer,
} from "../../src/chains/port/index.ts";
import { createSectionReader } from "../support/sections.ts";
import {
  decode,
  deliveryIdOf,
  deliveryIdOfPayout,
  encode,
  hashCommitment,
  predictWallet,
} from "./codec.ts";
import type { Action, RouteTerms, State } from "./contracts.ts";
import { capLeftOf, givenFor, leastFor, meanPrice } from "./pool.ts";
import {
  type FakeBlock,
  type FakeChain,
  type FakeTransaction,
  gasOf,
  hashOf,
  type MinedTransaction,
  tryRun,
} from "./model.ts";

const BATCH_MAX = 10;
/** Blocks in which a payout is found without a hint, and the most of one part of a search. */
const NEWEST_BLOCKS = 4n;
const PART_BLOCKS = 320n;
/** Daily cap of every token. */
const DAILY_CAP = 10n ** 30n;

/** A node and its head. */
export interface FakeNode extends Chain {
  /** Follows the chain up to `behind` blocks below its head. */
  sync(behind: number): void;
  /** Reads a section as a server that still has the head from before the last `sync`. */
  readStale: Chain["readSection"];
}

export function createFakeNode(chain: FakeChain): FakeNode {
  const { contracts } = chain;
  const { chainId, factory, escrow, delivery, cctp } = contracts;
  let head = chain.head;
  let staleHead = head;
  let finalNumber = chain.finalNumber;

  /** Returns a reader of sections that sees the chain up to a head. */
  const readSectionOf = (tip: () => FakeBlock) => {
    const at = ({ number }: BlockRef): FakeBlock => {
      const block = chain.branchOf(tip())[Number(number)];
      if (!block) throw unavailable("block not found");
      return block;
    };
    return createSectionReader({
      async getBlockAfter(number) {
        const block = chain.branchOf(tip())[Number(number) + 1];
        return block ? refOf(block) : null;
      },
      getBlockTime: (block) => at(block).time,
      async listTransfers(block, tokens) {
        return at(block).transactions.flatMap((mined) => transfersOf(mined, tokens));
      },
      async listNativeTransfers(block) {
        return at(block).transactions.flatMap((mined) => paymentsOf(mined, mined.firstLog));
      },
      async listOutflows(block) {
        return at(block).transactions.flatMap((mined) =>
          outflowsOf(mined, (index) => mined.firstLog + index),
        );
      },
    });
  };

  const branch = () => chain.branchOf(head);
  const finalBlock = () => blockAt(finalNumber);
  const blockAt = (number: bigint): FakeBlock => {
    const block = branch()[Number(number)];
    if (!block) throw unavailable("block not found");
    return block;
  };
  const pointAt = (at: ReadPoint): FakeBlock => {
    if (at === "latest") return head;
    return at === "final" ? finalBlock() : byHash(at);
  };
  const stateAt = (at: ReadPoint = "latest"): State => pointAt(at).state;
  const byHash = ({ number, hash }: BlockId): FakeBlock => {
    const block = branch()[Number(number)];
    if (block?.hash !== hash) throw unavailable("block not found");
    return block;
  };
  const unavailable = (reason: string) =>
    new OperatingError("RPC_UNAVAILABLE", "The node did not answer.", {
      details: { chainId, reason },
    });
  const refOf = (block: FakeBlock): BlockRef => ({
    number: block.number,
    hash: block.hash,
    parentHash: block.parent?.hash ?? block.hash,
  });
  const toCall = (action: Action, to = factory): Call => ({
    to,
    data: encode(action),
    value: 0n,
  });

  return {
    chainId,
    kind: "evm",
    isOrderOver: async (deadline) => pointAt("final").time > deadline,
    costOf: (gas, feePerGas) => gas * feePerGas,
    costOfStep: ({ gas }, feePerGas) => gas * feePerGas,
    isGivenBack: ({ from }) => from === escrow,
    addresses: { walletRoot: factory, escrow, delivery },
    coin: { token: NATIVE_TOKEN, decimals: 18 },
    sequencing: {
      kind: "nonce",
      getTransactionCount: async (sender, at) => stateAt(at).nonceOf(sender),
    },
    balances: {
      kind: "at_block",
      listTracedPayees: async () => null,
      async listNativeBalances(block, owners) {
        const { state } = byHash(block);
        return owners.map((owner) => state.balanceOf(NATIVE_TOKEN, owner));
      },
      async listTokenBalances(blockHash, holdings) {
        const block = branch().findLast(({ hash }) => hash === blockHash);
        if (!block) throw unavailable("block not found");
        return holdings.map(({ token, wallet }) => block.state.balanceOf(token, wallet));
      },
    },
    wallets: {
      kind: "contract",
      hasCode: async (address, at) => stateAt(at).code.has(address),
      buildDeploy: (commitment) => toCall({ kind: "deploy", commitment }),
      buildRefund: (commitment, token) => toCall({ kind: "refund", commitment, token }),
      buildAttestedRefund: (proof, signature) =>
        toCall({ kind: "attested_refund", proof, signature }),
      async findOutflow({ wallet, token, fromBlock }) {
        const found = branch().findLast(
          ({ number, transactions }) =>
            number >= fromBlock &&
            number <= finalNumber &&
            transactions.some(({ logs }) =>
              logs.some(
                (log) =>
                  log.kind === "effect" &&
                  (log.effect.kind === "settled" ||
                    log.effect.kind === "unattended" ||
                    log.effect.kind === "refunded") &&
                  log.effect.wallet === wallet &&
                  log.effect.token === token,
              ),
            ),
        );
        return found?.number ?? null;
      },
      buildTakeBack: (step) => toCall(step, escrow),
      getAnnouncement: async (wallet, token, at = "latest") =>
        stateAt(at).announcements.get(`${token}:${wallet}`) ?? null,
      isRefused: async ({ reason }, at = "latest") => reason === "IsPaused" && stateAt(at).isPaused,
    },
    priceFeeds: {
      async readPriceFeed(feed, at = "latest") {
        const { state, time } = pointAt(at);
        if (feed !== contracts.pool?.feed) throw unavailable("no such feed");
        return { usd: state.market.fair, publishedAtMs: Number(time) * 1_000 };
      },
    },
    pools: {
      async quoteSwap({ quoter, tokenIn, tokenOut, poolFee, amountIn }, at) {
        const { pool } = contracts;
        const { market } = stateAt(at);
        const isKnown = pool && quoter === pool.quoter && BigInt(poolFee) === pool.fee;
        const pair = [tokenIn, tokenOut];
        if (!isKnown || !pair.includes(pool.weth) || !pair.includes(pool.token)) return null;
        return givenFor(pool, market, { amountIn, isCoin: tokenIn === pool.weth });
      },
      async readSwapLimits({ route, token, amountIn }, at = "latest") {
        const { pool } = contracts;
        if (!pool) throw unavailable("no such pool");
        const { state, time } = pointAt(at);
        const isCoin = isNative(token);
        return {
          least: leastFor(pool, meanPrice(pool, state.poolPrices, time), { amountIn, isCoin }),
          capLeft: capLeftOf(pool, state.swapped.get(route) ?? [], { time, isCoin }),
        };
      },
      encodeSwapData: (order) => encode(order),
    },
    cctp: cctp && {
      contracts: cctp,
      buildReceive: (message, attestation) =>
        toCall({ kind: "receive", message, attestation }, cctp.transmitter),
      encodeBurnData: (terms) => encode(terms),
      encodeSwapBurnData: (order) => encode(order),
      readBurnLimit: async (token) => (token === cctp.token ? cctp.burnLimit : 0n),
      readContractHeight: async () => head.number,
      findMint: async (nonce, at) => stateAt(at).minted.get(nonce) ?? null,
    },

    sync(behind) {
      staleHead = head;
      const chosen = chain.branchOf(chain.head).at(-1 - behind) ?? chain.head;
      head = chosen;
      finalNumber = chain.finalNumber < chosen.number ? chain.finalNumber : chosen.number;
    },

    checkIdentity: async () => undefined,
    getHead: async () => refOf(head),
    getFinalNumber: async () => finalNumber,
    getFinalBlock: async () => refOf(finalBlock()),
    async getSafeBlock() {
      // Half of the way from the final block to the head.
      const number = finalNumber + (head.number - finalNumber) / 2n;
      return refOf(branch()[Number(number)] ?? finalBlock());
    },
    getTime: async (at) => pointAt(at).time,
    async getBlock(number) {
      const block = branch()[Number(number)];
      return block ? refOf(block) : null;
    },
    readSection: readSectionOf(() => head),
    readStale: readSectionOf(() => staleHead),
    getBalance: async (token, owner, at) => stateAt(at).balanceOf(token, owner),
    readHolding: async (token, owner) => ({ amount: head.state.balanceOf(token, owner) }),
    getLeastPayment: async () => 1n,
    simulatePayment: async () => (head.state.isBlocking ? "refused" : "accepted"),
    findBalance: async (token, owner, at) => stateAt(at).balanceOf(token, owner),
    readSurcharge: async () => 0n,
    suggestFees: async () => ({
      gasPriceMax: chain.baseFee * 2n + 1_000_000_000n,
      tipMax: 1_000_000_000n,
    }),
    async simulate(from, call) {
      const action = decode<Action>(call.data);
      const gas = (gasOf(action) * 12n) / 10n;
      const fee = chain.baseFee * 2n + 1_000_000_000n;
      if (head.state.balanceOf(NATIVE_TOKEN, from) < gas * fee) {
        throw new OperatingError("INSUFFICIENT_BALANCE", "The lane cannot pay for gas.", {
          details: { chainId, reason: "gas" },
        });
      }
      const env = {
        contracts,
        from,
        txHash: hashOf(call.data),
        blockNumber: head.number + 1n,
        time: head.time + 1n,
      };
      const tried = tryRun(chain, head.state, env, action);
      return "reason" in tried ? { ok: false, reason: tried.reason } : { ok: true, gas };
    },
    async send(raw) {
      return chain.offer(parseRaw(raw));
    },
    async getReceipt(txHash) {
      const block = chain
        .placesOf(txHash)
        .find((place) => branch()[Number(place.number)] === place);
      const mined = block?.transactions.find(({ transaction }) => transaction.hash === txHash);
      return block && mined ? receiptOf(block, mined) : null;
    },

    predictWallet,
    hashCommitment,
    isWalletOf: ({ commitment, wallet }) => predictWallet(commitment) === wallet,
    buildSettle({ commitment, token, route, routeData, amount, asOf, proof = [] }) {
      const terms = routeData === "0x" ? null : decode<RouteTerms>(routeData);
      const maxAmount = asOf === undefined ? 0n : amount;
      return toCall({ kind: "settle", commitment, token, maxAmount, route, terms, proof });
    },
    buildDeliver: (order, signature) => toCall({ kind: "deliver", order, signature }, delivery),
    buildClaim: (claim, signature, { facts: lock }) =>
      toCall({ kind: "claim", lock, claim, signature }),
    buildReturn: (order, signature, { facts: lock }) =>
      toCall({ kind: "return", lock, order, signature }),
    combine(calls: readonly GasCall[]) {
      for (const kind of ["deploy", "settle", "deliver", "claim"]) {
        const members = calls.flatMap(({ call, gas }, index) => {
          const action = decode<Action>(call.data);
          return action.kind === kind ? [{ index, gas, action }] : [];
        });
        const chosen = members.slice(0, BATCH_MAX);
        if (chosen.length < 2) continue;
        return {
          call: toCall({ kind: "many", jobs: chosen.map(({ action }) => action) }),
          gas: chosen.reduce((sum, { gas }) => sum + gas, 60_000n),
          members: chosen.map(({ index }) => index),
          isFull: chosen.length === BATCH_MAX,
        };
      }
      return null;
    },
    tookEffect(receipt, call) {
      const action = decode<Action>(call.data);
      if (!receipt.succeeded) return false;
      return receipt.effects.some((effect) => {
        if (action.kind === "deploy") {
          return effect.kind === "deployed" && effect.wallet === predictWallet(action.commitment);
        }
        if (action.kind === "deliver") {
          const deliveryId = deliveryIdOfPayout(delivery, action.order);
          return effect.kind === "delivered" && effect.deliveryId === deliveryId;
        }
        if (action.kind === "claim") {
          return effect.kind === "claimed" && effect.deliveryId === action.claim.deliveryId;
        }
        return (
          action.kind === "settle" &&
          effect.kind === "settled" &&
          effect.wallet === predictWallet(action.commitment) &&
          effect.token === action.token
        );
      });
    },
    encodeLockData: () => "0x",
    encodeTransferData: (fee) => encode(fee),
    deliveryIdOf: (lock) => deliveryIdOf({ ...lock, srcChain: chainId, escrow }),
    deliveryIdOfPayout: (payout) => deliveryIdOfPayout(delivery, payout),
    async findRefund({ wallet, token, fromBlock }) {
      const final = branch().filter(({ number }) => number >= fromBlock && number <= finalNumber);
      const refunds = final.flatMap((block) =>
        block.transactions.flatMap((mined) =>
          mined.logs.flatMap((log, index) => {
            if (log.kind !== "effect" || log.effect.kind !== "refunded") return [];
            const { to, amount, ...holding } = log.effect;
            if (holding.wallet !== wallet || holding.token !== token) return [];
            const place = { blockNumber: block.number, logIndex: mined.firstLog + index };
            return [{ to, amount, txHash: mined.transaction.hash, ...place }];
          }),
        ),
      );
      return refunds.at(-1) ?? null;
    },
    getLock: async (lock, at) =>
      stateAt(at).locks.get(deliveryIdOf({ ...lock, srcChain: chainId, escrow })) ?? null,
    async findDelivery({ deliveryId }, at, hints = []) {
      const paid = stateAt(at).delivered.get(deliveryId) ?? null;
      if (!paid || hints.includes(paid.txHash)) return paid;
      return head.number - paid.blockNumber < NEWEST_BLOCKS ? paid : "unlocated";
    },
    payoutSearch: {
      findBlockAt: async (timeS) =>
        branch().find(({ time }) => time >= timeS)?.number ?? head.number + 1n,
      async findIn({ deliveryId }, { from, to }) {
        if (to - from >= PART_BLOCKS) throw unavailable("too many blocks for one search");
        const paid = head.state.delivered.get(deliveryId) ?? null;
        return paid && paid.blockNumber >= from && paid.blockNumber <= to ? paid : null;
      },
      async listIn({ from, to }) {
        if (to - from >= PART_BLOCKS) throw unavailable("too many blocks for one search");
        return [...head.state.delivered.values()].filter(
          ({ blockNumber }) => blockNumber >= from && blockNumber <= to,
        );
      },
      async listOrdered(txHash) {
        const mined = branch()
          .flatMap(({ transactions }) => transactions)
          .find(({ transaction }) => transaction.hash === txHash);
        if (!mined) throw unavailable("transaction unknown");
        return listOrders(mined.transaction.action);
      },
    },
    // Nobody governs these contracts.
    governance: { getDelay: async () => 0n, listChanges: async () => [] },
    treasury: null,
    isDelivered: async ({ deliveryId }, at) => stateAt(at).delivered.has(deliveryId),
    getPayoutWindow: async () => contracts.payoutWindowS,
    wasListed: async ({ role, account }) =>
      (role === "attestor" ? contracts.attestors : [...contracts.relayers]).includes(account),
    getThresholdAt: async () => contracts.threshold,
    getDailyCapLeft: async () => DAILY_CAP,
  };
}

/** Returns the orders of a payout or of a batch. */
function listOrders(action: Action): readonly Payout[] {
  if (action.kind === "deliver") return [action.order];
  return action.kind === "many" ? action.jobs.flatMap(listOrders) : [];
}

/** Decodes a signed transaction. */
export function parseRaw(raw: Hex): FakeTransaction {
  return { ...decode<Omit<FakeTransaction, "hash">>(raw), hash: hashOf(raw) };
}

function transfersOf(mined: MinedTransaction, tokens: readonly Address[]): Transfer[] {
  const counts = new Map<Address, number>();
  return mined.logs.flatMap((log, index) => {
    if (log.kind !== "transfer") return [];
    const ordinal = counts.get(log.token) ?? 0;
    counts.set(log.token, ordinal + 1);
    if (!tokens.includes(log.token) || log.amount === 0n) return [];
    const { token, from, to, amount } = log;
    const logIndex = mined.firstLog + index;
    return [{ token, from, to, amount, txHash: mined.transaction.hash, logIndex, ordinal }];
  });
}

/** Returns the payment of native coin that a transaction makes itself. */
export function paymentsOf(
  { transaction, succeeded }: MinedTransaction,
  logIndex: number,
): Transfer[] {
  const { action, from, hash: txHash } = transaction;
  if (!succeeded || action.kind !== "transfer" || !isNative(action.token)) return [];
  const { token, to, amount } = action;
  return [{ token, from, to, amount, txHash, logIndex, ordinal: 0 }];
}

/** Returns the outflows of wallets in a transaction; `logIndexOf` gives the index of each log in the block. */
export function outflowsOf(
  mined: MinedTransaction,
  logIndexOf: (index: number) => number,
): Outflow[] {
  const { hash: txHash } = mined.transaction;
  return mined.logs.flatMap((log, index): Outflow[] => {
    const logIndex = logIndexOf(index);
    if (log.kind === "returned") {
      const { wallet, token, amount } = log;
      return [{ kind: "returned", wallet, token, amount: -amount, txHash, logIndex }];
    }
    if (log.kind !== "effect") return [];
    const { effect } = log;
    if (effect.kind !== "settled" && effect.kind !== "refunded" && effect.kind !== "unattended")
      return [];
    const { wallet, token, amount } = effect;
    const kind = effect.kind === "settled" ? "swept" : effect.kind;
    return [{ kind, wallet, token, amount, txHash, logIndex }];
  });
}

function receiptOf(block: FakeBlock, mined: MinedTransaction): Receipt {
  const effects = mined.logs.flatMap((log, index): Effect[] => {
    if (log.kind !== "effect") return [];
    const { effect } = log;
    return [effect.kind === "settled" ? { ...effect, logIndex: mined.firstLog + index } : effect];
  });
  return {
    txHash: mined.transaction.hash,
    blockHash: block.hash,
    blockNumber: block.number,
    succeeded: mined.succeeded,
    gasCost: mined.gasCost,
    effects,
  };
}
