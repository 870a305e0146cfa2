/** The contract port on Solana, which has no contracts of ours: orders to the signer, and their effects on the chain. */
import { ed25519 } from "@noble/curves/ed25519";
import { assert } from "../../core/assert.ts";
import { feeOf } from "../../core/amounts.ts";
import type { Commitment } from "../../core/commitment.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  NATIVE_SOL,
  type SolanaAddress,
} from "../../core/hex.ts";
import type {
  Call,
  ChainCodec,
  ContractReader,
  Effect,
  LockFacts,
  OpenLock,
  OwnAccounts,
  Receipt,
  SettleCall,
  VaultWallets,
} from "../port/index.ts";
import { bytesOf } from "./base58.ts";
import { markerAddressOf } from "./derived-accounts.ts";
import { type Actors } from "./effects.ts";
import { createHistorySearch } from "./history.ts";
import { isMarked, type LockReadDeps, readDelivery, readLock, readRefund } from "./locks.ts";
import { encodeOrders, parseOrders } from "./order-codec.ts";
import type { OrderFacts } from "./order-facts.ts";
import type { Order } from "./orders.ts";
import type { Quorum } from "./quorum.ts";
import { readStood } from "./stood.ts";
import { costOfStep, costOfUnits } from "./costs.ts";
import { encodeFee, encodeLockTerms, parseFee, parseLockTerms } from "./route-data.ts";

/** Hashes and ids of commitments, the same as on EVM chains. */
export interface Commitments {
  readonly hash: (commitment: Commitment) => Hex32;
  /** Returns the commitment's address on EVM chains. */
  readonly walletOf: (commitment: Commitment) => Address;
  readonly deliveryIdOf: (
    lock: LockFacts & { readonly srcChain: number; readonly escrow: Address },
  ) => Hex32;
}

/** The accounts of a deployment. */
export interface Accounts extends Actors {
  readonly treasury: SolanaAddress;
  /** Accounts that pay the fees of orders; one of them pays for every transaction of the service. */
  readonly feePayers: readonly SolanaAddress[];
}

/** Prefix of the signed binding; the commitment's hash and the vault follow. */
const BINDING_DOMAIN = Buffer.from("sluice/solana/binding/v1", "utf8");

function addressesOf({ binding, escrow, delivery }: Accounts): OwnAccounts {
  return { walletRoot: binding, escrow, delivery };
}

/** Returns the wallet operations: the signer pays refunds by order. */
export function createVaultWallets(
  { agreeFinal }: Pick<Quorum, "agreeFinal">,
  accounts: Accounts,
): VaultWallets {
  const addresses = addressesOf(accounts);
  return {
    kind: "vault",
    buildRefund: (commitment, token, { amount, sources, reason }) =>
      callOf(addresses, {
        kind: "refund",
        commitment,
        token,
        amount,
        reason,
        ...(sources && { sources }),
      }),
    readStood: (asked) => agreeFinal((node, minSlot) => readStood(node, minSlot, asked)),
  };
}

/** Creates the builder of orders and the reader of their effects. Every read may throw RPC_UNAVAILABLE. */
export function createContracts(
  quorum: Quorum,
  options: {
    readonly chainId: number;
    readonly accounts: Accounts;
    readonly commitments: Commitments;
    readonly ids: Pick<OrderFacts, "deliveryIdOfPayout">;
    /** Seconds after its lock in which the signer pays a delivery. */
    readonly payoutWindowS: bigint;
    /** Asks the signer, which keeps the daily cap, what may still be delivered of a token. Base units. */
    readonly capLeftOf: (token: Address) => Promise<bigint>;
  },
): ChainCodec & ContractReader {
  const { chainId, accounts, commitments, ids, capLeftOf, payoutWindowS } = options;
  const { binding, escrow, delivery } = accounts;
  const addresses = addressesOf(accounts);
  const deliveryIdOf = (lock: LockFacts) =>
    commitments.deliveryIdOf({ ...lock, srcChain: chainId, escrow });
  const { agreeFinal } = quorum;
  const readDeps: LockReadDeps = { actors: accounts, searchHistory: createHistorySearch() };

  return {
    addresses,
    costOf: costOfUnits,
    costOfStep,
    isGivenBack: ({ to, token, txHash }, outflows) =>
      outflows.some(
        (outflow) =>
          outflow.kind === "returned" &&
          outflow.wallet === to &&
          outflow.token === token &&
          outflow.txHash === txHash,
      ),
    predictWallet: commitments.walletOf,
    hashCommitment: commitments.hash,
    isWalletOf: ({ commitment, wallet, proof }) =>
      proof !== null &&
      isBound({ binding, commitment: commitments.hash(commitment), wallet, proof }),

    buildSettle: (call) => callOf(addresses, settleOrderOf(call, accounts)),
    buildDeliver: (order, signature) => callOf(addresses, { kind: "deliver", order, signature }),
    buildClaim: ({ deliveryId, paidAmount, deadline }, signature, { facts, ...open }) =>
      callOf(addresses, {
        kind: "claim",
        deliveryId,
        token: facts.token,
        amount: facts.amount,
        paidAmount,
        deadline,
        signature,
        ...howEnded(open, facts),
      }),
    buildReturn: ({ deadline }, signature, { commitment, facts, ...open }) =>
      callOf(addresses, {
        ...facts,
        kind: "return",
        commitment,
        deadline,
        signature,
        ...howEnded(open, facts),
      }),
    // A transaction is atomic: one failing order would fail the others of a batch.
    combine: () => null,
    tookEffect: (receipt, call) =>
      parseOrders(call.data).every((order) => tookEffect(receipt, order, { commitments, ids })),

    encodeLockData: encodeLockTerms,
    encodeTransferData: encodeFee,

    deliveryIdOf,
    deliveryIdOfPayout: ids.deliveryIdOfPayout,
    findRefund: ({ wallet, token, fromBlock: fromSlot }) =>
      agreeFinal((node, minSlot) =>
        readRefund(node, minSlot, { wallet, token, fromSlot, ...readDeps }),
      ),
    getLock: (lock, _at, hints = []) => {
      const deliveryId = deliveryIdOf(lock);
      return agreeFinal((node, minSlot) =>
        readLock(node, minSlot, { deliveryId, hints, ...readDeps }),
      );
    },
    findDelivery: ({ deliveryId }, _at, hints = []) =>
      agreeFinal((node, minSlot) =>
        readDelivery(node, minSlot, { deliveryId, hints, ...readDeps }),
      ),
    getPayoutWindow: async () => payoutWindowS,
    isDelivered: ({ deliveryId }) =>
      agreeFinal((node, minSlot) => isMarked(node, minSlot, markerAddressOf(delivery, deliveryId))),
    // Nobody is listed on the chain: the signer takes claims of its own lanes, with its attestor's signature.
    wasListed: async () => true,
    // It counts them by its own setting, for locks of any time.
    getThresholdAt: async () => 1,
    getDailyCapLeft: capLeftOf,
  };
}

