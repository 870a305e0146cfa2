/** The signer of a lane on Solana: builds a message from orders and decodes it again before it signs. */
import { createHash } from "node:crypto";
import { buildInstructions } from "../../chains/solana/instructions.ts";
import { parseOrders } from "../../chains/solana/order-codec.ts";
import type { DeliverOrder, Order, RefundOrder } from "../../chains/solana/orders.ts";
import { compileMessage, encodeTransaction } from "../../chains/solana/transaction.ts";
import { assert } from "../../core/assert.ts";
import { type Address, type Hex, padAddress, toHex32, toTxHash } from "../../core/hex.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { OrderSigner } from "../guard.ts";
import type { GuardedOrder } from "../order-memory.ts";
import type { CheckPayout, OrderedPayout } from "../payout-policy.ts";
import { SignerRefusal } from "../refusal.ts";
import { checkMessage, type SignerFacts } from "./check-message.ts";
import type { Seed, Whose } from "./seed.ts";

/** Checks a refund for a reason by the signer's own readers. Throws `SignerRefusal`, or `SignerWaits` for one too early. */
export type CheckRefund = (
  refund: Pick<RefundOrder, "commitment" | "token" | "amount"> & {
    readonly chainId: number;
    readonly wallet: Address;
    readonly reason: RefundReason;
  },
) => Promise<void>;

/** Creates the signer of one lane. Nothing is signed before the guard has checked and journaled the message. */
export function createSolanaLaneSigner(options: {
  readonly seed: Seed;
  /** Bridge chain id. */
  readonly chainId: number;
  readonly purpose: "settle" | "deliver";
  readonly facts: Omit<SignerFacts, "feePayer" | "escrow" | "delivery" | "vaultOf">;
  /** Checks one order; throws `SignerRefusal` for an order that is not allowed. `nowS` is Unix seconds. */
  readonly checkOrder: (order: Order, nowS: bigint) => GuardedOrder;
  readonly checkPayout: CheckPayout;
  readonly checkRefund: CheckRefund;
}): OrderSigner {
  const { seed, chainId, purpose, checkOrder, checkPayout, checkRefund } = options;
  const { escrow, delivery } = seed.accounts;
  const facts: SignerFacts = {
    ...options.facts,
    feePayer: seed.accounts[purpose],
    escrow,
    delivery,
    vaultOf: (commitment) => seed.vaultOf(options.facts.hashCommitment(commitment)),
  };

  /** Maps the accounts that the orders may need signatures of to their keys. */
  function keysOf(orders: readonly Order[]): ReadonlyMap<Address, Whose> {
    const keys = new Map<Address, Whose>([
      [facts.feePayer, purpose],
      [escrow, "escrow"],
      [delivery, "delivery"],
    ]);
    for (const order of orders) {
      if (!("commitment" in order)) continue;
      const vault = facts.hashCommitment(order.commitment);
      keys.set(seed.vaultOf(vault), { vault });
    }
    return keys;
  }

  const payoutOf = ({ order }: DeliverOrder): OrderedPayout => {
    const { commitment, windowStart, amount, srcToken: token, lockedAmount, ...lock } = order;
    const hash = facts.hashCommitment(commitment);
    const places = { token, delivery: padAddress(delivery) };
    return {
      commitment,
      windowStart,
      amount,
      lock: { ...lock, ...places, amount: lockedAmount, commitment: hash },
    };
  };

  return {
    chainId,
    purpose,
    address: facts.feePayer,
    retired: false,

    async prepare(intent, nowMs) {
      const { call, gas, fees, lifetime } = intent;
      if (!lifetime) throw new SignerRefusal("transaction has no lifetime");
      if (call.value !== 0n) throw new SignerRefusal("transaction carries native coin");
      const orders = readOrders(call.data);
      const nowS = BigInt(Math.floor(nowMs / 1000));
      const guarded = orders.map((order) => checkOrder(order, nowS));
      for (const order of orders) {
        if (order.kind === "deliver") await checkPayout(payoutOf(order), intent.hints ?? []);
        if (order.kind === "refund" && order.reason !== null) {
          const { commitment, token, amount, reason } = order;
          const wallet = await facts.vaultOf(commitment);
          await checkRefund({ chainId, wallet, commitment, token, amount, reason });
        }
      }
      const instructions = await buildInstructions(orders, facts);
      const message = compileMessage({
        instructions,
        feePayer: facts.feePayer,
        lifetime,
        unitLimit: gas,
        unitPrice: fees.gasPriceMax,
      });
      const { signers, lamports } = checkMessage(message, orders, { intent, facts });
      const digest = createHash("sha256").update(message).digest("hex");
      return {
        messageHash: toHex32(`0x${digest}`),
        lifetime,
        orders: guarded,
        lamports,
        sign() {
          const keys = keysOf(orders);
          const signatures = signers.map((signer) => {
            const whose = keys.get(signer);
            assert(whose !== undefined, "a checked message is signed by accounts of its orders");
            return seed.sign(whose, message);
          });
          const [first] = signatures;
          assert(first !== undefined, "the fee payer signs first");
          const hash = toTxHash(`0x${Buffer.from(first).toString("hex")}`);
          return { raw: encodeTransaction(message, signatures), hash };
        },
      };
    },
  };
}

/** Decodes a call's data as orders, in their one canonical encoding. */
function readOrders(data: Hex): readonly Order[] {
  try {
    return parseOrders(data);
  } catch {
    // The message does not repeat the bytes.
    throw new SignerRefusal("data is not an encoding of orders");
  }
}
