/**
 * A fake Solana chain: a transaction is valid while the block that it names is recent, slots can be skipped, and there are no
 * contracts, only signed orders. Forks and finality are those of every fake chain. Fees, rent and token accounts are left
 * out: an owner has one balance of a token.
 */
import { type Address, type Hex, type Hex32, isNative, toAddress } from "../../src/core/hex.ts";
import type { Commitment } from "../../src/core/commitment.ts";
import type { Effect, SendOutcome } from "../../src/chains/port/index.ts";
import type { OrderedLock } from "../../src/chains/solana/order-facts.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import { deliveryIdOf, deliveryIdOfPayout, hash, hashCommitment } from "./codec.ts";
import {
  type Action,
  type Environment,
  type FakeContracts,
  type FakeLog,
  Reverted,
  run,
  type State,
} from "./contracts.ts";
import { type FakeBlock, FakeChain, type FakeTransaction } from "./model.ts";

/** Blocks for which a transaction is valid: fewer than on Solana, so that some expire in a short run. */
export const LIFETIME_BLOCKS = 6n;

/** Returns the number of blocks before one; skipped slots do not count. */
export function heightOf(chain: FakeChain, block: FakeBlock): bigint {
  return BigInt(chain.branchOf(block).length - 1);
}

/** Returns the vault of a commitment; only the signer can derive it. */
export function vaultOf(commitment: Commitment): Address {
  return toAddress(hash("vault", hashCommitment(commitment)));
}

/** Returns the binding: the signer's signature that a vault belongs to a commitment. */
export function proofOf(binding: Address, commitment: Commitment, wallet: Address): Hex {
  return hash("binding", binding, hashCommitment(commitment), wallet);
}

/** Returns the id of a lock on this chain. */
export function lockIdOf(
  { chainId, escrow }: Pick<FakeContracts, "chainId" | "escrow">,
  { commitment, ...lock }: OrderedLock,
): Hex32 {
  return deliveryIdOf({
    ...lock,
    srcChain: chainId,
    escrow,
    commitment: hashCommitment(commitment),
  });
}

export class FakeSlotChain extends FakeChain {
  readonly #skip: () => bigint;
  #count = 0;

  /** `skip` returns the number of skipped slots before the next block. */
  constructor(contracts: FakeContracts, genesis: State, time: bigint, skip: () => bigint) {
    super(contracts, genesis, time);
    this.#skip = skip;
  }

  /** Makes the transactions of others unique, since there are no nonces. */
  override freeNonceOf(): number {
    this.#count += 1;
    return this.#count;
  }

  override offer(transaction: FakeTransaction): SendOutcome {
    if (this.isWaiting(transaction.hash) || this.isOn(this.head, transaction.hash)) return "known";
    if (this.judge(transaction, { parent: this.head }) !== "take") return "unknown";
    this.pool.set(this.keyOf(transaction), transaction);
    return "accepted";
  }

  /** At a block, never at a skipped slot. */
  override finalize(number: bigint): void {
    const block = this.branchOf(this.head).findLast((one) => one.number <= number);
    if (block) super.finalize(block.number);
  }

  override run(state: State, env: Environment, action: Action): FakeLog[] {
    if (action.kind === "order") return follow(state, env, action.order);
    if (action.kind === "transfer" || action.kind === "payout") return run(state, env, action);
    throw new Reverted("NoContracts");
  }

  protected override keyOf({ hash: txHash }: FakeTransaction): string {
    return txHash;
  }

  protected override numberAfter(parent: FakeBlock): bigint {
    return parent.number + 1n + this.#skip();
  }

  /** A transaction is mined once, on a branch with the block that it names, while that block is recent. */
  protected override judge(
    { hash: txHash, lifetime }: FakeTransaction,
    { parent }: { readonly parent: FakeBlock },
  ): "take" | "leave" | "drop" {
    if (this.isOn(parent, txHash)) return "drop";
    if (!lifetime) return "take";
    if (heightOf(this, this.finalBlock) > lifetime.lastValidHeight) return "drop";
    const named = this.branchOf(parent).findLast((block) => block.hash === lifetime.blockhash);
    if (!named) return "leave";
    const isYoung = heightOf(this, parent) + 1n <= heightOf(this, named) + LIFETIME_BLOCKS;
    return isYoung ? "take" : "leave";
  }

