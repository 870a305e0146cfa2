/**
 * Which orders a signer of Solana follows. What contracts ask of their callers elsewhere is asked here: the committed caps,
 * a configured pair, the attestor's word.
 */
import { createHash } from "node:crypto";
import type { OrderFacts } from "../../chains/solana/instructions.ts";
import { encodeOrders } from "../../chains/solana/order-codec.ts";
import type {
  ClaimOrder,
  DeliverOrder,
  LockOrder,
  Order,
  ReturnOrder,
  TransferOrder,
} from "../../chains/solana/orders.ts";
import type { LanePurpose } from "../../config/index.ts";
import { convert, feeOf, minOutOf, minOutOfFair } from "../../core/amounts.ts";
import { assertNever } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import {
  type Address,
  type EvmAddress,
  type Hex,
  type Hex32,
  isNative,
  NATIVE_SOL,
  toAddress,
  toHex32,
} from "../../core/hex.ts";
import type { GuardedOrder } from "../order-memory.ts";
import { SignerRefusal } from "../refusal.ts";
import { hashClaim, hashDeliver, hashPrice, hashReturn, recoverSigner } from "./attestation.ts";
import { isOnCurve } from "./derived-accounts.ts";

/** A pair of which deposits on Solana are locked for a delivery elsewhere. */
export interface LockPair {
  readonly token: Address;
  /** Of the token. */
  readonly decimals: number;
  readonly destChain: number;
  readonly destToken: Hex32;
  readonly destDecimals: number;
  /** The destination's `Delivery`, in 32 bytes. */
  readonly delivery: Hex32;
  /** The pair is not the same asset: locks carry a price that the attestor signs. */
  readonly priced: boolean;
}

/** What the policy knows of Solana and of the destinations. */
export interface OrderSurroundings extends Pick<
  OrderFacts,
  "escrow" | "delivery" | "treasury" | "hashCommitment" | "deliveryIdOfLock" | "deliveryIdOfPayout"
> {
  /** Bridge chain id. */
  readonly chainId: number;
  /** Where nothing is ever paid to: every account of the seed that is not a vault. */
  readonly ownAccounts: ReadonlySet<Address>;
  readonly vaultOf: (commitment: Commitment) => Address;
  /** Any of them may attest. */
  readonly attestors: ReadonlySet<EvmAddress>;
  readonly factory: EvmAddress;
  /** The wallet that the EVM factory would give a commitment: prices name it. */
  readonly evmWalletOf: (commitment: Commitment) => EvmAddress;
  readonly pairs: readonly LockPair[];
  /** Every token that may be moved, the native coin among them where it may. */
  readonly isListed: (token: Address) => boolean;
}

const PURPOSES: Readonly<Record<Order["kind"], LanePurpose>> = {
  lock: "settle",
  claim: "settle",
  return: "settle",
  transfer: "settle",
  refund: "settle",
  deliver: "deliver",
};

/** Prices are good for two minutes; clocks of processes run apart by less than as much again. */
const PRICE_LIFETIME_S = 240n;
const U64_MAX = 2n ** 64n - 1n;

