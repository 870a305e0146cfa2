/** Sends transactions to Solana: lifetimes, fees, simulation and receipts. */
import { isDeepStrictEqual } from "node:util";
import { Bug } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  NATIVE_SOL,
  toHex32,
  type TxHash,
  unpadAddress,
} from "../../core/hex.ts";
import type { Rule } from "../ask-nodes.ts";
import type { AccountAnswer } from "./account-answers.ts";
import {
  type BlockhashSequencing,
  type Call,
  type ChainSender,
  type Lifetime,
  MORE_ARRIVED,
  type Receipt,
  type Simulation,
} from "../port/index.ts";
import { SIMULATIONS } from "../quorum.ts";
import { toBase58, toSignature } from "./base58.ts";
import type { Accounts, Commitments } from "./contracts.ts";
import { mintOf } from "./derived-accounts.ts";
import { readEffects } from "./effects.ts";
import { buildInstructions } from "./instructions.ts";
import { type MintFacts, type OrderFacts } from "./order-facts.ts";
import { assertMint } from "./mint-policy.ts";
import { parseOrders } from "./order-codec.ts";
import type { Order } from "./orders.ts";
import type { Quorum } from "./quorum.ts";
import { isLeftover, readFailure } from "./failures.ts";
import { compileMessage, decodeTransaction, encodeUnsigned, listSigners } from "./transaction.ts";

/** Number of blocks for which a blockhash is valid. */
const LIFETIME_BLOCKS = 150n;
/** Most compute units that a transaction may request. */
const UNITS_MAX = 1_400_000n;

/** The facts that the sender needs. */
export interface SenderOptions {
  readonly chainId: number;
  readonly accounts: Accounts;
  readonly commitments: Commitments;
  readonly ids: Pick<OrderFacts, "deliveryIdOfLock" | "deliveryIdOfPayout">;
  /** Returns the stored vault of a commitment's hash; null when none was issued. */
  readonly vaultOf: (commitment: Hex32) => Promise<Address | null>;
  readonly findMintFacts: (mint: Address) => MintFacts | undefined;
  readonly rentOf: OrderFacts["rentOf"];
  /** Lowest and highest offered priority fee, in micro-lamports per compute unit. */
  readonly unitPrice: { readonly min: bigint; readonly max: bigint };
}

/** Creates the chain's sender. All methods but `send` throw RPC_UNAVAILABLE without enough agreeing answers. */
export function createSender(quorum: Quorum, options: SenderOptions): ChainSender {
  const { chainId, accounts, commitments, ids, vaultOf, findMintFacts, rentOf, unitPrice } =
    options;
  const { nodes, agreeFinal, getFinalSlot, findBlock, readBlockAfter, unavailable } = quorum;

  function factsOf(feePayer: Address): OrderFacts {
    return {
      feePayer,
      ...accounts,
      ...ids,
      hashCommitment: commitments.hash,
      rentOf,
      async vaultOf(commitment: Commitment) {
        const vault = await vaultOf(commitments.hash(commitment));
        if (vault === null) throw new Bug("an order is of a vault that was issued");
        return vault;
      },
      mintFactsOf(mint) {
        const facts = findMintFacts(mint);
        if (facts === undefined) throw new Bug("an order is of a token that is configured");
        return facts;
      },
    };
  }

  /** Throws UNSUPPORTED_ROUTE when the mint of an order differs from its configuration. */
  async function checkMints(orders: readonly Order[], { mintFactsOf }: OrderFacts): Promise<void> {
    const mints = new Set(orders.flatMap(mintsOf));
    for (const mint of mints) {
      const account = await agreeFinal(async (node, minSlot) => {
        const { accounts: found } = await node.readAccounts([mint], minSlot);
        return found[0] ?? null;
      }, SAME_DATA);
      assertMint(account, mint, mintFactsOf(mint));
    }
  }

  /**
   * Returns whether no transaction signed before the deadline can still be mined. Such a transaction names a block from
   * before the deadline and is valid for a number of blocks, not of seconds, so the cluster can mine it after a halt.
   */
  async function isOrderOver(deadline: bigint): Promise<boolean> {
    const final = await findBlock(await getFinalSlot());
    let block = final;
    for (;;) {
      if (final === null || block === null) throw unavailable("no final block");
      if (block.time === null) throw unavailable("block time missing");
      if (block.time <= deadline + CLOCK_GRACE_S) return false;
      const missing = block.height + LIFETIME_BLOCKS - final.height;
      if (missing <= 0n) return true;
      // Slots can be skipped and heights cannot, so going back n slots goes back at most n blocks.
      const slot = block.parentSlot + 1n - missing;
      if (slot <= 0n) return false;
      const lower = await readBlockAfter(slot - 1n);
      if (lower !== null && lower.slot >= block.slot) throw unavailable("parent differs");
      block = lower;
    }
  }

  async function suggestPrice(): Promise<bigint> {
    const { escrow, delivery, treasury } = accounts;
    const prices = await nodes.collect(async (node) =>
      suggestedPriceOf(await node.listPrices([escrow, delivery, treasury]), unitPrice),
    );
    return nodes.reachedBy(prices.values);
  }

  async function simulate(from: Address, call: Call): Promise<Simulation> {
    const orders = parseOrders(call.data);
    const facts = factsOf(from);
    await checkMints(orders, facts);
    const instructions = await buildInstructions(orders, facts);
    const message = compileMessage({
      instructions,
      feePayer: from,
      // The node replaces it.
      lifetime: { blockhash: NO_HASH, lastValidHeight: 0n },
      unitLimit: UNITS_MAX,
      unitPrice: await suggestPrice(),
    });
    const transaction = encodeUnsigned(message);
    const { length: signersCount } = listSigners(message);
    // Orders spend final balances: a node behind the final slot would report a lack of funds.
    const minSlot = await getFinalSlot();
    const simulation = await nodes.agree(async (node): Promise<Simulation> => {
      const { error, units } = await node.simulate(transaction, minSlot);
      if (error === null) return { ok: true, gas: withMargin(units) };
      if (orders.some(isFromVault) && isLeftover(error, signersCount)) {
        return { ok: false, reason: MORE_ARRIVED };
      }
      return { ok: false, reason: readFailure(error, { instructions, payer: toBase58(from) }) };
    }, SIMULATIONS);
    // Anybody can send dust at any time, so it must not use up a try of the settlement.
    if (!simulation.ok && simulation.reason === MORE_ARRIVED) throw unavailable(MORE_ARRIVED);
    if (!simulation.ok && simulation.reason === "gas") {
      throw new OperatingError(
        "INSUFFICIENT_BALANCE",
        "The balance of the sender does not cover the gas.",
        {
          details: { reason: "gas", chainId },
        },
      );
    }
    return simulation;
  }

  async function getReceipt(txHash: TxHash): Promise<Receipt | null> {
    const signature = toSignature(txHash);
    const found = await nodes.agree((node) => node.getTransaction(signature, "confirmed"));
    if (found === null) return null;
    const { slot, succeeded, metMore, cost } = found;
    const place = await nodes.agree((node) => node.findPlace(slot, signature));
    if (place === null) throw unavailable("a transaction is not in its block");
    return {
      txHash,
      blockHash: place.hash,
      blockNumber: slot,
      succeeded,
      ...(metMore && { metMore }),
      gasCost: cost,
      effects: succeeded ? readEffects(found, accounts, place.index) : [],
    };
  }

  return {
    isOrderOver,
    readSurcharge: async () => 0n,
    async suggestFees() {
      const price = await suggestPrice();
      return { gasPriceMax: price, tipMax: price };
    },
    simulate,
    send: async (raw: Hex) => {
      const signature = toSignature(decodeTransaction(raw).txHash);
      // All nodes get the same bytes, so one that takes them is enough.
      const outcome = await nodes.findAny(
        (node) => node.send(raw, signature),
        (said) => (said === "unknown" ? "nothing" : "enough"),
      );
      return outcome ?? "unknown";
    },
    getReceipt,
  };
}

