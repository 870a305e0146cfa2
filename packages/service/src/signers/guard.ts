/**
 * The signer's policy, checked before any key is used. Its memory is rebuilt from the journal, so it survives a
 * restart and does not depend on the database, which may be restored from a backup or changed by an attacker.
 */
import type {
  ClaimProof,
  Payout,
  PriceRequest,
  RefundProof,
  ReturnProof,
} from "../chains/port/index.ts";
import { assertNever } from "../core/assert.ts";
import type { Commitment } from "../core/commitment.ts";
import { type Address, type Hex32, toAddress, toHex32 } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { createEarlyMemory, type EarlyBounds } from "./early-memory.ts";
import { createEndingMemory, type Ending } from "./ending-memory.ts";
import { createDailySum, DAY_MS } from "./daily-sum.ts";
import { type Journal, type JournalEntry, openJournal } from "./journal.ts";
import {
  createOrderMemory,
  type GuardedMessage,
  type OrderLimits,
  type OrderMemory,
} from "./order-memory.ts";
import type {
  AttestorSigner,
  LaneSigner,
  CountedPayout,
  SignedTransaction,
  SigningRequest,
} from "./port.ts";
import { SignerRefusal } from "./refusal.ts";
import {
  CANCEL_METHOD,
  checkTransaction,
  describe,
  isCancellationOf,
  isRecorded,
  isSignedCall,
  type LaneMemory,
  type LaneRules,
  rememberTransaction,
} from "./lane-memory.ts";

/** A lane on a chain without contracts of ours: the signer itself checks and carries out orders. */
export interface OrderSigner extends Omit<LaneSigner, "sign"> {
  /** Builds the message and checks that it does exactly what the orders say, without signing it. Throws `SignerRefusal`. */
  prepare(intent: SigningRequest, nowMs: number): Promise<PreparedMessage>;
}

export interface PreparedMessage extends GuardedMessage {
  sign(): SignedTransaction;
}

/** Limits of a lane that carries out orders. */
export interface OrderRules extends OrderLimits {
  /** Compute units. */
  readonly gasMax: bigint;
  /** Micro-lamports per compute unit. */
  readonly gasPriceMax: bigint;
}

/** The configuration that an attestor's signatures are checked against. */
export interface AttestorRules {
  /** Computes the ids under which a payout is journaled. */
  readonly identify: (
    destChain: number,
    order: Payout,
  ) => { readonly deliveryId: Hex32; readonly commitment: Hex32 };
  /** Returns whether the payout's pair is configured as a route from inventory. */
  readonly isPair: (destChain: number, order: Payout) => boolean;
  /** Returns whether the contract is configured as a priced route of the token on the chain. */
  readonly isPricedRoute: (srcChain: number, token: Address, route: Address) => boolean;
  /** Refuses a refund of a chain or for a reason that is not configured for its authority. Throws `SignerRefusal`. */
  readonly checkRefund: (chainId: number, proof: RefundProof) => void;
  /** Computes the hash of a commitment. */
  readonly hashCommitment: (commitment: Commitment) => Hex32;
  readonly payoutWindowS: bigint;
  /** Returns the bounds of early payouts for locks of a chain; no exposure where there are none. */
  readonly earlyBoundsOf: (srcChain: number) => EarlyBounds;
  /** Returns the contract that pays on a chain, as locks name it. */
  readonly deliveryOf: (destChain: number) => Hex32;
}

/** Tolerated difference between a chain's clock and ours. */
const CLOCK_SLACK_S = 3_600n;

const PRICE_LIFETIME_S = 120n;
const REFUND_LIFETIME_S = 600n;

/** Must exceed 72 hours, after which anybody can take a lock back; sixty days is far above it. */
const ORDERS_REMEMBERED_MS = 60 * DAY_MS;

/** Wraps signers in the policy; one guard per process shares one journal and one memory. */
export interface Guard {
  guardLane(signer: LaneSigner, rules: LaneRules): LaneSigner;
  guardOrders(signer: OrderSigner, rules: OrderRules): LaneSigner;
  guardAttestor(signer: AttestorSigner, rules: AttestorRules): AttestorSigner;
  close(): void;
}

