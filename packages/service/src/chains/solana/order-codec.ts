/**
 * The encoding of orders as the data of a call: canonical JSON in hex, so that planned, signed and compared orders are
 * the same bytes.
 */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { type Hex, toAddress, toHex, toHex32 } from "../../core/hex.ts";
import { type Commitment, UNATTENDED } from "../../core/commitment.ts";
import { numberOfReason, reasonOfNumber, REFUND_REASONS } from "../../core/refund-reason.ts";
import type { AttestedPrice, Payout, TokenSource } from "../port/index.ts";
import type { Order } from "./orders.ts";

const exact = { additionalProperties: false } as const;
const Quantity = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$" });
/** A Solana address, a hash or an id. */
const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
/** An address of any chain family. */
const Account = Type.String({ pattern: "^0x([0-9a-f]{40}|[0-9a-f]{64})$" });
const Bytes = Type.String({ pattern: "^0x([0-9a-f]{2})*$" });
const ChainId = Type.Integer({ minimum: 1, maximum: 65_535 });
const Flags = Type.Integer({ minimum: 0, maximum: UNATTENDED });
const Bps = Type.Integer({ minimum: 0, maximum: 10_000 });
const Reason = Type.Integer({ minimum: 0, maximum: REFUND_REASONS.length });

const WireCommitment = Type.Object(
  {
    integrator: Word,
    userId: Word,
    destChain: ChainId,
    destWallet: Word,
    destToken: Word,
    refundAuthority: Word,
    maxFeeBps: Bps,
    maxSlippageBps: Bps,
    routes: Word,
    flags: Flags,
  },
  exact,
);
const WirePrice = Type.Object(
  {
    price: Type.Object({ rate: Quantity, maxAmount: Quantity, deadline: Quantity }, exact),
    signature: Bytes,
  },
  exact,
);
const WireSources = Type.Array(Type.Object({ account: Word, amount: Quantity }, exact), {
  minItems: 1,
});

const WireOrder = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("lock"),
      commitment: WireCommitment,
      token: Word,
      amount: Quantity,
      minOut: Quantity,
      price: Type.Union([WirePrice, Type.Null()]),
      seq: Quantity,
      lockedAt: Quantity,
      delivery: Word,
      asOf: Quantity,
      sources: Type.Optional(WireSources),
    },
    exact,
  ),
  Type.Object(
    {
      kind: Type.Literal("claim"),
      deliveryId: Word,
      token: Word,
      amount: Quantity,
      paidAmount: Quantity,
      deadline: Quantity,
      signature: Bytes,
      held: Type.Optional(Quantity),
      whole: Type.Optional(Type.Literal(true)),
    },
    exact,
  ),
  Type.Object(
    {
      kind: Type.Literal("return"),
      commitment: WireCommitment,
      token: Word,
      amount: Quantity,
      minOut: Quantity,
      seq: Quantity,
      delivery: Word,
      deadline: Quantity,
      signature: Bytes,
      held: Type.Optional(Quantity),
      whole: Type.Optional(Type.Literal(true)),
    },
    exact,
  ),
  Type.Object(
    {
      kind: Type.Literal("deliver"),
      order: Type.Object(
        {
          commitment: WireCommitment,
          srcChain: ChainId,
          escrow: Account,
          srcToken: Account,
          lockedAmount: Quantity,
          minOut: Quantity,
          seq: Quantity,
          windowStart: Quantity,
          amount: Quantity,
        },
        exact,
      ),
      signature: Bytes,
    },
    exact,
  ),
  Type.Object(
    {
      kind: Type.Literal("transfer"),
      commitment: WireCommitment,
      token: Word,
      amount: Quantity,
      fee: Quantity,
      asOf: Quantity,
      sources: Type.Optional(WireSources),
    },
    exact,
  ),
  Type.Object(
    {
      kind: Type.Literal("refund"),
      commitment: WireCommitment,
      token: Word,
      amount: Quantity,
      reason: Reason,
      sources: Type.Optional(WireSources),
    },
    exact,
  ),
]);
type WireOrder = Static<typeof WireOrder>;