/** Returns whether the binding key signed that a vault belongs to a commitment. */
function isBound({
  binding,
  commitment,
  wallet,
  proof,
}: {
  readonly binding: Address;
  readonly commitment: Hex32;
  readonly wallet: Address;
  readonly proof: Hex;
}): boolean {
  const message = Buffer.concat([BINDING_DOMAIN, bytesOf(commitment), bytesOf(wallet)]);
  try {
    return ed25519.verify(bytesOf(proof), message, bytesOf(binding), { zip215: false });
  } catch {
    // A wrong length, or not a point of the curve: not a valid signature.
    return false;
  }
}

function settleOrderOf(call: SettleCall, { escrow, binding }: Accounts): Order {
  const { commitment, token, route, routeData, amount, asOf, sources } = call;
  assert(asOf !== undefined, "a sweep says up to which block it counts");
  const facts = { commitment, token, amount, asOf, ...(sources && { sources }) };
  if (route === escrow) return { kind: "lock", ...facts, ...parseLockTerms(routeData) };
  assert(route === binding, "a sweep locks or transfers");
  const { bps, flat } = parseFee(routeData);
  return { kind: "transfer", ...facts, fee: feeOf(amount, bps) + flat };
}

/** Returns how an order ends a lock. Native coin leaves by closing the account; `held` is set only if above the amount. */
function howEnded(
  { held, whole = false }: Pick<OpenLock, "held" | "whole">,
  { token, amount }: Pick<LockFacts, "token" | "amount">,
): { readonly whole?: true; readonly held?: bigint } {
  if (whole && token !== NATIVE_SOL) return { whole };
  return held !== undefined && held > amount ? { held } : {};
}

function callOf({ walletRoot, escrow, delivery }: OwnAccounts, order: Order): Call {
  const to = {
    lock: escrow,
    claim: escrow,
    return: escrow,
    deliver: delivery,
    transfer: walletRoot,
    refund: walletRoot,
  };
  return { to: to[order.kind], data: encodeOrders([order]), value: 0n };
}

/** Returns whether an order took effect. A transaction is atomic; its effects identify the order. */
function tookEffect(
  { succeeded, effects }: Receipt,
  order: Order,
  {
    commitments,
    ids,
  }: {
    readonly commitments: Commitments;
    readonly ids: Pick<OrderFacts, "deliveryIdOfPayout">;
  },
): boolean {
  if (!succeeded) return false;
  const has = (test: (effect: Effect) => boolean) => effects.some(test);
  switch (order.kind) {
    case "lock": {
      const commitment = commitments.hash(order.commitment);
      return has(
        (effect) =>
          effect.kind === "locked" &&
          effect.commitment === commitment &&
          effect.token === order.token &&
          effect.seq === order.seq,
      );
    }
    case "claim":
      return has((effect) => effect.kind === "claimed" && effect.deliveryId === order.deliveryId);
    case "return":
      // The port has no effect for it, and the transaction could not have succeeded without.
      return true;
    case "deliver": {
      const deliveryId = ids.deliveryIdOfPayout(order.order);
      return has((effect) => effect.kind === "delivered" && effect.deliveryId === deliveryId);
    }
    case "transfer":
      return has((effect) => effect.kind === "transferred" && effect.token === order.token);
    case "refund":
      return has((effect) => effect.kind === "refunded" && effect.token === order.token);
  }
}