/** Opens the journal and rebuilds the memory from it. Throws CONFIG_MISSING when its hash chain is broken. */
export function openGuard(options: { readonly journal: string; readonly clock: Clock }): Guard {
  const { clock } = options;
  const lanes = new Map<string, LaneMemory>();
  /** By delivery id, until the lock's end is signed: the end of the payout window of the signed order. */
  const orders = new Map<string, { readonly deadline: bigint; readonly atMs: number }>();
  const endings = createEndingMemory();
  /** By delivery id: payouts that were signed before their lock was final, and are not covered. */
  const early = createEarlyMemory();
  /** By destination: the block up to which payouts of others are counted. */
  const readTo = new Map<number, bigint>();
  /** By chain, commitment and token: the refund that was signed last. */
  const refunds = new Map<string, JournalEntry & { readonly kind: "refund" }>();

  /** By bridge chain id. */
  const memories = new Map<number, OrderMemory>();

  function orderMemoryOf(chainId: number): OrderMemory {
    const memory = memories.get(chainId) ?? createOrderMemory();
    memories.set(chainId, memory);
    return memory;
  }

  function memoryOf(chainId: number, lane: string): LaneMemory {
    const name = `${chainId}:${lane}`;
    const known = lanes.get(name);
    if (known) return known;
    const memory: LaneMemory = { nonces: new Map(), highest: -1, spent: createDailySum() };
    lanes.set(name, memory);
    return memory;
  }

  function remember(entry: JournalEntry, atMs: number): void {
    switch (entry.kind) {
      case "transaction":
        rememberTransaction(memoryOf(entry.chainId, entry.lane), entry, atMs);
        return;
      case "orders":
        orderMemoryOf(entry.chainId).remember(toAddress(entry.lane), readMessage(entry), atMs);
        return;
      case "claim":
      case "return":
        endings.remember(toHex32(entry.deliveryId), entry.kind, atMs);
        orders.delete(entry.deliveryId);
        return;
      case "delivery": {
        const deadline = BigInt(entry.deadline);
        const { deadline: latest = 0n } = orders.get(entry.deliveryId) ?? {};
        orders.set(entry.deliveryId, { deadline: deadline > latest ? deadline : latest, atMs });
        if (entry.early) early.remember(readEarly(entry, entry.early, atMs));
        return;
      }
      case "other":
        early.remember(readEarly(entry, entry.early, atMs));
        return;
      case "covered":
        early.forget(toHex32(entry.deliveryId));
        return;
      case "read_to":
        readTo.set(entry.destChain, BigInt(entry.block));
        return;
      case "price":
        return;
      case "refund":
        refunds.set(holdingOf(entry), entry);
        return;
      default:
        assertNever(entry);
    }
  }

  const journal: Journal = openJournal(options.journal, remember);

  /** Writes to the journal, then to memory. It is the last step before a signature and is never undone. */
  function record(entry: JournalEntry): void {
    const now = clock.now();
    const sinceMs = now - ORDERS_REMEMBERED_MS;
    endings.forgetBefore(sinceMs);
    for (const [id, { atMs }] of orders) {
      if (atMs > sinceMs) break;
      orders.delete(id);
    }
    journal.append(entry, now);
    remember(entry, now);
  }

  /** Returns whether a payout is this signer's own, final, or counted already. After a return any payout is one of others. */
  function isKnown(id: Hex32): boolean {
    return orders.has(id) || early.has(id) || endings.get(id) === "claim";
  }

  function checkDeadline(deadline: bigint, lifetimeS: bigint): void {
    const latest = BigInt(Math.floor(clock.now() / 1000)) + lifetimeS + CLOCK_SLACK_S;
    if (deadline > latest) throw new SignerRefusal(`deadline ${deadline} is later than ${latest}`);
  }

  return {
    guardLane(signer, rules) {
      const { chainId, address } = signer;
      const memory = memoryOf(chainId, address);
      return {
        ...signer,
        async sign(intent) {
          const isCancellation = isCancellationOf(address, intent);
          const method = isCancellation ? CANCEL_METHOD : rules.checkCall(intent.call);
          const check = () =>
            checkTransaction(memory, intent, rules, { nowMs: clock.now(), method });
          check();
          // A replacement repeats a call whose evidence was checked, and may come when it is gone.
          if (rules.checkEvidence && !isCancellation && !isSignedCall(memory, intent)) {
            await rules.checkEvidence(intent.call, intent.hints ?? []);
            check();
          }
          // No await may stand between the check of the memory and the journal entry. A repeated request (a KMS was
          // unavailable, say) is journaled already.
          if (!isRecorded(memory, intent))
            record({ kind: "transaction", chainId, lane: address, method, ...describe(intent) });
          return signer.sign(intent);
        },
      };
    },

    guardOrders({ prepare, ...signer }, rules) {
      const { chainId, address } = signer;
      const memory = orderMemoryOf(chainId);
      return {
        ...signer,
        getCapLeft: async (token) => memory.capLeft(token, rules.dailyCapOf(token), clock.now()),
        async sign(intent) {
          const { gas, fees } = intent;
          const { gasMax, gasPriceMax } = rules;
          if (gas > gasMax) throw new SignerRefusal(`${gas} compute units, above ${gasMax}`);
          if (fees.gasPriceMax > gasPriceMax) {
            throw new SignerRefusal(`fees above ${gasPriceMax} micro-lamports per compute unit`);
          }
          const prepared = await prepare(intent, clock.now());
          // No await may stand between the check of the memory and the journal entry.
          if (!memory.isRecorded(prepared)) {
            memory.check(address, prepared, rules, clock.now());
            record({ kind: "orders", chainId, lane: address, ...describeMessage(prepared) });
          }
          return prepared.sign();
        },
      };
    },

    guardAttestor(signer, rules) {
      return {
        ...signer,
        early: {
          list: async () => early.list(rules.earlyBoundsOf),
          async cover(deliveryId) {
            if (early.has(deliveryId)) record({ kind: "covered", deliveryId });
          },
          listOthers: async (ids) => ids.filter((id) => !isKnown(id)),
          async countOther({ destChain, deliveryId, deadline, ...payout }) {
            if (isKnown(deliveryId)) return;
            const { lock, srcChain, escrow, worth } = payout;
            const { commitment, delivery, token, amount: lockedAmount, minOut, seq } = lock;
            const place = { srcChain, escrow, delivery, token };
            record({
              kind: "other",
              destChain,
              deliveryId,
              commitment,
              deadline: deadline.toString(),
              early: { ...place, ...formatValues({ lockedAmount, minOut, seq, worth }) },
            });
          },
          getReadTo: async (destChain) => readTo.get(destChain) ?? null,
          async recordReadTo(destChain, block) {
            if (block <= (readTo.get(destChain) ?? -1n)) return;
            record({ kind: "read_to", destChain, block: block.toString() });
          },
        },

        async signDelivery(destChain, order, worth) {
          const { deliveryId, commitment } = rules.identify(destChain, order);
          if (!rules.isPair(destChain, order))
            throw new SignerRefusal("no inventory route is configured for the pair");
          const ending = endings.get(deliveryId);
          if (ending) throw new SignerRefusal(`delivery after the lock's ${ending}`);
          const { amount } = order;
          if (amount === 0n) throw new SignerRefusal("delivery amount is zero");
          const deadline = order.windowStart + rules.payoutWindowS;
          checkDeadline(deadline, rules.payoutWindowS);
          if (worth !== undefined) {
            early.check({ srcChain: order.srcChain, deliveryId, worth }, rules.earlyBoundsOf);
          }
          record({
            kind: "delivery",
            destChain,
            deliveryId,
            commitment,
            amount: amount.toString(),
            deadline: deadline.toString(),
            ...(worth !== undefined && {
              early: {
                srcChain: order.srcChain,
                escrow: order.escrow,
                delivery: rules.deliveryOf(destChain),
                token: order.srcToken,
                ...formatValues({ ...order, worth }),
              },
            }),
          });
          return signer.signDelivery(destChain, order);
        },

        async signClaim(srcChain, claim) {
          checkEnding(claim, "claim");
          record({
            kind: "claim",
            srcChain,
            deliveryId: claim.deliveryId,
            paidAmount: claim.paidAmount.toString(),
            deadline: claim.deadline.toString(),
          });
          return signer.signClaim(srcChain, claim);
        },

        async signReturn(srcChain, order) {
          checkEnding(order, "return");
          const { deliveryId, deadline } = order;
          // Independent of the database: a payout that is still usable would pay for a returned lock.
          const { deadline: usableUntil = 0n } = orders.get(deliveryId) ?? {};
          if (usableUntil > BigInt(Math.floor(clock.now() / 1000)) + CLOCK_SLACK_S) {
            throw new SignerRefusal(`return while a payout is valid until ${usableUntil}`);
          }
          record({ kind: "return", srcChain, deliveryId, deadline: deadline.toString() });
          return signer.signReturn(srcChain, order);
        },

        async signPrice(srcChain, order) {
          checkPrice(srcChain, order, rules);
          record({
            kind: "price",
            srcChain,
            route: order.route,
            wallet: order.wallet,
            token: order.token,
            rate: order.rate.toString(),
            maxAmount: order.maxAmount.toString(),
            deadline: order.deadline.toString(),
          });
          return signer.signPrice(srcChain, order);
        },

        async signRefund(chainId, proof) {
          rules.checkRefund(chainId, proof);
          checkDeadline(proof.deadline, REFUND_LIFETIME_S);
          const { token, reason } = proof;
          const entry = {
            kind: "refund",
            chainId,
            commitment: rules.hashCommitment(proof.commitment),
            token,
            maxAmount: proof.maxAmount.toString(),
            reason,
            deadline: proof.deadline.toString(),
          } as const;
          checkOnlyRefund(entry);
          record(entry);
          return signer.signRefund(chainId, proof);
        },
      };
    },

    close: () => journal.close(),
  };

  /** Refuses the second way to end a lock: it is claimed or returned, never both. */
  function checkEnding({ deliveryId }: ClaimProof | ReturnProof, wanted: Ending): void {
    const ending = endings.get(deliveryId) ?? wanted;
    if (ending !== wanted) throw new SignerRefusal(`${wanted} after the lock's ${ending}`);
  }

  /** Two valid refunds could take more together than the wallet held when either was judged. */
  function checkOnlyRefund(entry: JournalEntry & { readonly kind: "refund" }): void {
    const nowS = BigInt(Math.floor(clock.now() / 1000));
    for (const [holding, { deadline }] of refunds) {
      if (BigInt(deadline) < nowS) refunds.delete(holding);
    }
    const last = refunds.get(holdingOf(entry));
    if (!last) return;
    const { maxAmount, reason, deadline } = entry;
    // Asked again after a crash.
    if (last.maxAmount === maxAmount && last.reason === reason && last.deadline === deadline)
      return;
    throw new SignerRefusal(`refund while another is valid until ${last.deadline}`);
  }

  function checkPrice(srcChain: number, order: PriceRequest, rules: AttestorRules): void {
    if (!rules.isPricedRoute(srcChain, order.token, order.route)) {
      throw new SignerRefusal("route is not configured as priced");
    }
    if (order.rate === 0n) throw new SignerRefusal("price is zero");
    checkDeadline(order.deadline, PRICE_LIFETIME_S);
  }
}

