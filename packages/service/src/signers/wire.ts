/** The protocol of the signer's socket: JSON, amounts as decimal strings. */
import { type Static, Type } from "typebox";
import { type Commitment, UNATTENDED } from "../core/commitment.ts";
import type {
  ClaimProof,
  Payout,
  PriceRequest,
  RefundProof,
  ReturnProof,
} from "../chains/port/index.ts";
import { type Hex, toAddress, toHex32, toTxHash } from "../core/hex.ts";
import { REFUND_REASONS } from "../core/refund-reason.ts";
import type { CountedPayout, SigningRequest } from "./port.ts";
import { REFUSED } from "./refusal.ts";

const exact = { additionalProperties: false } as const;
const Quantity = Type.String({ pattern: "^(0|[1-9]\\d{0,77})$" });
const Account = Type.String({ pattern: "^0x([0-9a-f]{40}|[0-9a-f]{64})$" });
const Word = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const Hash = Type.String({ pattern: "^0x([0-9a-f]{64}|[0-9a-f]{128})$" });
const Bytes = Type.String({ pattern: "^0x([0-9a-f]{2})*$", maxLength: 262_144 });
const ChainId = Type.Integer({ minimum: 1, maximum: 65_535 });
const Flags = Type.Integer({ minimum: 0, maximum: UNATTENDED });
const Bps = Type.Integer({ minimum: 0, maximum: 10_000 });

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

export const TransactionBody = Type.Object(
  {
    chainId: ChainId,
    lane: Account,
    to: Account,
    data: Bytes,
    value: Quantity,
    nonce: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    gas: Quantity,
    maxFeePerGas: Quantity,
    maxPriorityFeePerGas: Quantity,
    lifetime: Type.Optional(Type.Object({ blockhash: Word, lastValidHeight: Quantity }, exact)),
    hints: Type.Optional(Type.Array(Hash, { maxItems: 100 })),
  },
  exact,
);

export const DeliveryBody = Type.Object(
  {
    destChain: ChainId,
    commitment: WireCommitment,
    srcChain: ChainId,
    escrow: Account,
    srcToken: Account,
    lockedAmount: Quantity,
    minOut: Quantity,
    seq: Quantity,
    windowStart: Quantity,
    amount: Quantity,
    /** Of a payout before its lock is final. */
    worth: Type.Optional(Quantity),
  },
  exact,
);

export const CoverBody = Type.Object({ deliveryId: Word }, exact);

const WireEarly = Type.Object({
  deliveryId: Word,
  srcChain: ChainId,
  destChain: ChainId,
  escrow: Account,
  lock: Type.Object({
    commitment: Word,
    delivery: Word,
    token: Account,
    amount: Quantity,
    minOut: Quantity,
    seq: Quantity,
  }),
  worth: Quantity,
  deadline: Quantity,
  signedAtMs: Type.Integer({ minimum: 0 }),
});

/** Early payouts that are counted. */
export const EarlyList = Type.Object({ early: Type.Array(WireEarly) });

/** Delivery ids, asked about or answered. */
export const DeliveryIds = Type.Object({ deliveryIds: Type.Array(Word) }, exact);

/** An early payout that other attestors signed. */
export const OtherBody = Type.Object({ payout: WireEarly }, exact);

/** The destination of payouts. */
export const DestinationBody = Type.Object({ destChain: ChainId }, exact);

export const ReadTo = Type.Object({ block: Type.Union([Quantity, Type.Null()]) });

export const ReadToBody = Type.Object({ destChain: ChainId, block: Quantity }, exact);

export const ClaimBody = Type.Object(
  { srcChain: ChainId, deliveryId: Word, paidAmount: Quantity, deadline: Quantity },
  exact,
);

export const ReturnBody = Type.Object(
  { srcChain: ChainId, deliveryId: Word, deadline: Quantity },
  exact,
);

export const PriceBody = Type.Object(
  {
    srcChain: ChainId,
    wallet: Account,
    token: Account,
    route: Account,
    rate: Quantity,
    maxAmount: Quantity,
    deadline: Quantity,
  },
  exact,
);

export const RefundBody = Type.Object(
  {
    chainId: ChainId,
    commitment: WireCommitment,
    token: Account,
    maxAmount: Quantity,
    reason: Type.Enum(REFUND_REASONS),
    deadline: Quantity,
  },
  exact,
);

export const CapBody = Type.Object({ chainId: ChainId, lane: Account, token: Account }, exact);

export const VaultBody = Type.Object({ commitment: WireCommitment }, exact);

export const Accounts = Type.Object({
  lanes: Type.Array(
    Type.Object({
      chainId: ChainId,
      purpose: Type.Union([
        Type.Literal("deploy"),
        Type.Literal("settle"),
        Type.Literal("deliver"),
        Type.Literal("claim"),
      ]),
      address: Account,
      retired: Type.Boolean(),
    }),
  ),
  attestor: Type.Union([Account, Type.Null()]),
  vaults: Type.Union([Type.Object({ chainId: ChainId, binding: Account }), Type.Null()]),
});
export type Accounts = Static<typeof Accounts>;

export const Signed = Type.Object({
  raw: Bytes,
  hash: Hash,
});
export const Vault = Type.Object({ wallet: Account, proof: Bytes });
export const Done = Type.Object({});
export const CapLeft = Type.Object({ left: Quantity });
export const Signature = Type.Object({ signature: Bytes });
export const Failure = Type.Object({
  error: Type.Union([
    Type.Literal("REFUSED"),
    Type.Literal("WAITS"),
    Type.Literal("RPC_UNAVAILABLE"),
    Type.Literal("BAD_REQUEST"),
    Type.Literal("INTERNAL"),
  ]),
  message: Type.String(),
  /** Of refusals only. */
  about: Type.Optional(Type.Enum(REFUSED)),
});
export type Failure = Static<typeof Failure>;