/** What an order is, for the memory of a signer. Throws `SignerRefusal` when it is not to be followed. */
export function createOrderPolicy(
  purpose: LanePurpose,
  surroundings: OrderSurroundings,
): (order: Order, nowS: bigint) => GuardedOrder {
  const { chainId, attestors, isListed, ownAccounts } = surroundings;

  function checkAttested(digest: Uint8Array, signature: Hex): void {
    const attestor = recoverSigner(digest, signature);
    if (!attestor || !attestors.has(attestor)) {
      throw new SignerRefusal("what no attestor of the configuration has signed");
    }
  }

  /** Somebody who can have it, and is not us. */
  function checkPayee(commitment: Commitment, payee: Hex32, token: Address): void {
    const account = toAddress(payee);
    if (account === NATIVE_SOL) throw new SignerRefusal("a payment to the zero address");
    if (ownAccounts.has(account) || account === surroundings.vaultOf(commitment)) {
      throw new SignerRefusal("a payment to an account of its own");
    }
    // A token account of an owner without a key is out of reach for good, but for a program that knows of it.
    if (!isNative(token) && !isOnCurve(account)) {
      throw new SignerRefusal(`tokens for ${account}, which is no public key`);
    }
  }

  function checkLock(order: LockOrder, nowS: bigint): void {
    const { commitment, token, amount, minOut } = order;
    const { destChain, destToken } = commitment;
    const pair = surroundings.pairs.find(
      (known) =>
        known.token === token && known.destChain === destChain && known.destToken === destToken,
    );
    if (!pair || destChain === chainId)
      throw new SignerRefusal("a lock for a pair without a route");
    if (order.delivery !== pair.delivery) {
      throw new SignerRefusal(`a lock for the delivery contract ${order.delivery}`);
    }
    const { decimals: decimalsIn, destDecimals: decimalsOut } = pair;
    if (!pair.priced) {
      if (order.price) throw new SignerRefusal("a price between tokens of one asset");
      const { maxFeeBps } = commitment;
      checkMinOut(minOut, minOutOf({ amount, maxFeeBps, decimalsIn, decimalsOut }));
      return;
    }
    if (!order.price) throw new SignerRefusal("a lock of a priced pair without a price");
    const { price, signature } = order.price;
    const { factory, escrow } = surroundings;
    const wallet = surroundings.evmWalletOf(commitment);
    checkAttested(hashPrice(escrow, { ...price, factory, wallet, token }), signature);
    checkDeadline(price.deadline, nowS);
    if (price.deadline > nowS + PRICE_LIFETIME_S) {
      throw new SignerRefusal(`a price that is good until ${price.deadline}`);
    }
    if (price.rate === 0n) throw new SignerRefusal("a price of nothing");
    if (amount > price.maxAmount) throw new SignerRefusal("more than the price is for");
    const fair = convert({ amount, rate: price.rate, decimalsIn, decimalsOut });
    checkMinOut(minOut, minOutOfFair(fair, commitment));
  }

  function checkDeliver({ order, signature }: DeliverOrder, nowS: bigint): void {
    const { commitment, amount, deadline } = order;
    if (commitment.destChain !== chainId) {
      throw new SignerRefusal(`a delivery to chain ${commitment.destChain}`);
    }
    const deliveryId = surroundings.deliveryIdOfPayout(order);
    const hash = surroundings.hashCommitment(commitment);
    checkAttested(
      hashDeliver(surroundings.delivery, { deliveryId, commitment: hash, amount, deadline }),
      signature,
    );
    checkDeadline(deadline, nowS);
    checkPayee(commitment, commitment.destWallet, toAddress(commitment.destToken));
  }

  function checkTransfer({ commitment, token, amount, fee }: TransferOrder): void {
    if (commitment.destChain !== chainId || toAddress(commitment.destToken) !== token) {
      throw new SignerRefusal("a transfer of what is to be delivered otherwise");
    }
    if (fee > feeOf(amount, commitment.maxFeeBps)) {
      throw new SignerRefusal("a fee above the committed cap");
    }
    if (fee >= amount) throw new SignerRefusal("a transfer of nothing");
    checkPayee(commitment, commitment.destWallet, token);
  }

  function checkEnding(order: ClaimOrder | ReturnOrder, nowS: bigint): void {
    const { deadline, signature } = order;
    const { escrow } = surroundings;
    if (order.whole && isNative(order.token)) {
      throw new SignerRefusal("a lock of native coin to be handed over");
    }
    if (order.held !== undefined && order.held < order.amount) {
      throw new SignerRefusal("a lock that holds less than was locked");
    }
    checkDeadline(deadline, nowS);
    if (order.kind === "claim") {
      const { deliveryId, paidAmount } = order;
      checkAttested(hashClaim(escrow, { deliveryId, paidAmount, deadline }), signature);
    } else {
      const deliveryId = surroundings.deliveryIdOfLock(order);
      checkAttested(hashReturn(escrow, { deliveryId, deadline }), signature);
    }
  }

  return (order, nowS) => {
    if (PURPOSES[order.kind] !== purpose) {
      throw new SignerRefusal(`a ${order.kind} from a lane that may only ${purpose}`);
    }
    checkSeq(order);
    const guarded = describe(order);
    if (guarded.amount === 0n || guarded.amount > U64_MAX) {
      throw new SignerRefusal(`a ${order.kind} of ${guarded.amount}`);
    }
    if (!isListed(guarded.token)) throw new SignerRefusal(`the token ${guarded.token}`);
    checkSources(order);
    switch (order.kind) {
      case "lock":
        checkLock(order, nowS);
        break;
      case "claim":
      case "return":
        checkEnding(order, nowS);
        break;
      case "deliver":
        checkDeliver(order, nowS);
        break;
      case "transfer":
        checkTransfer(order);
        break;
      case "refund":
        checkPayee(order.commitment, order.commitment.refundAuthority, order.token);
        break;
      default:
        assertNever(order);
    }
    return guarded;
  };

  function describe(order: Order): GuardedOrder {
    switch (order.kind) {
      case "lock": {
        const { kind, token, amount, minOut } = order;
        return { kind, id: surroundings.deliveryIdOfLock(order), token, amount, minOut };
      }
      case "claim": {
        const { kind, deliveryId: id, token, amount, paidAmount } = order;
        return { kind, id, token, amount, paidAmount };
      }
      case "return": {
        const { kind, token, amount } = order;
        return { kind, id: surroundings.deliveryIdOfLock(order), token, amount };
      }
      case "deliver": {
        const { commitment, amount } = order.order;
        const token = toAddress(commitment.destToken);
        return {
          kind: order.kind,
          id: surroundings.deliveryIdOfPayout(order.order),
          token,
          amount,
        };
      }
      case "transfer":
      case "refund": {
        const { kind, token, amount } = order;
        return { kind, id: hashOrder(order), token, amount };
      }
      default:
        return assertNever(order);
    }
  }
}

/** Ids are made of 64 bits of it. */
function checkSeq(order: Order): void {
  const seq = order.kind === "deliver" ? order.order.seq : "seq" in order ? order.seq : 0n;
  if (seq > U64_MAX) throw new SignerRefusal(`the sequence number ${seq}`);
}

/** Token accounts that are named make up the amount; SOL has none. */
function checkSources(order: Order): void {
  if (order.kind !== "lock" && order.kind !== "transfer" && order.kind !== "refund") return;
  const { token, amount, sources } = order;
  if (!sources) return;
  const total = sources.reduce((sum, source) => sum + source.amount, 0n);
  if (isNative(token) || total !== amount) {
    throw new SignerRefusal("sources that do not make up the amount");
  }
}

/** What an order without an id of its own is known by. */
function hashOrder(order: Order): Hex32 {
  const digest = createHash("sha256")
    .update(encodeOrders([order]))
    .digest("hex");
  return toHex32(`0x${digest}`);
}

function checkMinOut(minOut: bigint, least: bigint): void {
  if (minOut < least) throw new SignerRefusal(`a lock for less than ${least}`);
}

function checkDeadline(deadline: bigint, atS: bigint): void {
  if (deadline < atS) throw new SignerRefusal(`what was good until ${deadline}`);
}
