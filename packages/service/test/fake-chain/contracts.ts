/**
 * A model of our contracts: permissions and transfers. Written from the decisions on the contracts, not from their code;
 * the real contracts are tested on real nodes.
 */
import { isRouteProven } from "@sluice/sdk/address";
import { type Commitment, NO_ROUTE_SET, UNATTENDED } from "../../src/core/commitment.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  isNative,
  NATIVE_TOKEN,
  padAddress,
  toHex32,
  type TxHash,
  unpadAddress,
} from "../../src/core/hex.ts";
import type {
  BurnTerms,
  ClaimProof,
  Payout,
  Effect,
  FoundDelivery,
  FoundMint,
  Lock,
  LockFacts,
  ReturnProof,
  RouteFee,
  TakeBackStep,
  PoolSwapBurnTerms,
  PoolSwapTerms,
  RefundProof,
} from "../../src/chains/port/index.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import {
  FAST,
  type FakeCctp,
  readMessage,
  showNonce,
  signMessage,
  STANDARD,
  writeMessage,
} from "./cctp.ts";
import { deliveryIdOf, deliveryIdOfPayout, hash, hashCommitment, predictWallet } from "./codec.ts";
import { capLeftOf, type FakePool, givenFor, leastFor, type Market, meanPrice } from "./pool.ts";

/** The contracts of a chain. */
export interface FakeContracts {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly factory: Address;
  readonly escrow: Address;
  readonly delivery: Address;
  readonly treasury: Address;
  readonly feeRecipient: Address;
  /** Sorted. */
  readonly attestors: readonly Address[];
  readonly threshold: number;
  /** Seconds after its lock in which a delivery is paid. */
  readonly payoutWindowS: bigint;
  /** Seconds from the announcement of a settlement by anybody to its execution. */
  readonly unattendedDelayS: bigint;
  /** Accounts that may deploy, settle, deliver, claim and return. */
  readonly relayers: ReadonlySet<Address>;
  readonly routes: ReadonlyMap<Address, FakeRoute>;
  /** Null on a chain without the bridge. */
  readonly cctp: FakeCctp | null;
  /** The pool; null on a chain without one. */
  readonly pool: FakePool | null;
}

export type FakeRoute =
  | { readonly kind: "transfer"; readonly token: Address }
  | {
      readonly kind: "escrow";
      readonly token: Address;
      readonly destChain: number;
      readonly destToken: Address;
      readonly delivery: Address;
      readonly decimalsIn: number;
      readonly decimalsOut: number;
    }
  | {
      readonly kind: "cctp";
      readonly token: Address;
      readonly destChain: number;
      readonly destToken: Address;
      readonly destDomain: number;
    }
  /** A pool swap on one chain. */
  | { readonly kind: "swap"; readonly token: Address; readonly destToken: Address }
  /** A pool swap, then a burn. */
  | {
      readonly kind: "swap_cctp";
      readonly token: Address;
      readonly bridgeToken: Address;
      readonly destChain: number;
      readonly destToken: Address;
      readonly destDomain: number;
    };

