/**
 * The orders that the Solana signer carries out. It makes the checks that contracts make on EVM chains: committed caps,
 * configured pairs, attestations and deadlines.
 */
import { createHash } from "node:crypto";
import type { OrderFacts } from "../../chains/solana/order-facts.ts";
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
import { hashClaim, hashDeliver, hashPrice, hashReturn, recoverSigners } from "./attestation.ts";
import { isOnCurve } from "./derived-accounts.ts";
import { assertVaultCommitment } from "./vault-signer.ts";

/** A pair whose deposits on Solana are locked for a delivery on another chain. */
export interface LockPair {
  readonly token: Address;
  /** Decimals of the token. */
  readonly decimals: number;
  readonly destChain: number;
  readonly destToken: Hex32;
  readonly destDecimals: number;
  /** The `Delivery` contract of the destination, as 32 bytes. */
  readonly delivery: Hex32;
  /** The tokens are different assets, so a lock needs a price signed by the attestors. */
  readonly priced: boolean;
}

/** The policy's facts about Solana and the destinations. */
export interface OrderSurroundings extends Pick<
  OrderFacts,
  "escrow" | "delivery" | "treasury" | "deliveryIdOfLock" | "deliveryIdOfPayout"
> {
  /** Bridge chain id. */
  readonly chainId: number;
  /** The seed's accounts other than vaults; no payment may go to them. */
  readonly ownAccounts: ReadonlySet<Address>;
  readonly vaultOf: (commitment: Commitment) => Address;
  readonly attestors: ReadonlySet<EvmAddress>;
  /** The number of attestors that must sign. */
  readonly threshold: number;
  /** Hash of the cluster's first block. */
  readonly cluster: Hex32;
  readonly factory: EvmAddress;
  /** Returns the wallet that the EVM factory would give a commitment; signed prices name it. */
  readonly evmWalletOf: (commitment: Commitment) => EvmAddress;
  readonly pairs: readonly LockPair[];
  /** Seconds after its `windowStart` in which a delivery may be paid. */
  readonly payoutWindowS: bigint;
  /** Returns whether a token may be moved; the native coin must be listed too. */
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

/** A price is valid for two minutes; the other two tolerate clocks that differ between processes. */
const PRICE_LIFETIME_S = 240n;
const U64_MAX = 2n ** 64n - 1n;
/** Tolerated difference between the clocks of the planning process and the signer, in seconds. */
const LOCK_SLACK_S = 300n;

/** Creates the check of orders. It returns an order's facts for the signer's memory, or throws `SignerRefusal`. */
export function createOrderPolicy(
  purpose: LanePurpose,
  surroundings: OrderSurroundings,
): (order: Order, nowS: bigint) => GuardedOrder {
  const { chainId, attestors, threshold, cluster, isListed, ownAccounts } = surroundings;
  const escrow = { account: surroundings.escrow, cluster };
  const delivery = { account: surroundings.delivery, cluster };

  /** The rule of the contracts: as many as the threshold, sorted, and all of them configured. */
  function checkAttested(digest: Uint8Array, signatures: Hex): void {
    const signers = recoverSigners(digest, signatures);
    if (!signers?.every((signer) => attestors.has(signer))) {
      throw new SignerRefusal("not signed by configured attestors in their order");
    }
    if (signers.length < threshold) {
      throw new SignerRefusal(`signed by ${signers.length} attestors, expected ${threshold}`);
    }
  }

  /** Requires a recipient that can use the payment and is not an account of the service. */
  function checkPayee(commitment: Commitment, payee: Hex32, token: Address): void {
    const account = toAddress(payee);
    if (account === NATIVE_SOL) throw new SignerRefusal("payment to the zero address");
    if (ownAccounts.has(account) || account === surroundings.vaultOf(commitment)) {
      throw new SignerRefusal("payment to an account of the service");
    }
    // Without a private key its owner could never move tokens from the associated account.
    if (!isNative(token) && !isOnCurve(account)) {
      throw new SignerRefusal(`payment of tokens to ${account}, which is not a public key`);
    }
  }

  function checkLock(order: LockOrder, nowS: bigint): void {
    const { commitment, token, amount, minOut, lockedAt } = order;
    assertVaultCommitment(commitment);
    const { destChain, destToken } = commitment;
    // A time ahead of the clock would put off the return of an undelivered lock.
    if (lockedAt > nowS + LOCK_SLACK_S) {
      throw new SignerRefusal(`lock time ${lockedAt} is in the future`);
    }
    const pair = surroundings.pairs.find(
      (known) =>
        known.token === token && known.destChain === destChain && known.destToken === destToken,
    );
    if (!pair || destChain === chainId)
      throw new SignerRefusal("no route is configured for the lock's pair");
    if (order.delivery !== pair.delivery) {
      throw new SignerRefusal(
        `lock names the delivery contract ${order.delivery}, expected ${pair.delivery}`,
      );
    }
    const { decimals: decimalsIn, destDecimals: decimalsOut } = pair;
    if (!pair.priced) {
      if (order.price) throw new SignerRefusal("lock of a same-asset pair has a price");
      const { maxFeeBps } = commitment;
      checkMinOut(minOut, minOutOf({ amount, maxFeeBps, decimalsIn, decimalsOut }));
      return;
    }
    if (!order.price) throw new SignerRefusal("lock of a priced pair has no price");
    const { price, signature } = order.price;
    const { factory } = surroundings;
    const wallet = surroundings.evmWalletOf(commitment);
    checkAttested(hashPrice(escrow, { ...price, factory, wallet, token }), signature);
    checkDeadline(price.deadline, nowS);
    if (price.deadline > nowS + PRICE_LIFETIME_S) {
      throw new SignerRefusal(`price deadline ${price.deadline} is too far in the future`);
    }
    if (price.rate === 0n) throw new SignerRefusal("price is zero");
    if (amount > price.maxAmount)
      throw new SignerRefusal("lock amount above the maximum of its price");
    const fair = convert({ amount, rate: price.rate, decimalsIn, decimalsOut });
    checkMinOut(minOut, minOutOfFair(fair, commitment));
  }

  function checkDeliver({ order, signature }: DeliverOrder, nowS: bigint): void {
    const { commitment, amount, minOut, windowStart } = order;
    if (commitment.destChain !== chainId) {
      throw new SignerRefusal(`delivery to chain ${commitment.destChain} on chain ${chainId}`);
    }
    const deliveryId = surroundings.deliveryIdOfPayout(order);
    checkAttested(hashDeliver(delivery, { deliveryId, amount, windowStart }), signature);
    const until = windowStart + surroundings.payoutWindowS;
    if (nowS > until) throw new SignerRefusal(`payout window ended at ${until}`);
    if (amount < minOut) throw new SignerRefusal(`payout ${amount} is below ${minOut}`);
    checkPayee(commitment, commitment.destWallet, toAddress(commitment.destToken));
  }

  function checkTransfer({ commitment, token, amount, fee }: TransferOrder): void {
    assertVaultCommitment(commitment);
    if (commitment.destChain !== chainId || toAddress(commitment.destToken) !== token) {
      throw new SignerRefusal("transfer to another chain or token than committed");
    }
    if (fee > feeOf(amount, commitment.maxFeeBps)) {
      throw new SignerRefusal("fee above the committed cap");
    }
    if (fee >= amount) throw new SignerRefusal("fee takes the whole transfer");
    checkPayee(commitment, commitment.destWallet, token);
  }

  function checkEnding(order: ClaimOrder | ReturnOrder, nowS: bigint): void {
    const { deadline, signature } = order;
    if (order.whole && isNative(order.token)) {
      throw new SignerRefusal("the account of a native lock cannot change its owner");
    }
    if (order.held !== undefined && order.held < order.amount) {
      throw new SignerRefusal("lock balance below the locked amount");
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
      throw new SignerRefusal(`${order.kind} from a lane that may only ${purpose}`);
    }
    checkIdNumbers(order);
    const guarded = describe(order);
    if (guarded.amount === 0n || guarded.amount > U64_MAX) {
      throw new SignerRefusal(`${order.kind} amount ${guarded.amount} is zero or above u64`);
    }
    if (!isListed(guarded.token))
      throw new SignerRefusal(`token ${guarded.token} is not configured`);
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

/** Requires numbers of the width that ids encode. */
function checkIdNumbers(order: Order): void {
  const lock = order.kind === "deliver" ? order.order : order;
  if ("seq" in lock && lock.seq > U64_MAX) {
    throw new SignerRefusal(`sequence number ${lock.seq} above u64`);
  }
}

/** Requires that the named token accounts add up to the amount. An order of SOL names none. */
function checkSources(order: Order): void {
  if (order.kind !== "lock" && order.kind !== "transfer" && order.kind !== "refund") return;
  const { token, amount, sources } = order;
  if (!sources) return;
  const total = sources.reduce((sum, source) => sum + source.amount, 0n);
  if (isNative(token) || total !== amount) {
    throw new SignerRefusal("token accounts do not add up to the amount");
  }
}

/** Returns the id of an order that has no delivery id: its hash. */
function hashOrder(order: Order): Hex32 {
  const digest = createHash("sha256")
    .update(encodeOrders([order]))
    .digest("hex");
  return toHex32(`0x${digest}`);
}

function checkMinOut(minOut: bigint, least: bigint): void {
  if (minOut < least) throw new SignerRefusal(`minOut ${minOut} is below ${least}`);
}

function checkDeadline(deadline: bigint, atS: bigint): void {
  if (deadline < atS) throw new SignerRefusal(`deadline ${deadline} has passed`);
}
