/**
 * The policy of a signer: every request passes here before a key is touched. What it remembers is read back from the
 * journal, so neither a restart nor a database that was changed or restored makes it forget.
 */
import { createHash } from "node:crypto";
import type { Call, ClaimProof, Payout, PriceRequest, ReturnProof } from "../chains/port/index.ts";
import { assertNever } from "../core/assert.ts";
import { type Address, type Hex, type Hex32, toAddress, toHex32 } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { type Journal, type JournalEntry, openJournal } from "./journal.ts";
import {
  createOrderMemory,
  type GuardedMessage,
  type OrderLimits,
  type OrderMemory,
} from "./order-memory.ts";
import type { AttestorSigner, LaneSigner, SignedTransaction, SigningRequest } from "./port.ts";
import { SignerRefusal } from "./refusal.ts";

/** What a lane may sign, beyond which calls. */
export interface LaneRules {
  /** The method that a call invokes. Throws `SignerRefusal` when the lane has no business with it. */
  readonly checkCall: (call: Call) => string;
  readonly gasMax: bigint;
  /** Wei per gas. */
  readonly maxFeePerGas: bigint;
  /** Wei that may be committed to gas in 24 hours; undefined for any. */
  readonly dailyGasBudget: bigint | undefined;
}

/** A lane that follows orders, on a chain whose contracts are the signer. */
export interface OrderSigner extends Omit<LaneSigner, "sign"> {
  /** Builds the message and proves that it is the orders. Throws `SignerRefusal`. Signs nothing yet. */
  prepare(intent: SigningRequest, nowMs: number): Promise<PreparedMessage>;
}

export interface PreparedMessage extends GuardedMessage {
  sign(): SignedTransaction;
}

/** What a lane that follows orders may sign, beyond which orders. */
export interface OrderRules extends OrderLimits {
  /** Compute units. */
  readonly gasMax: bigint;
  /** Micro-lamports per compute unit. */
  readonly maxFeePerGas: bigint;
}

/** What an attestor may sign, beyond the contracts it was configured with. */
export interface AttestorRules {
  /** The ids under which an order is journalled. */
  readonly identify: (
    destChain: number,
    order: Payout,
  ) => { readonly deliveryId: Hex32; readonly commitment: Hex32 };
  /** Whether a pair is configured as a route from inventory. */
  readonly isPair: (destChain: number, order: Payout) => boolean;
  /** Whether a contract is configured as a priced route of the token on the chain. */
  readonly isPricedRoute: (srcChain: number, token: Address, route: Address) => boolean;
  readonly payoutWindowS: bigint;
}

/** Clocks of chains run apart from ours. */
const CLOCK_SLACK_S = 3_600n;
const PRICE_LIFETIME_S = 120n;
const DAY_MS = 86_400_000;
/** How many of a lane's newest nonces are remembered; older ones are not signed any more. */
const NONCES_REMEMBERED = 10_000;
/** A lane has few open; a far nonce would make all that follow it look long past. */
const NONCES_AHEAD = 1_000;
/** Far more than the 72 hours after which nothing can be done about a lock any more. */
const ORDERS_REMEMBERED_MS = 60 * DAY_MS;

interface Spent {
  readonly atMs: number;
  readonly wei: bigint;
}

interface LaneMemory {
  /** What each nonce was signed for, and the most that it may cost. */
  readonly nonces: Map<number, { readonly callHash: string; readonly wei: bigint }>;
  highest: number;
  spent: Spent[];
}

type Ending = "claim" | "return";

/** Everything that one signer process remembers. */
export interface Guard {
  guardLane(signer: LaneSigner, rules: LaneRules): LaneSigner;
  guardOrders(signer: OrderSigner, rules: OrderRules): LaneSigner;
  guardAttestor(signer: AttestorSigner, rules: AttestorRules): AttestorSigner;
  close(): void;
}