/** The action of a transaction. */
export type Action =
  | {
      readonly kind: "transfer";
      readonly token: Address;
      readonly to: Address;
      readonly amount: bigint;
    }
  /** Several transfers to one account in one transaction, like an exchange's payout. */
  | {
      readonly kind: "payout";
      readonly token: Address;
      readonly to: Address;
      readonly amounts: readonly bigint[];
    }
  /** The issuer takes one part in `share` of a wallet's tokens out of existence, without a transfer. */
  | {
      readonly kind: "destroy";
      readonly token: Address;
      readonly wallet: Address;
      readonly share: bigint;
    }
  /** Native coin that a contract pays; no transaction's value shows it. */
  | { readonly kind: "hidden_transfer"; readonly to: Address; readonly amount: bigint }
  | { readonly kind: "deploy"; readonly commitment: Commitment }
  | SettleAction
  | { readonly kind: "deliver"; readonly order: Payout; readonly signature: Hex }
  | {
      readonly kind: "claim";
      readonly lock: LockFacts;
      readonly claim: ClaimProof;
      readonly signature: Hex;
    }
  | {
      readonly kind: "return";
      readonly lock: LockFacts;
      readonly order: ReturnProof;
      readonly signature: Hex;
    }
  | { readonly kind: "refund"; readonly commitment: Commitment; readonly token: Address }
  | { readonly kind: "attested_refund"; readonly proof: RefundProof; readonly signature: Hex }
  | TakeBackStep
  | {
      readonly kind: "announce_settlement";
      readonly commitment: Commitment;
      readonly token: Address;
    }
  | {
      readonly kind: "settle_unattended";
      readonly commitment: Commitment;
      readonly token: Address;
      readonly route: Address;
      readonly proof: readonly Hex32[];
    }
  | { readonly kind: "receive"; readonly message: Hex; readonly attestation: Hex }
  /** A trader moves the pool, or the market price moves. */
  | { readonly kind: "trade"; readonly market: Market }
  | { readonly kind: "many"; readonly jobs: readonly Action[] }
  /** A signed order, on a chain without contracts. */
  | { readonly kind: "order"; readonly order: Order };

/** Terms of a relayer's call of a route. */
export type RouteTerms = RouteFee | BurnTerms | PoolSwapTerms | PoolSwapBurnTerms;

export interface SettleAction {
  readonly kind: "settle";
  readonly commitment: Commitment;
  readonly token: Address;
  /** Zero for the whole balance. */
  readonly maxAmount: bigint;
  readonly route: Address;
  readonly terms: RouteTerms | null;
  readonly proof: readonly Hex32[];
}

/** A log of a mined transaction, in order. */
export type FakeLog =
  | {
      readonly kind: "transfer";
      readonly token: Address;
      readonly from: Address;
      readonly to: Address;
      readonly amount: bigint;
    }
  | { readonly kind: "effect"; readonly effect: Effect }
  | {
      readonly kind: "returned";
      readonly wallet: Address;
      readonly token: Address;
      readonly amount: bigint;
    }
  | {
      readonly kind: "destroyed";
      readonly wallet: Address;
      readonly token: Address;
      readonly amount: bigint;
    }
  | {
      readonly kind: "minted";
      readonly nonce: Hex32;
      readonly token: Address;
      readonly to: Address;
      /** Base units that the recipient received. */
      readonly amount: bigint;
      readonly fee: bigint;
    };

/** The state of a chain at a block. */
export class State {
  readonly balances: Map<string, bigint>;
  readonly nonces: Map<Address, number>;
  readonly code: Set<Address>;
  readonly seqs: Map<string, bigint>;
  /** By delivery id. The wallet is not the contract's knowledge, which computes it from the commitment. */
  readonly locks: Map<Hex32, Lock & { readonly wallet: Address }>;
  readonly delivered: Map<Hex32, FoundDelivery>;
  /** Times of standing announcements of take-backs, by token and wallet. */
  readonly announcements: Map<string, bigint>;
  /** The same of settlements by anybody. */
  readonly openSettlements: Map<string, bigint>;
  /** Deadlines of the newest refunds by signatures, by token and wallet. */
  readonly lastRefunds: Map<string, bigint>;
  /** By nonce. */
  readonly minted: Map<Hex32, FoundMint>;
  market: Market;
  /** Changes of the pool's price, the oldest first. */
  poolPrices: readonly { readonly time: bigint; readonly pool: bigint }[];
  /** Inputs of swaps by route, the oldest first. */
  readonly swapped: Map<Address, readonly { readonly time: bigint; readonly amount: bigint }[]>;
  /** Whether the guardian paused settlements. */
  isPaused: boolean;
  /** Whether the issuers of tokens block every recipient of a payout or mint. */
  isBlocking: boolean;