  protected override charge(): bigint {
    return 0n;
  }
}

/** Applies the transaction of an order, atomically. Whether the order is allowed was judged by its signer. */
function follow(state: State, env: Environment, order: Order): FakeLog[] {
  const { contracts, from } = env;
  const { escrow, delivery, treasury, factory: binding } = contracts;
  const logs: FakeLog[] = [];
  const require = (holds: boolean, error: string) => {
    if (!holds) throw new Reverted(error);
  };
  const move = (token: Address, payer: Address, to: Address, amount: bigint) => {
    require(state.balanceOf(token, payer) >= amount, "InsufficientFunds");
    state.credit(token, payer, -amount);
    state.credit(token, to, amount);
    if (!isNative(token)) logs.push({ kind: "transfer", token, from: payer, to, amount });
  };
  const log = (effect: Effect) => logs.push({ kind: "effect", effect });
  const sweep = (facts: { wallet: Address; token: Address; amount: bigint; route: Address }) =>
    log({ kind: "settled", ...facts, logIndex: 0, upTo: "asOf" in order ? order.asOf : undefined });
  const openLock = (deliveryId: Hex32) => {
    const lock = state.locks.get(deliveryId);
    if (lock?.state !== "locked") throw new Reverted("NotLocked");
    return lock;
  };
  require(contracts.relayers.has(from), "NotRelayer");

  switch (order.kind) {
    case "lock": {
      const { commitment, token, amount, minOut, seq, lockedAt, delivery: payer } = order;
      const wallet = vaultOf(commitment);
      const deliveryId = lockIdOf(contracts, order);
      require(!state.locks.has(deliveryId), "AlreadyInUse");
      move(token, wallet, escrow, amount);
      const facts = { wallet, commitment: hashCommitment(commitment), token, amount, minOut, seq };
      const lock = { ...facts, lockedAt, delivery: payer };
      state.locks.set(deliveryId, { ...lock, state: "locked" });
      sweep({ wallet, token, amount, route: escrow });
      log({ kind: "locked", escrow, deliveryId, ...lock });
      return logs;
    }
    case "claim": {
      const { deliveryId, token, amount } = order;
      const lock = openLock(deliveryId);
      require(lock.token === token && lock.amount === amount, "OtherLock");
      move(token, escrow, treasury, amount);
      log({ kind: "claimed", deliveryId, amount });
      state.locks.set(deliveryId, { ...lock, state: "claimed" });
      return logs;
    }
    case "return": {
      const { commitment, token, amount } = order;
      const deliveryId = lockIdOf(contracts, order);
      const lock = openLock(deliveryId);
      const wallet = vaultOf(commitment);
      require(lock.token === token && lock.amount === amount, "OtherLock");
      logs.push({ kind: "returned", wallet, token, amount });
      move(token, escrow, wallet, amount);
      state.locks.set(deliveryId, { ...lock, state: "returned" });
      return logs;
    }
    case "deliver": {
      const { commitment, amount } = order.order;
      const deliveryId = deliveryIdOfPayout(delivery, order.order);
      // The marker is an account that can be created once.
      require(!state.delivered.has(deliveryId), "AlreadyInUse");
      const to = toAddress(commitment.destWallet);
      const token = toAddress(commitment.destToken);
      const facts = { deliveryId, commitment: hashCommitment(commitment), to, token, amount };
      move(token, delivery, to, amount);
      log({ kind: "delivered", ...facts });
      const { txHash, blockNumber } = env;
      state.delivered.set(deliveryId, { ...facts, txHash, blockNumber });
      return logs;
    }
    case "transfer": {
      const { commitment, token, amount, fee } = order;
      const wallet = vaultOf(commitment);
      const to = toAddress(commitment.destWallet);
      if (fee > 0n) move(token, wallet, treasury, fee);
      move(token, wallet, to, amount - fee);
      sweep({ wallet, token, amount, route: binding });
      log({ kind: "transferred", wallet, token, to, amount: amount - fee, fee });
      return logs;
    }
    case "refund": {
      const { commitment, token, amount } = order;
      const wallet = vaultOf(commitment);
      const to = toAddress(commitment.refundAuthority);
      move(token, wallet, to, amount);
      log({ kind: "refunded", wallet, token, to, amount, reason: order.reason });
      return logs;
    }
  }
}