/** Opens the journal and the memory that follows from it. Throws CONFIG_MISSING when the journal was tampered with. */
export function openGuard(options: { readonly journal: string; readonly clock: Clock }): Guard {
  const { clock } = options;
  const lanes = new Map<string, LaneMemory>();
  /** The latest deadline that was signed for each delivery. */
  const orders = new Map<string, { readonly deadline: bigint; readonly atMs: number }>();
  const endings = new Map<string, { readonly ending: Ending; readonly atMs: number }>();

  /** By chain. */
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
    const memory: LaneMemory = { nonces: new Map(), highest: -1, spent: [] };
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
        endings.set(entry.deliveryId, { ending: entry.kind, atMs });
        return;
      case "delivery": {
        const deadline = BigInt(entry.deadline);
        const { deadline: latest = 0n } = orders.get(entry.deliveryId) ?? {};
        orders.set(entry.deliveryId, { deadline: deadline > latest ? deadline : latest, atMs });
        return;
      }
      case "price":
        return;
      default:
        assertNever(entry);
    }
  }

  const journal: Journal = openJournal(options.journal, remember);

  /** The last thing before a signature, and never undone. */
  function record(entry: JournalEntry): void {
    const now = clock.now();
    for (const memory of [endings, orders]) {
      for (const [id, { atMs }] of memory) {
        if (atMs > now - ORDERS_REMEMBERED_MS) break;
        memory.delete(id);
      }
    }
    journal.append(entry, now);
    remember(entry, now);
  }

  function checkDeadline(deadline: bigint, lifetimeS: bigint): void {
    const latest = BigInt(Math.floor(clock.now() / 1000)) + lifetimeS + CLOCK_SLACK_S;
    if (deadline > latest) throw new SignerRefusal(`a deadline later than ${latest}`);
  }

  return {
    guardLane(signer, rules) {
      const { chainId, address } = signer;
      const memory = memoryOf(chainId, address);
      return {
        ...signer,
        async sign(intent) {
          const method = rules.checkCall(intent.call);
          checkTransaction(memory, intent, rules, clock.now());
          // Asked again for what is written down, as while a KMS is away: there is nothing to add.
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
          const { gasMax, maxFeePerGas } = rules;
          if (gas > gasMax) throw new SignerRefusal(`more than ${gasMax} compute units`);
          if (fees.maxFeePerGas > maxFeePerGas) {
            throw new SignerRefusal(`fees above ${maxFeePerGas} micro-lamports`);
          }
          const prepared = await prepare(intent, clock.now());
          // Nothing waits between the look at the memory and the entry.
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
        async signDelivery(destChain, order) {
          const { deliveryId, commitment } = rules.identify(destChain, order);
          if (!rules.isPair(destChain, order)) throw new SignerRefusal("a pair without a route");
          const ending = endings.get(deliveryId)?.ending;
          if (ending) throw new SignerRefusal(`a delivery after the lock's ${ending}`);
          const { amount, deadline } = order;
          if (amount === 0n) throw new SignerRefusal("a delivery of nothing");
          checkDeadline(deadline, rules.payoutWindowS);
          record({
            kind: "delivery",
            destChain,
            deliveryId,
            commitment,
            amount: amount.toString(),
            deadline: deadline.toString(),
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
          // Whatever a database says: an order that can still be used would pay for a lock that went back.
          const { deadline: usableUntil = 0n } = orders.get(deliveryId) ?? {};
          if (usableUntil > BigInt(Math.floor(clock.now() / 1000)) + CLOCK_SLACK_S) {
            throw new SignerRefusal(`a return while an order is good until ${usableUntil}`);
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
      };
    },

    close: () => journal.close(),
  };

  /** A lock ends one way. */
  function checkEnding({ deliveryId }: ClaimProof | ReturnProof, wanted: Ending): void {
    const ending = endings.get(deliveryId)?.ending ?? wanted;
    if (ending !== wanted) throw new SignerRefusal(`a ${wanted} after the lock's ${ending}`);
  }

  function checkPrice(srcChain: number, order: PriceRequest, rules: AttestorRules): void {
    if (!rules.isPricedRoute(srcChain, order.token, order.route)) {
      throw new SignerRefusal("a price for a route that is not configured as priced");
    }
    if (order.rate === 0n) throw new SignerRefusal("a price of nothing");
    checkDeadline(order.deadline, PRICE_LIFETIME_S);
  }
}

/** Whether this call is in the journal under its nonce, at this cost or a higher one. */
function isRecorded(memory: LaneMemory, intent: SigningRequest): boolean {
  const known = memory.nonces.get(intent.nonce);
  return known?.callHash === hashCall(intent.call) && costOf(intent) <= known.wei;
}

function checkTransaction(
  memory: LaneMemory,
  intent: SigningRequest,
  rules: LaneRules,
  nowMs: number,
): void {
  const { call, nonce, gas, fees } = intent;
  const { gasMax, maxFeePerGas, dailyGasBudget } = rules;
  if (call.value !== 0n) throw new SignerRefusal("a transaction that carries native coin");
  if (gas > gasMax) throw new SignerRefusal(`gas above ${gasMax}`);
  if (fees.maxFeePerGas > maxFeePerGas) throw new SignerRefusal(`fees above ${maxFeePerGas} wei`);
  if (fees.maxPriorityFeePerGas > fees.maxFeePerGas) {
    throw new SignerRefusal("a priority fee above the fee");
  }
  const known = memory.nonces.get(nonce);
  if (known && known.callHash !== hashCall(call)) {
    throw new SignerRefusal(`another call under the nonce ${nonce}`);
  }
  if (memory.highest >= 0 && nonce > memory.highest + NONCES_AHEAD) {
    throw new SignerRefusal(`the nonce ${nonce}, far ahead of the lane's others`);
  }
  if (!known && nonce <= memory.highest - NONCES_REMEMBERED) {
    throw new SignerRefusal(`the nonce ${nonce}, which is long past`);
  }
  if (dailyGasBudget === undefined) return;
  const spent = memory.spent
    .filter(({ atMs }) => atMs > nowMs - DAY_MS)
    .reduce((sum, { wei }) => sum + wei, 0n);
  // A replacement costs what it offers more.
  const more = costOf(intent) - (known?.wei ?? 0n);
  if (more > 0n && spent + more > dailyGasBudget) {
    throw new SignerRefusal(`more than the daily gas budget of ${dailyGasBudget} wei`);
  }
}

function rememberTransaction(
  memory: LaneMemory,
  entry: JournalEntry & { readonly kind: "transaction" },
  atMs: number,
): void {
  const { nonce } = entry;
  const before = memory.nonces.get(nonce)?.wei ?? 0n;
  const wei = BigInt(entry.gas) * BigInt(entry.maxFeePerGas);
  memory.nonces.set(nonce, { callHash: callHashOf(entry), wei: wei > before ? wei : before });
  if (wei > before) memory.spent.push({ atMs, wei: wei - before });
  memory.spent = memory.spent.filter((spent) => spent.atMs > atMs - DAY_MS);
  memory.highest = Math.max(memory.highest, nonce);
  memory.nonces.delete(memory.highest - NONCES_REMEMBERED);
}

function describe({ call, nonce, gas, fees }: SigningRequest) {
  return {
    nonce,
    to: call.to,
    dataHash: hashData(call.data),
    value: call.value.toString(),
    gas: gas.toString(),
    maxFeePerGas: fees.maxFeePerGas.toString(),
    maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString(),
  };
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

function costOf({ gas, fees }: SigningRequest): bigint {
  return gas * fees.maxFeePerGas;
}

function hashCall({ to, data, value }: Call): string {
  return callHashOf({ to, dataHash: hashData(data), value: value.toString() });
}

function callHashOf(call: {
  readonly to: string;
  readonly dataHash: string;
  readonly value: string;
}) {
  return `${call.to} ${call.dataHash} ${call.value}`;
}

function hashData(data: Hex): Hex {
  return `0x${createHash("sha256").update(data.slice(2), "hex").digest("hex")}`;
}