  constructor(from?: State) {
    this.balances = new Map(from?.balances);
    this.nonces = new Map(from?.nonces);
    this.code = new Set(from?.code);
    this.seqs = new Map(from?.seqs);
    this.locks = new Map(from?.locks);
    this.delivered = new Map(from?.delivered);
    this.announcements = new Map(from?.announcements);
    this.openSettlements = new Map(from?.openSettlements);
    this.lastRefunds = new Map(from?.lastRefunds);
    this.minted = new Map(from?.minted);
    this.market = from?.market ?? { fair: 0n, pool: 0n };
    this.poolPrices = from?.poolPrices ?? [];
    this.swapped = new Map(from?.swapped);
    this.isPaused = from?.isPaused ?? false;
    this.isBlocking = from?.isBlocking ?? false;
  }

  balanceOf(token: Address, owner: Address): bigint {
    return this.balances.get(`${token}:${owner}`) ?? 0n;
  }

  credit(token: Address, owner: Address, amount: bigint): void {
    this.balances.set(`${token}:${owner}`, this.balanceOf(token, owner) + amount);
  }

  /** Replaces this state by one that was copied from it and changed. */
  become(other: State): void {
    Object.assign(this, other);
  }

  nonceOf(account: Address): number {
    return this.nonces.get(account) ?? 0;
  }
}

/** A revert; the message is the name of the contract's error. */
export class Reverted extends Error {
  override readonly name = "Reverted";
}

/** The block context of a transaction. */
export interface Environment {
  readonly contracts: FakeContracts;
  readonly from: Address;
  readonly txHash: TxHash;
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly time: bigint;
}

const BPS = 10_000n;

/** Seconds after a lock, and after its announcement, from which it can be taken back. */
export const TAKE_BACK_AFTER_S = 72n * 3600n;
export const TAKE_BACK_NOTICE_S = 24n * 3600n;

/** Returns whether as many attestors as the threshold signed, sorted, and nobody else. */
export function isAttested(
  { attestors, threshold, chainId }: Pick<FakeContracts, "attestors" | "threshold" | "chainId">,
  contract: Address,
  signatures: Hex,
  fields: readonly (string | bigint)[],
): boolean {
  const each = signatures.slice(2).match(/.{64}/g) ?? [];
  const signers = each.map((one) =>
    attestors.findIndex(
      (attestor) => attestation(attestor, contract, chainId, ...fields) === `0x${one}`,
    ),
  );
  const isSorted = signers.every((signer, index) => signer > (signers[index - 1] ?? -1));
  return isSorted && signers.length >= threshold;
}

/** Returns the fields of a refund that attestors sign. */
export function fieldsOfRefund(proof: RefundProof): readonly (string | bigint)[] {
  const { commitment, token, maxAmount, reason, deadline } = proof;
  return ["refund", predictWallet(commitment), token, maxAmount, reason, deadline];
}

/** Returns an attestor's signature as the contracts check it, over a name and every field. */
export function attestation(
  attestor: Address,
  contract: Address,
  chainId: number,
  ...fields: readonly (string | bigint)[]
): Hex {
  return hash("attestation", attestor, contract, chainId, ...fields);
}

/**
 * Runs an action. Throws `Reverted`; the caller then discards the state.
 * @returns the logs, in order.
 */