export function parseSigningRequest(request: Static<typeof TransactionBody>): SigningRequest {
  const { to, data, value, nonce, gas, maxFeePerGas, maxPriorityFeePerGas } = request;
  const { lifetime, hints } = request;
  return {
    // CAST: the schema allows only hex.
    call: { to: toAddress(to), data: data as Hex, value: BigInt(value) },
    nonce,
    gas: BigInt(gas),
    fees: {
      gasPriceMax: BigInt(maxFeePerGas),
      tipMax: BigInt(maxPriorityFeePerGas),
    },
    ...(lifetime && {
      lifetime: {
        blockhash: toHex32(lifetime.blockhash),
        lastValidHeight: BigInt(lifetime.lastValidHeight),
      },
    }),
    ...(hints && { hints: hints.map(toTxHash) }),
  };
}

export function formatSigningRequest(
  chainId: number,
  lane: string,
  { call, nonce, gas, fees, lifetime, hints }: SigningRequest,
): Static<typeof TransactionBody> {
  return {
    chainId,
    lane,
    to: call.to,
    data: call.data.toLowerCase(),
    value: call.value.toString(),
    nonce,
    gas: gas.toString(),
    maxFeePerGas: fees.gasPriceMax.toString(),
    maxPriorityFeePerGas: fees.tipMax.toString(),
    ...(lifetime && {
      lifetime: {
        blockhash: lifetime.blockhash,
        lastValidHeight: lifetime.lastValidHeight.toString(),
      },
    }),
    ...(hints && hints.length > 0 && { hints: [...hints] }),
  };
}

export function parseDelivery(request: Static<typeof DeliveryBody>): Payout {
  const { commitment, srcChain, escrow, srcToken, lockedAmount, minOut } = request;
  return {
    commitment: parseCommitment(commitment),
    srcChain,
    escrow: toAddress(escrow),
    srcToken: toAddress(srcToken),
    lockedAmount: BigInt(lockedAmount),
    minOut: BigInt(minOut),
    seq: BigInt(request.seq),
    windowStart: BigInt(request.windowStart),
    amount: BigInt(request.amount),
  };
}

export function formatDelivery(
  destChain: number,
  { lockedAmount, minOut, seq, windowStart, amount, ...order }: Payout,
  worth?: bigint,
): Static<typeof DeliveryBody> {
  return {
    destChain,
    ...order,
    lockedAmount: lockedAmount.toString(),
    minOut: minOut.toString(),
    seq: seq.toString(),
    windowStart: windowStart.toString(),
    amount: amount.toString(),
    ...(worth !== undefined && { worth: worth.toString() }),
  };
}

export function formatEarly(early: readonly CountedPayout[]): Static<typeof EarlyList> {
  return { early: early.map(formatCounted) };
}

export function formatCounted({
  lock,
  worth,
  deadline,
  ...rest
}: CountedPayout): Static<typeof WireEarly> {
  return {
    ...rest,
    lock: {
      ...lock,
      amount: lock.amount.toString(),
      minOut: lock.minOut.toString(),
      seq: lock.seq.toString(),
    },
    worth: worth.toString(),
    deadline: deadline.toString(),
  };
}

export function parseEarly({ early }: Static<typeof EarlyList>): readonly CountedPayout[] {
  return early.map(parseCounted);
}

export function parseCounted(payout: Static<typeof WireEarly>): CountedPayout {
  const { deliveryId, escrow, lock, worth, deadline, ...rest } = payout;
  return {
    ...rest,
    deliveryId: toHex32(deliveryId),
    escrow: toAddress(escrow),
    lock: {
      commitment: toHex32(lock.commitment),
      delivery: toHex32(lock.delivery),
      token: toAddress(lock.token),
      amount: BigInt(lock.amount),
      minOut: BigInt(lock.minOut),
      seq: BigInt(lock.seq),
    },
    worth: BigInt(worth),
    deadline: BigInt(deadline),
  };
}

export function parseClaim(request: Static<typeof ClaimBody>): ClaimProof {
  const { deliveryId, paidAmount, deadline } = request;
  return {
    deliveryId: toHex32(deliveryId),
    paidAmount: BigInt(paidAmount),
    deadline: BigInt(deadline),
  };
}

export function parseReturn(request: Static<typeof ReturnBody>): ReturnProof {
  return { deliveryId: toHex32(request.deliveryId), deadline: BigInt(request.deadline) };
}

export function parsePrice(request: Static<typeof PriceBody>): PriceRequest {
  return {
    wallet: toAddress(request.wallet),
    token: toAddress(request.token),
    route: toAddress(request.route),
    rate: BigInt(request.rate),
    maxAmount: BigInt(request.maxAmount),
    deadline: BigInt(request.deadline),
  };
}

export function parseRefund(request: Static<typeof RefundBody>): RefundProof {
  const { commitment, token, maxAmount, reason, deadline } = request;
  return {
    commitment: parseCommitment(commitment),
    token: toAddress(token),
    maxAmount: BigInt(maxAmount),
    reason,
    deadline: BigInt(deadline),
  };
}

export function parseCommitment(wire: Static<typeof WireCommitment>): Commitment {
  const { integrator, userId, destWallet, destToken, refundAuthority, routes } = wire;
  return {
    ...wire,
    integrator: toHex32(integrator),
    userId: toHex32(userId),
    destWallet: toHex32(destWallet),
    destToken: toHex32(destToken),
    refundAuthority: toHex32(refundAuthority),
    routes: toHex32(routes),
  };
}
