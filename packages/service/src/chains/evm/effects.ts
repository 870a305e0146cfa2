/**
 * Decodes the effects of the service's contracts from the logs of a receipt. Anybody can emit an event of any name, so a log
 * counts only by its emitter: the factory, escrow and delivery contract of this chain, the bridge's transmitter, or a route
 * through which the factory settled that wallet in the same transaction.
 */
import { toEventSelector } from "viem";
import type { Abi, AbiEvent, DecodeEventLogReturnType } from "viem";
import { decodeEvent } from "./abi.ts";
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import { type EvmAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { reasonOfNumber } from "../../core/refund-reason.ts";
import type { Effect } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import { transmitterAbi } from "./cctp.ts";
import type { EvmContracts } from "./contracts.ts";

/** Contracts whose events count. */
export type Emitters = EvmContracts & {
  /** The bridge's transmitter, if the chain has one. */
  readonly transmitter?: EvmAddress | undefined;
};

/** Returns the effects in log order. Throws if a log of our contracts cannot be decoded: the node is then not trustworthy. */
export function decodeEffects(logs: readonly LogAnswer[], emitters: Emitters): Effect[] {
  const kept = logs.filter((log) => !log.removed);
  const ours = kept.map((log) => decodeOurs(log, emitters));
  const settled = new Set(
    ours.flatMap((effect) => (effect?.kind === "settled" ? [passageOf(effect)] : [])),
  );
  return kept.flatMap((log, index): readonly Effect[] => {
    const own = ours[index];
    if (own) return [own];
    const effect = decodeTransferred(log) ?? decodeBurned(log) ?? decodeSwapped(log);
    if (!effect) return [];
    return settled.has(passageOf({ route: log.address, wallet: effect.wallet })) ? [effect] : [];
  });
}

function passageOf(effect: { readonly route: string; readonly wallet: string }): string {
  return `${effect.wallet}:${effect.route}`;
}

function decodeOurs(
  log: LogAnswer,
  { factory, escrow, delivery, transmitter }: Emitters,
): Effect | null {
  switch (log.address) {
    case factory:
      return decodeOfFactory(log);
    case escrow:
      return decodeOfEscrow(log);
    case delivery:
      return decodeOfDelivery(log);
    case transmitter:
      return decodeOfTransmitter(log);
    default:
      return null;
  }
}

/** Decodes an event of the factory, or returns null for its other events. The caller has checked the emitter. */
export function decodeOfFactory(log: LogAnswer): Effect | null {
  const event = decode(depositFactoryAbi, log);
  switch (event?.eventName) {
    case "WalletDeployed":
      return {
        kind: "deployed",
        wallet: toEvmAddress(event.args.wallet),
        commitment: toHex32(event.args.commitment),
      };
    case "Settled":
      return {
        kind: "settled",
        wallet: toEvmAddress(event.args.wallet),
        token: toEvmAddress(event.args.token),
        route: toEvmAddress(event.args.route),
        amount: event.args.amount,
        logIndex: log.logIndex,
      };
    case "SettledUnattended":
      return {
        kind: "unattended",
        wallet: toEvmAddress(event.args.wallet),
        token: toEvmAddress(event.args.token),
        amount: event.args.amount,
      };
    case "Refunded":
      return {
        kind: "refunded",
        wallet: toEvmAddress(event.args.wallet),
        token: toEvmAddress(event.args.token),
        to: toEvmAddress(event.args.to),
        amount: event.args.amount,
        reason: reasonOfNumber(event.args.reason),
      };
    default:
      return null;
  }
}

function decodeOfEscrow(log: LogAnswer): Effect | null {
  const event = decode(escrowAbi, log);
  switch (event?.eventName) {
    case "Locked":
      return {
        kind: "locked",
        escrow: log.address,
        deliveryId: toHex32(event.args.deliveryId),
        wallet: toEvmAddress(event.args.wallet),
        commitment: toHex32(event.args.commitment),
        token: toEvmAddress(event.args.token),
        amount: event.args.amount,
        minOut: event.args.minOut,
        seq: event.args.seq,
        lockedAt: event.args.lockedAt,
        delivery: toHex32(event.args.delivery),
      };
    case "Claimed":
      return {
        kind: "claimed",
        deliveryId: toHex32(event.args.deliveryId),
        amount: event.args.amount,
      };
    default:
      return null;
  }
}

/** Decodes a payout of the `Delivery` contract, or returns null for its other events. The caller has checked the emitter. */
export function decodeOfDelivery(log: LogAnswer): (Effect & { kind: "delivered" }) | null {
  const event = decode(deliveryAbi, log);
  if (event?.eventName !== "Delivered") return null;
  return {
    kind: "delivered",
    deliveryId: toHex32(event.args.deliveryId),
    commitment: toHex32(event.args.commitment),
    to: toEvmAddress(event.args.to),
    token: toEvmAddress(event.args.token),
    amount: event.args.amount,
  };
}

/** Decodes a message of the bridge's transmitter, or returns null for its other events. The caller has checked the emitter. */
function decodeOfTransmitter(log: LogAnswer): Effect | null {
  const event = decode(transmitterAbi, log);
  if (event?.eventName !== "MessageSent") return null;
  return { kind: "message_sent", message: event.args.message };
}

const TRANSFERRED = toEventSelector(
  "Transferred(address indexed wallet, address indexed to, address token, uint256 amount, uint256 fee)",
);

/**
 * Decodes the event of a route. The caller checks that the emitter is a route. A log that only resembles the event is
 * ignored.
 */
function decodeTransferred(log: LogAnswer): (Effect & { kind: "transferred" }) | null {
  if (log.topics[0] !== TRANSFERRED || log.topics.length !== 3) return null;
  if (log.data.length !== 2 + 3 * 64) return null;
  const event = decode(transferRouteAbi, log);
  if (event?.eventName !== "Transferred") return null;
  const { wallet, to, token, amount, fee } = event.args;
  return {
    kind: "transferred",
    wallet: toEvmAddress(wallet),
    to: toEvmAddress(to),
    token: toEvmAddress(token),
    amount,
    fee,
  };
}

const BURNED = toEventSelector("Burned(address,address,uint256,uint256,uint256,uint32,bytes32)");

/** Decodes the event of a route that burns, like the one above. */
function decodeBurned(log: LogAnswer): (Effect & { kind: "burned" }) | null {
  if (log.topics[0] !== BURNED || log.topics.length !== 2) return null;
  if (log.data.length !== 2 + 6 * 64) return null;
  const event = decode(cctpRouteAbi, log);
  if (event?.eventName !== "Burned") return null;
  const { wallet, token, amount, fee, maxFee, destDomain, recipient } = event.args;
  return {
    kind: "burned",
    wallet: toEvmAddress(wallet),
    token: toEvmAddress(token),
    amount,
    fee,
    maxFee,
    destDomain,
    recipient: toHex32(recipient),
  };
}

const SWAPPED = toEventSelector(
  "Swapped(address indexed wallet, address indexed to, address tokenIn, address tokenOut, uint256 amountIn, uint256 amountOut, uint256 fee)",
);

/** Decodes the event of a route that swaps, like the ones above. */
function decodeSwapped(log: LogAnswer): (Effect & { kind: "swapped" }) | null {
  if (log.topics[0] !== SWAPPED || log.topics.length !== 3) return null;
  if (log.data.length !== 2 + 5 * 64) return null;
  const event = decode(swapRouteAbi, log);
  if (event?.eventName !== "Swapped") return null;
  const { wallet, to, tokenIn, tokenOut, amountIn, amountOut, fee } = event.args;
  return {
    kind: "swapped",
    wallet: toEvmAddress(wallet),
    to: toEvmAddress(to),
    tokenIn: toEvmAddress(tokenIn),
    tokenOut: toEvmAddress(tokenOut),
    amountIn,
    amountOut,
    fee,
  };
}

/** Decodes a log by an ABI, or returns null if the ABI has no event of that signature. Throws on other topics or data. */
export function decode<const A extends Abi>(abi: A, log: LogAnswer) {
  const [signature] = log.topics;
  const event = signature && eventsOf(abi).get(signature);
  if (!event) return null;
  // CAST: the event is one of the ABI's.
  return decodeEvent(event, log) as DecodeEventLogReturnType<A>;
}

/** The events of each ABI by their first topic. */
const indexes = new WeakMap<Abi, ReadonlyMap<string, AbiEvent>>();

function eventsOf(abi: Abi): ReadonlyMap<string, AbiEvent> {
  const known = indexes.get(abi);
  if (known) return known;
  const events = abi.filter((item) => item.type === "event");
  const index = new Map(events.map((event) => [toEventSelector(event), event]));
  indexes.set(abi, index);
  return index;
}