export function run(state: State, env: Environment, action: Action): FakeLog[] {
  const logs: FakeLog[] = [];
  const { contracts, from, time } = env;
  const require = (holds: boolean, error: string) => {
    if (!holds) throw new Reverted(error);
  };
  const move = (token: Address, payer: Address, to: Address, amount: bigint) => {
    require(state.balanceOf(token, payer) >= amount, "InsufficientBalance");
    state.credit(token, payer, -amount);
    state.credit(token, to, amount);
    if (!isNative(token)) logs.push({ kind: "transfer", token, from: payer, to, amount });
  };
  const log = (effect: Effect) => logs.push({ kind: "effect", effect });
  const relayed = () => require(contracts.relayers.has(from), "NotRelayer");

  switch (action.kind) {
    case "transfer":
      move(action.token, from, action.to, action.amount);
      return logs;
    case "payout":
      for (const amount of action.amounts) move(action.token, from, action.to, amount);
      return logs;
    case "destroy": {
      const { token, wallet, share } = action;
      const amount = state.balanceOf(token, wallet) / share;
      require(amount > 0n, "NothingToDestroy");
      state.credit(token, wallet, -amount);
      logs.push({ kind: "destroyed", wallet, token, amount });
      return logs;
    }
    case "hidden_transfer":
      move(NATIVE_TOKEN, from, action.to, action.amount);
      return logs;
    case "deploy": {
      relayed();
      const wallet = predictWallet(action.commitment);
      require(!state.code.has(wallet), "AlreadyDeployed");
      state.code.add(wallet);
      log({ kind: "deployed", wallet, commitment: hashCommitment(action.commitment) });
      return logs;
    }
    case "settle":
      relayed();
      require(!state.isPaused, "IsPaused");
      log({ kind: "settled", ...settle(action), route: action.route, logIndex: 0 });
      return logs;
    case "announce_settlement": {
      const { commitment, token } = action;
      require(commitment.flags === UNATTENDED, "NotUnattended");
      const wallet = predictWallet(commitment);
      require(state.balanceOf(token, wallet) > 0n, "NothingToSettle");
      require(!state.openSettlements.has(`${token}:${wallet}`), "AlreadyAnnounced");
      state.openSettlements.set(`${token}:${wallet}`, time);
      return logs;
    }
    case "settle_unattended": {
      require(!state.isPaused, "IsPaused");
      const { commitment, token } = action;
      const announcedAt = state.openSettlements.get(`${token}:${predictWallet(commitment)}`);
      if (announcedAt === undefined) throw new Reverted("NotAnnounced");
      require(time >= announcedAt + contracts.unattendedDelayS, "TooEarly");
      require(contracts.routes.get(action.route)?.kind === "transfer", "NotUnattendedRoute");
      const terms = { bps: 0, flat: 0n };
      log({ kind: "unattended", ...settle({ ...action, kind: "settle", maxAmount: 0n, terms }) });
      return logs;
    }
    case "many": {
      relayed();
      for (const job of action.jobs) {
        const attempt = new State(state);
        try {
          const own = run(attempt, env, job);
          logs.push(...own);
          state.become(attempt);
        } catch (error) {
          if (!(error instanceof Reverted)) throw error;
        }
      }
      return logs;
    }
    case "deliver": {
      relayed();
      const { order, signature } = action;
      const { commitment } = order;
      require(commitment.destChain === contracts.chainId, "WrongDestChain");
      require(time <= order.windowStart + contracts.payoutWindowS, "PayoutWindowOver");
      require(order.amount > 0n, "ZeroAmount");
      require(order.amount >= order.minOut, "BelowMinimum");
      const deliveryId = deliveryIdOfPayout(contracts.delivery, order);
      require(!state.delivered.has(deliveryId), "AlreadyDelivered");
      const fields = [deliveryId, order.amount, order.windowStart];
      require(isAttested(contracts, contracts.delivery, signature, fields), "NotAttestor");
      const to = unpadAddress(commitment.destWallet);
      const token = unpadAddress(commitment.destToken);
      require(!state.isBlocking, "Blocked");
      const facts = {
        deliveryId,
        commitment: hashCommitment(commitment),
        to,
        token,
        amount: order.amount,
      };
      log({ kind: "delivered", ...facts });
      move(token, contracts.delivery, to, order.amount);
      state.delivered.set(deliveryId, {
        ...facts,
        txHash: env.txHash,
        blockNumber: env.blockNumber,
      });
      return logs;
    }
    case "claim": {
      relayed();
      const { paidAmount, deadline } = action.claim;
      const deliveryId = idOf(action.lock);
      const fields = ["claim", deliveryId, paidAmount, deadline];
      const isSigned = isAttested(contracts, contracts.escrow, action.signature, fields);
      const lock = agreed(deliveryId, deadline, isSigned);
      require(paidAmount >= lock.minOut, "PaidTooLittle");
      log({ kind: "claimed", deliveryId, amount: lock.amount });
      move(lock.token, contracts.escrow, contracts.treasury, lock.amount);
      state.locks.set(deliveryId, { ...lock, state: "claimed" });
      return logs;
    }
    case "return": {
      relayed();
      const { deadline } = action.order;
      const deliveryId = idOf(action.lock);
      const fields = ["return", deliveryId, deadline];
      const isSigned = isAttested(contracts, contracts.escrow, action.signature, fields);
      const lock = agreed(deliveryId, deadline, isSigned);
      logs.push({ kind: "returned", wallet: lock.wallet, token: lock.token, amount: lock.amount });
      move(lock.token, contracts.escrow, lock.wallet, lock.amount);
      state.locks.set(deliveryId, { ...lock, state: "returned" });
      return logs;
    }
    case "refund": {
      const { commitment, token } = action;
      require(from === unpadAddress(commitment.refundAuthority), "NotRefundAuthority");
      const wallet = predictWallet(commitment);
      const amount = state.balanceOf(token, wallet);
      require(amount > 0n, "NothingToRefund");
      state.code.add(wallet);
      state.openSettlements.delete(`${token}:${wallet}`);
      move(token, wallet, from, amount);
      log({ kind: "refunded", wallet, token, to: from, amount, reason: null });
      return logs;
    }
    case "attested_refund": {
      relayed();
      const { proof, signature } = action;
      const { commitment, token, maxAmount, reason, deadline } = proof;
      require(deadline >= time, "Expired");
      require(deadline <= time + 600n, "DeadlineTooFar");
      const wallet = predictWallet(commitment);
      const account = `${token}:${wallet}`;
      require(deadline > (state.lastRefunds.get(account) ?? 0n), "AlreadyRefunded");
      const fields = fieldsOfRefund(proof);
      require(isAttested(contracts, contracts.factory, signature, fields), "NotAttestor");
      const balance = state.balanceOf(token, wallet);
      const amount = balance < maxAmount ? balance : maxAmount;
      require(amount > 0n, "Nothing");
      state.lastRefunds.set(account, deadline);
      state.openSettlements.delete(account);
      state.code.add(wallet);
      const to = unpadAddress(commitment.refundAuthority);
      move(token, wallet, to, amount);
      log({ kind: "refunded", wallet, token, to, amount, reason });
      return logs;
    }
    case "announce":
    case "cancel": {
      require(from === unpadAddress(action.commitment.refundAuthority), "NotRefundAuthority");
      const account = `${action.token}:${predictWallet(action.commitment)}`;
      const stands = state.announcements.has(account);
      if (action.kind === "announce") {
        require(!stands, "TakeBackPending");
        state.announcements.set(account, time);
      } else {
        require(stands, "NotAnnounced");
        state.announcements.delete(account);
      }
      return logs;
    }
    case "take_back": {
      const deliveryId = idOf(action.lock);
      const lock = state.locks.get(deliveryId);
      if (lock?.state !== "locked") throw new Reverted("NotLocked");
      require(hashCommitment(action.commitment) === lock.commitment, "WrongCommitment");
      require(from === unpadAddress(action.commitment.refundAuthority), "NotRefundAuthority");
      const announcedAt = state.announcements.get(`${lock.token}:${lock.wallet}`);
      if (announcedAt === undefined) throw new Reverted("NotAnnounced");
      const afterLock = lock.lockedAt + TAKE_BACK_AFTER_S;
      const afterNotice = announcedAt + TAKE_BACK_NOTICE_S;
      require(time >= afterLock && time >= afterNotice, "TooEarly");
      move(lock.token, contracts.escrow, from, lock.amount);
      state.locks.set(deliveryId, { ...lock, state: "taken_back" });
      return logs;
    }
    case "receive":
      require(action.attestation === signMessage(action.message), "NotAttested");
      receive(action.message);
      return logs;
    case "trade":
      state.market = action.market;
      state.poolPrices = [...state.poolPrices, { time, pool: action.market.pool }];
      return logs;
    case "order":
      throw new Reverted("NoOrders");
  }

  /** The contract stores only state and time by this hash, so that a call with any other fact finds no lock. */
  function idOf(lock: LockFacts): Hex32 {
    return deliveryIdOf({ ...lock, srcChain: contracts.chainId, escrow: contracts.escrow });
  }

  function agreed(deliveryId: Hex32, deadline: bigint, isSigned: boolean) {
    require(deadline >= time, "Expired");
    require(deadline <= time + 86_400n, "DeadlineTooFar");
    require(isSigned, "NotAttestor");
    const lock = state.locks.get(deliveryId);
    if (lock?.state !== "locked") throw new Reverted("NotLocked");
    return lock;
  }

  /** Mints for a bridge message, which any account can submit once. */
  function receive(bytes: Hex): void {
    const { cctp } = contracts;
    const message = readMessage(bytes);
    if (!cctp || message.to !== BigInt(cctp.domain)) throw new Reverted("WrongDomain");
    const nonce = showNonce(message);
    require(!state.minted.has(nonce), "NonceAlreadyUsed");
    const remote = cctp.remotes.get(Number(message.from));
    if (!remote || message.sender !== BigInt(remote.messenger)) throw new Reverted("WrongSender");
    require(message.receiver === BigInt(cctp.messenger), "WrongReceiver");
    require(message.token === BigInt(remote.token), "WrongToken");
    require(message.expiry === 0n || message.expiry > env.blockNumber, "MessageExpired");
    const { amount, fee, maxFee } = message;
    require((fee === 0n || fee < amount) && fee <= maxFee, "FeeAboveMax");
    require(!state.isBlocking, "Blocked");
    const { token } = cctp;
    const to = unpadAddress(toHex32(`0x${message.recipient.toString(16).padStart(64, "0")}`));
    state.credit(token, to, amount - fee);
    state.credit(token, cctp.feeRecipient, fee);
    const facts = { token, to, amount: amount - fee, fee };
    logs.push({ kind: "transfer", token, from: NATIVE_TOKEN, to, amount: amount - fee });
    logs.push({ kind: "minted", nonce, ...facts });
    const { txHash, blockNumber } = env;
    state.minted.set(nonce, { ...facts, txHash, blockNumber });
  }

  /** Takes the fee from a deposit, then burns the rest. */
  function burnDeposit(
    { commitment, terms, route }: SettleAction,
    { token, destDomain }: Extract<FakeRoute, { kind: "cctp" }>,
    amount: bigint,
  ): void {
    if (!terms || !("maxFee" in terms) || "price" in terms) throw new Reverted("InvalidData");
    const fee = (amount * BigInt(terms.fee.bps)) / BPS + terms.fee.flat;
    require(fee + terms.maxFee <= (amount * BigInt(commitment.maxFeeBps)) / BPS, "FeeAboveCap");
    const wallet = predictWallet(commitment);
    if (fee > 0n) move(token, wallet, contracts.feeRecipient, fee);
    move(token, wallet, route, amount - fee);
    burn(commitment, terms, { burner: route, token, destDomain, burned: amount - fee, fee });
  }

  function burn(
    commitment: Commitment,
    { maxFee, minFinalityThreshold }: BurnTerms,
    args: {
      /** The route, which the wallet or the pool paid. */
      readonly burner: Address;
      readonly token: Address;
      readonly destDomain: number;
      readonly burned: bigint;
      readonly fee: bigint;
    },
  ): void {
    const { burner, token, destDomain, burned, fee } = args;
    const { cctp } = contracts;
    const remote = cctp?.remotes.get(destDomain);
    if (!cctp || !remote) throw new Reverted("InvalidData");
    const wallet = predictWallet(commitment);
    require([FAST, STANDARD].includes(minFinalityThreshold), "InvalidFinality");
    require(maxFee < burned, "MaxFeeNotBelowAmount");
    require(burned <= cctp.burnLimit, "BurnAboveLimit");
    move(token, burner, cctp.messenger, burned);
    state.credit(token, cctp.messenger, -burned);
    const message = writeMessage({
      version: 1n,
      from: BigInt(cctp.domain),
      to: BigInt(destDomain),
      nonce: 0n,
      sender: BigInt(cctp.messenger),
      receiver: BigInt(remote.messenger),
      caller: 0n,
      wanted: BigInt(minFinalityThreshold),
      executed: 0n,
      bodyVersion: 1n,
      token: BigInt(token),
      recipient: BigInt(commitment.destWallet),
      amount: burned,
      burner: BigInt(burner),
      maxFee,
      fee: 0n,
      expiry: 0n,
      hook: BigInt(wallet),
    });
    log({ kind: "message_sent", message });
    const recipient = commitment.destWallet;
    log({ kind: "burned", wallet, token, amount: burned, fee, maxFee, destDomain, recipient });
  }

  /** Exchanges at the pool within the attestor's signed price and the order's minimum; pays `to`. */
  function swap(
    { commitment, token, route, terms }: SettleAction,
    { tokenOut, to, amount }: { tokenOut: Address; to: Address; amount: bigint },
  ): { readonly fee: bigint; readonly amountIn: bigint; readonly amountOut: bigint } {
    const { pool, feeRecipient } = contracts;
    if (!pool || !terms || !("price" in terms)) throw new Reverted("InvalidData");
    const wallet = predictWallet(commitment);
    const { price, signature, minOut, deadline } = terms;
    require(deadline >= time && price.deadline >= time, "Expired");
    require(deadline <= time + 600n && price.deadline <= time + 120n, "DeadlineTooFar");
    require(amount <= price.maxAmount, "AboveMaxAmount");
    const { rate, maxAmount } = price;
    const fields = ["price", wallet, token, rate, maxAmount, price.deadline] as const;
    require(isAttested(contracts, route, signature, fields), "NotAttestor");
    const fee = (amount * BigInt(terms.fee.bps)) / BPS + terms.fee.flat;
    const cap = (amount * BigInt(commitment.maxFeeBps)) / BPS;
    require(fee <= cap && fee < amount, "FeeAboveCap");
    const amountIn = amount - fee;
    const isCoin = token === NATIVE_TOKEN;
    const [inside, outside] = isCoin
      ? [pool.coinDecimals, pool.tokenDecimals]
      : [pool.tokenDecimals, pool.coinDecimals];
    const fair = (amountIn * rate * 10n ** outside) / (10n ** 18n * 10n ** inside);
    const least = fair - (fair * BigInt(commitment.maxSlippageBps)) / BPS;
    require(least > 0n, "NoMinimum");
    const earlier = state.swapped.get(route) ?? [];
    require(amountIn <= capLeftOf(pool, earlier, { time, isCoin }), "AboveDailyCap");
    state.swapped.set(route, [...earlier, { time, amount: amountIn }]);
    const amountOut = givenFor(pool, state.market, { amountIn, isCoin });
    const mean = meanPrice(pool, state.poolPrices, time);
    require(amountOut >= leastFor(pool, mean, { amountIn, isCoin }), "ReceivedLess");
    require(amountOut >= least && amountOut >= minOut, "ReceivedLess");
    if (fee > 0n) move(token, wallet, feeRecipient, fee);
    move(token, wallet, pool.account, amountIn);
    move(tokenOut, pool.account, to, amountOut);
    log({ kind: "swapped", wallet, to, tokenIn: token, tokenOut, amountIn, amountOut, fee });
    return { fee, amountIn, amountOut };
  }

  function settle(action: SettleAction) {
    const { commitment, token, maxAmount, route: contract, terms, proof } = action;
    const wallet = predictWallet(commitment);
    require(commitment.flags <= UNATTENDED, "UnknownFlags");
    if (commitment.routes !== NO_ROUTE_SET) {
      const leaf = { evmChainId: contracts.chainId, route: contract };
      require(isRouteProven(commitment.routes, leaf, proof), "RouteNotCommitted");
    }
    const route = contracts.routes.get(contract);
    if (!route || route.token !== token) throw new Reverted("WrongToken");
    const balance = state.balanceOf(token, wallet);
    require(balance > 0n, "NothingToSettle");
    const amount = maxAmount === 0n || balance < maxAmount ? balance : maxAmount;
    // A part ends no announcement, so that crumbs cannot put it off.
    if (amount === balance) state.openSettlements.delete(`${token}:${wallet}`);
    if (!state.code.has(wallet)) {
      state.code.add(wallet);
      log({ kind: "deployed", wallet, commitment: hashCommitment(commitment) });
    }
    if (route.kind === "transfer") {
      require(commitment.destChain === contracts.chainId, "WrongDestChain");
      require(commitment.destToken === padAddress(token), "WrongDestToken");
      if (!terms || !("bps" in terms)) throw new Reverted("InvalidData");
      const fee = (amount * BigInt(terms.bps)) / BPS + terms.flat;
      const cap = (amount * BigInt(commitment.maxFeeBps)) / BPS;
      require(fee <= cap && fee < amount, "FeeAboveCap");
      const to = unpadAddress(commitment.destWallet);
      log({ kind: "transferred", wallet, token, to, amount: amount - fee, fee });
      if (fee > 0n) move(token, wallet, contracts.feeRecipient, fee);
      move(token, wallet, to, amount - fee);
    } else if (route.kind === "cctp") {
      require(commitment.destChain === route.destChain, "WrongDestChain");
      require(commitment.destToken === padAddress(route.destToken), "WrongDestToken");
      burnDeposit(action, route, amount);
    } else if (route.kind === "swap") {
      require(commitment.destChain === contracts.chainId, "WrongDestChain");
      require(commitment.destToken === padAddress(route.destToken), "WrongDestToken");
      const to = unpadAddress(commitment.destWallet);
      swap(action, { tokenOut: route.destToken, to, amount });
    } else if (route.kind === "swap_cctp") {
      require(commitment.destChain === route.destChain, "WrongDestChain");
      require(commitment.destToken === padAddress(route.destToken), "WrongDestToken");
      if (!terms || !("maxFee" in terms)) throw new Reverted("InvalidData");
      const { bridgeToken, destDomain } = route;
      const filled = swap(action, { tokenOut: bridgeToken, to: contract, amount });
      // The rest of the cap after the fee, at the price of the pool swap.
      const left = (amount * BigInt(commitment.maxFeeBps)) / BPS - filled.fee;
      require(terms.maxFee <= (left * filled.amountOut) / filled.amountIn, "FeeAboveCap");
      const burned = filled.amountOut;
      const facts = { burner: contract, token: bridgeToken, destDomain, burned, fee: 0n };
      burn(commitment, terms, facts);
    } else {
      require(commitment.destChain === route.destChain, "WrongDestChain");
      require(commitment.destToken === padAddress(route.destToken), "WrongDestToken");
      const kept = BPS - BigInt(commitment.maxFeeBps);
      const whole = amount * 10n ** BigInt(route.decimalsOut);
      const unit = 10n ** BigInt(route.decimalsIn);
      const leastOut = (whole * kept + BPS * unit - 1n) / (BPS * unit);
      const minOut = leastOut * unit > whole ? whole / unit : leastOut;
      require(minOut > 0n, "NothingPromised");
      require(!state.announcements.has(`${token}:${wallet}`), "TakeBackPending");
      const seq = state.seqs.get(route.delivery) ?? 0n;
      state.seqs.set(route.delivery, seq + 1n);
      const { escrow } = contracts;
      const facts = {
        commitment: hashCommitment(commitment),
        delivery: padAddress(route.delivery),
        token,
        amount,
        minOut,
        seq,
      };
      const deliveryId = idOf(facts);
      move(token, wallet, escrow, amount);
      const lock = { ...facts, lockedAt: time };
      state.locks.set(deliveryId, { ...lock, wallet, state: "locked" });
      log({ kind: "locked", escrow, deliveryId, wallet, ...lock });
    }
    return { wallet, token, amount };
  }
}