function holdingOf(entry: JournalEntry & { readonly kind: "refund" }): string {
  return `${entry.chainId} ${entry.commitment} ${entry.token}`;
}

type OrdersEntry = JournalEntry & { readonly kind: "orders" };

function describeMessage(message: GuardedMessage) {
  const { messageHash, lifetime, lamports, orders } = message;
  return {
    blockhash: lifetime.blockhash,
    lastValidHeight: lifetime.lastValidHeight.toString(),
    messageHash,
    lamports: lamports.toString(),
    orders: orders.map(({ kind, id, token, amount, minOut }) => ({
      kind,
      id,
      token,
      amount: amount.toString(),
      ...(minOut !== undefined && { minOut: minOut.toString() }),
    })),
  };
}

function readMessage(entry: OrdersEntry): GuardedMessage {
  const { blockhash, lastValidHeight, messageHash, lamports, orders } = entry;
  return {
    messageHash: toHex32(messageHash),
    lifetime: { blockhash: toHex32(blockhash), lastValidHeight: BigInt(lastValidHeight) },
    lamports: BigInt(lamports),
    orders: orders.map(({ kind, id, token, amount, minOut }) => ({
      kind,
      id: toHex32(id),
      token: toAddress(token),
      amount: BigInt(amount),
      ...(minOut !== undefined && { minOut: BigInt(minOut) }),
    })),
  };
}

type EarlyEntry = JournalEntry & { readonly kind: "delivery" | "other" };

function formatValues({
  lockedAmount,
  minOut,
  seq,
  worth,
}: {
  readonly lockedAmount: bigint;
  readonly minOut: bigint;
  readonly seq: bigint;
  readonly worth: bigint;
}) {
  return {
    lockedAmount: lockedAmount.toString(),
    minOut: minOut.toString(),
    seq: seq.toString(),
    worth: worth.toString(),
  };
}

function readEarly(
  { deliveryId, destChain, commitment, deadline }: EarlyEntry,
  early: NonNullable<EarlyEntry["early"]>,
  signedAtMs: number,
): CountedPayout {
  const { srcChain, escrow, delivery, token, lockedAmount, minOut, seq, worth } = early;
  return {
    deliveryId: toHex32(deliveryId),
    srcChain,
    destChain,
    escrow: toAddress(escrow),
    lock: {
      commitment: toHex32(commitment),
      delivery: toHex32(delivery),
      token: toAddress(token),
      amount: BigInt(lockedAmount),
      minOut: BigInt(minOut),
      seq: BigInt(seq),
    },
    worth: BigInt(worth),
    deadline: BigInt(deadline),
    signedAtMs,
  };
}