/** Creates the sequencing by blockhash: a transaction names a block and can be mined for 150 blocks after it. */
export function createBlockhashSequencing({ nodes }: Pick<Quorum, "nodes">): BlockhashSequencing {
  /** Returns a lifetime that begins with the newest block confirmed by enough nodes. */
  async function getLifetime(): Promise<Lifetime> {
    const slots = await nodes.collect((node) => node.getSlot("confirmed"));
    const slot = nodes.reachedBy(slots.values);
    // The last valid height is computed here: if a node understated it, the call would be signed again too early.
    const { hash, height } = await nodes.agree((node) => node.readHead(slot, "confirmed"), {
      isSame: (one, other) => one.hash === other.hash && one.height === other.height,
      merge: ([first]) => {
        if (!first) throw new Bug("a group has a member");
        return first;
      },
    });
    return { blockhash: hash, lastValidHeight: height + LIFETIME_BLOCKS };
  }

  return {
    kind: "blockhash",
    getLifetime,
    async isExpired({ lastValidHeight }) {
      const heights = await nodes.collect((node) => node.getHeight());
      return nodes.reachedBy(heights.values) > lastValidHeight;
    },
  };
}

/** Largest difference between the signer's clock and block times, in seconds. */
const CLOCK_GRACE_S = 600n;

/** 32 zero bytes, the hash of no block. */
const NO_HASH = toHex32(NATIVE_SOL);

function isFromVault({ kind }: Order): boolean {
  return kind === "lock" || kind === "transfer" || kind === "refund";
}

/** Compares the owner and data of a mint's account and ignores its lamports. */
const SAME_DATA: Rule<AccountAnswer | null> = {
  isSame: (one, other) => one?.owner === other?.owner && isDeepStrictEqual(one?.data, other?.data),
  merge: ([first]) => first ?? null,
};

/** Adds 20 % for state that changes before the transaction is mined, and the units of the two fee instructions. */
function withMargin(units: bigint): bigint {
  return (units * 12n) / 10n + 300n;
}

/** Returns the upper quartile of recent prices within the bounds, in micro-lamports per compute unit. */
export function suggestedPriceOf(
  prices: readonly bigint[],
  { min, max }: SenderOptions["unitPrice"],
): bigint {
  const sorted = prices.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  const price = sorted[Math.floor((sorted.length * 3) / 4)] ?? 0n;
  if (price < min) return min;
  return price > max ? max : price;
}

/** Lists the mints to check for an order. Value must always be able to leave, so ends of locks and refunds have none. */
function mintsOf(order: Order): readonly Address[] {
  switch (order.kind) {
    case "lock":
    case "transfer":
      return order.token === NATIVE_SOL ? [] : [mintOf(order.token)];
    case "deliver": {
      const { destToken } = order.order.commitment;
      const token = unpadAddress(destToken, "svm");
      return token === NATIVE_SOL ? [] : [mintOf(token)];
    }
    case "claim":
    case "return":
    case "refund":
      return [];
  }
}