const WireOrders = Compile(Type.Array(WireOrder, { minItems: 1 }));

/** Encodes orders as the data of a call. */
export function encodeOrders(orders: readonly Order[]): Hex {
  return toHex(`0x${Buffer.from(JSON.stringify(orders.map(writeOrder))).toString("hex")}`);
}

/** Decodes the orders of a call's data. Throws `TypeError` on any bytes that `encodeOrders` would not write. */
export function parseOrders(data: Hex): readonly Order[] {
  const written = parseJson(data);
  if (!WireOrders.Check(written)) throw new TypeError("the data of the call is no list of orders");
  const orders = written.map(readOrder);
  if (encodeOrders(orders) !== data) throw new TypeError("the orders are spelled in another way");
  return orders;
}

function parseJson(data: Hex): unknown {
  try {
    return JSON.parse(Buffer.from(data.slice(2), "hex").toString());
  } catch {
    // The caller reports it as malformed.
    return undefined;
  }
}

/** Writes fields in the order of the schema, which is the canonical one. */
function writeOrder(order: Order): WireOrder {
  switch (order.kind) {
    case "lock":
      return {
        kind: "lock",
        commitment: writeCommitment(order.commitment),
        token: order.token,
        amount: order.amount.toString(),
        minOut: order.minOut.toString(),
        price: order.price && writePrice(order.price),
        seq: order.seq.toString(),
        lockedAt: order.lockedAt.toString(),
        delivery: order.delivery,
        asOf: order.asOf.toString(),
        ...writeSources(order.sources),
      };
    case "claim":
      return {
        kind: "claim",
        deliveryId: order.deliveryId,
        token: order.token,
        amount: order.amount.toString(),
        paidAmount: order.paidAmount.toString(),
        deadline: order.deadline.toString(),
        signature: order.signature,
        ...(order.held !== undefined && { held: order.held.toString() }),
        ...(order.whole && { whole: true }),
      };
    case "return":
      return {
        kind: "return",
        commitment: writeCommitment(order.commitment),
        token: order.token,
        amount: order.amount.toString(),
        minOut: order.minOut.toString(),
        seq: order.seq.toString(),
        delivery: order.delivery,
        deadline: order.deadline.toString(),
        signature: order.signature,
        ...(order.held !== undefined && { held: order.held.toString() }),
        ...(order.whole && { whole: true }),
      };
    case "deliver":
      return {
        kind: "deliver",
        order: {
          commitment: writeCommitment(order.order.commitment),
          srcChain: order.order.srcChain,
          escrow: order.order.escrow,
          srcToken: order.order.srcToken,
          lockedAmount: order.order.lockedAmount.toString(),
          minOut: order.order.minOut.toString(),
          seq: order.order.seq.toString(),
          windowStart: order.order.windowStart.toString(),
          amount: order.order.amount.toString(),
        },
        signature: order.signature,
      };
    case "transfer":
      return {
        kind: "transfer",
        commitment: writeCommitment(order.commitment),
        token: order.token,
        amount: order.amount.toString(),
        fee: order.fee.toString(),
        asOf: order.asOf.toString(),
        ...writeSources(order.sources),
      };
    case "refund":
      return {
        kind: "refund",
        commitment: writeCommitment(order.commitment),
        token: order.token,
        amount: order.amount.toString(),
        reason: numberOfReason(order.reason),
        ...writeSources(order.sources),
      };
  }
}

