/** The messages of a subscription to new blocks: the request, its answer and the notices. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

/** A subscription of one chain family. */
export interface HeadSubscription {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Method of the notices. */
  readonly notice: string;
  /** Returns the height that a notice announces; null if the notice is malformed. */
  readHeight(result: unknown): bigint | null;
}

/** A message of a node. */
export type PushMessage =
  | { readonly kind: "subscribed"; readonly id: string }
  | { readonly kind: "refused" }
  | { readonly kind: "notice"; readonly id: string; readonly height: bigint }
  | { readonly kind: "malformed" }
  /** A well-formed message that means nothing here. */
  | { readonly kind: "other" };

const REQUEST_ID = 1;

const SubscriptionId = Type.Union([Type.String({ maxLength: 200 }), Type.Integer()]);

const Answer = Compile(
  Type.Object({
    id: Type.Union([Type.Literal(REQUEST_ID), Type.Literal(String(REQUEST_ID))]),
    result: Type.Optional(SubscriptionId),
  }),
);

const Notice = Compile(
  Type.Object({
    method: Type.String(),
    params: Type.Object({ subscription: SubscriptionId, result: Type.Unknown() }),
  }),
);

const Header = Type.Object({ number: Type.String({ pattern: "^0x[0-9a-f]{1,16}$" }) });
const HeaderForm = Compile(Header);
type Header = Static<typeof Header>;

const Height = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Slot = Type.Object({ slot: Height, parent: Height, root: Height });
const SlotForm = Compile(Slot);
type Slot = Static<typeof Slot>;

/** New blocks of an EVM chain. */
export const NEW_HEADS: HeadSubscription = {
  method: "eth_subscribe",
  params: ["newHeads"],
  notice: "eth_subscription",
  readHeight(result) {
    if (!HeaderForm.Check(result)) return null;
    const { number }: Header = result;
    return BigInt(number);
  },
};

/**
 * Slots of Solana. One subscription serves both commitment levels: a notice has the last complete slot, the one before which
 * is confirmed by then or soon, and the newest root, which is final.
 */
export function slotsAt(level: "confirmed" | "finalized"): HeadSubscription {
  return {
    method: "slotSubscribe",
    params: [],
    notice: "slotNotification",
    readHeight(result) {
      if (!SlotForm.Check(result)) return null;
      const { parent, root }: Slot = result;
      return BigInt(level === "confirmed" ? Math.max(0, parent - 1) : root);
    },
  };
}

/** Returns the request of a subscription. */
export function encodeSubscription({ method, params }: HeadSubscription): string {
  return JSON.stringify({ jsonrpc: "2.0", id: REQUEST_ID, method, params });
}

/** Parses a message of a node. */
export function parsePushMessage(text: string, subscription: HeadSubscription): PushMessage {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { kind: "malformed" };
  }
  if (Answer.Check(message)) {
    // Without a result the answer is an error.
    return message.result === undefined
      ? { kind: "refused" }
      : { kind: "subscribed", id: String(message.result) };
  }
  if (!Notice.Check(message) || message.method !== subscription.notice) return { kind: "other" };
  const height = subscription.readHeight(message.params.result);
  if (height === null) return { kind: "malformed" };
  return { kind: "notice", id: String(message.params.subscription), height };
}