function readOrder(wire: WireOrder): Order {
  switch (wire.kind) {
    case "lock":
      return {
        kind: "lock",
        commitment: readCommitment(wire.commitment),
        token: toAddress(wire.token),
        amount: BigInt(wire.amount),
        minOut: BigInt(wire.minOut),
        price: wire.price && readPrice(wire.price),
        seq: BigInt(wire.seq),
        lockedAt: BigInt(wire.lockedAt),
        delivery: toHex32(wire.delivery),
        asOf: BigInt(wire.asOf),
        ...readSources(wire.sources),
      };
    case "claim":
      return {
        kind: "claim",
        deliveryId: toHex32(wire.deliveryId),
        token: toAddress(wire.token),
        amount: BigInt(wire.amount),
        paidAmount: BigInt(wire.paidAmount),
        deadline: BigInt(wire.deadline),
        signature: toHex(wire.signature),
        ...(wire.held !== undefined && { held: BigInt(wire.held) }),
        ...(wire.whole && { whole: true }),
      };
    case "return":
      return {
        kind: "return",
        commitment: readCommitment(wire.commitment),
        token: toAddress(wire.token),
        amount: BigInt(wire.amount),
        minOut: BigInt(wire.minOut),
        seq: BigInt(wire.seq),
        delivery: toHex32(wire.delivery),
        deadline: BigInt(wire.deadline),
        signature: toHex(wire.signature),
        ...(wire.held !== undefined && { held: BigInt(wire.held) }),
        ...(wire.whole && { whole: true }),
      };
    case "deliver":
      return {
        kind: "deliver",
        order: readDelivery(wire.order),
        signature: toHex(wire.signature),
      };
    case "transfer":
      return {
        kind: "transfer",
        commitment: readCommitment(wire.commitment),
        token: toAddress(wire.token),
        amount: BigInt(wire.amount),
        fee: BigInt(wire.fee),
        asOf: BigInt(wire.asOf),
        ...readSources(wire.sources),
      };
    case "refund":
      return {
        kind: "refund",
        commitment: readCommitment(wire.commitment),
        token: toAddress(wire.token),
        amount: BigInt(wire.amount),
        reason: reasonOfNumber(wire.reason),
        ...readSources(wire.sources),
      };
  }
}

function writeCommitment(commitment: Commitment): Static<typeof WireCommitment> {
  const { integrator, userId, destChain, destWallet, destToken, refundAuthority } = commitment;
  const { maxFeeBps, maxSlippageBps, routes, flags } = commitment;
  return {
    integrator,
    userId,
    destChain,
    destWallet,
    destToken,
    refundAuthority,
    maxFeeBps,
    maxSlippageBps,
    routes,
    flags,
  };
}

function readCommitment(wire: Static<typeof WireCommitment>): Commitment {
  return {
    ...wire,
    integrator: toHex32(wire.integrator),
    userId: toHex32(wire.userId),
    destWallet: toHex32(wire.destWallet),
    destToken: toHex32(wire.destToken),
    refundAuthority: toHex32(wire.refundAuthority),
    routes: toHex32(wire.routes),
  };
}

function readDelivery(wire: (WireOrder & { kind: "deliver" })["order"]): Payout {
  return {
    commitment: readCommitment(wire.commitment),
    srcChain: wire.srcChain,
    escrow: toAddress(wire.escrow),
    srcToken: toAddress(wire.srcToken),
    lockedAmount: BigInt(wire.lockedAmount),
    minOut: BigInt(wire.minOut),
    seq: BigInt(wire.seq),
    windowStart: BigInt(wire.windowStart),
    amount: BigInt(wire.amount),
  };
}

function writePrice({ price, signature }: AttestedPrice): Static<typeof WirePrice> {
  const { rate, maxAmount, deadline } = price;
  return {
    price: {
      rate: rate.toString(),
      maxAmount: maxAmount.toString(),
      deadline: deadline.toString(),
    },
    signature,
  };
}

function readPrice({ price, signature }: Static<typeof WirePrice>): AttestedPrice {
  return {
    price: {
      rate: BigInt(price.rate),
      maxAmount: BigInt(price.maxAmount),
      deadline: BigInt(price.deadline),
    },
    signature: toHex(signature),
  };
}

function writeSources(sources: readonly TokenSource[] | undefined) {
  return (
    sources && {
      sources: sources.map(({ account, amount }) => ({ account, amount: amount.toString() })),
    }
  );
}

function readSources(sources: Static<typeof WireSources> | undefined) {
  return (
    sources && {
      sources: sources.map(({ account, amount }) => ({
        account: toAddress(account),
        amount: BigInt(amount),
      })),
    }
  );
}
