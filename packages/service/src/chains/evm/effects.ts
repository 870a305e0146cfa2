/**
 * What our contracts did, read from the logs of a receipt. Anybody can emit an event of any name, so a log counts only
 * by who emitted it: the factory, the escrow and the delivery contract of this chain, the bridge's transmitter, and a
 * wallet that the factory says it settled in the same transaction.
 */
import { AbiEventSignatureNotFoundError, decodeEventLog, toEventSelector } from "viem";
import type { Abi } from "viem";
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
import { type EvmAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Effect } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import { transmitterAbi } from "./cctp.ts";
import type { EvmContracts } from "./contracts.ts";

/** Whose events count. */
export type Emitters = EvmContracts & {
  /** The bridge's, where the chain has one. */
  readonly transmitter?: EvmAddress | undefined;
};

/** The effects in the order of their logs. Throws when a log of ours cannot be decoded: then the node is not to be trusted. */
export function decodeEffects(logs: readonly LogAnswer[], emitters: Emitters): Effect[] {
  const kept = logs.filter((log) => !log.removed);
  const ours = kept.map((log) => decodeOurs(log, emitters));
  const settled = new Set(
    ours.flatMap((effect) => (effect?.kind === "settled" ? [holdingOf(effect)] : [])),
  );
  /** What wallets swapped into themselves, to burn it. */
  const exchanged = new Set<string>();
  return kept.flatMap((log, index): readonly Effect[] => {
    const effect = ours[index] ?? decodeTransferred(log) ?? decodeBurned(log) ?? decodeSwapped(log);
    if (!effect) return [];
    switch (effect.kind) {
      case "transferred":
        return settled.has(holdingOf(effect)) ? [effect] : [];
      case "swapped": {
        const { wallet, to, tokenIn, tokenOut } = effect;
        if (!settled.has(holdingOf({ wallet, token: tokenIn }))) return [];
        if (to === wallet) exchanged.add(holdingOf({ wallet, token: tokenOut }));
        return [effect];
      }
      case "burned": {
        const holding = holdingOf(effect);
        return settled.has(holding) || exchanged.has(holding) ? [effect] : [];
      }
      default:
        return [effect];
    }
  });
}

function holdingOf(effect: { readonly wallet: string; readonly token: string }): string {
  return `${effect.wallet}:${effect.token}`;
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

/** What the factory states, or null for its other events. Assumes that it emitted the log. */
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
    case "Refunded":
      return {
        kind: "refunded",
        wallet: toEvmAddress(event.args.wallet),
        token: toEvmAddress(event.args.token),
        to: toEvmAddress(event.args.to),
        amount: event.args.amount,
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
        destChain: event.args.destChain,
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

/** A payment that the `Delivery` contract states, or null for its other events. Assumes that it emitted the log. */
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

/** What the bridge's transmitter sent, or null for its other events. Assumes that it emitted the log. */
function decodeOfTransmitter(log: LogAnswer): Effect | null {
  const event = decode(transmitterAbi, log);
  if (event?.eventName !== "MessageSent") return null;
  return { kind: "message_sent", message: event.args.message };
}

const TRANSFERRED = toEventSelector(
  "Transferred(address indexed wallet, address indexed to, address token, uint256 amount, uint256 fee)",
);

/**
 * The route's event, which the wallet emits because the route's code runs inside it. Whether the emitter is a wallet is
 * for the caller to say; a log that merely resembles it is somebody else's and is ignored, decodable or not.
 */
function decodeTransferred(log: LogAnswer): (Effect & { kind: "transferred" }) | null {
  if (log.topics[0] !== TRANSFERRED || log.topics.length !== 3) return null;
  if (log.data.length !== 2 + 3 * 64 || log.topics[1]?.slice(26) !== log.address.slice(2)) {
    return null;
  }
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

/** The event of the route to a bridge, which the wallet emits as it does the other. */
function decodeBurned(log: LogAnswer): (Effect & { kind: "burned" }) | null {
  if (log.topics[0] !== BURNED || log.topics.length !== 2) return null;
  if (log.data.length !== 2 + 6 * 64 || log.topics[1]?.slice(26) !== log.address.slice(2)) {
    return null;
  }
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

/** The event of a route that swaps, which the wallet emits as it does the other. */
function decodeSwapped(log: LogAnswer): (Effect & { kind: "swapped" }) | null {
  if (log.topics[0] !== SWAPPED || log.topics.length !== 3) return null;
  if (log.data.length !== 2 + 5 * 64 || log.topics[1]?.slice(26) !== log.address.slice(2)) {
    return null;
  }
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

/** The event of a log, or null when the contract has no event of that signature. Throws on other topics or data. */
function decode<const A extends Abi>(abi: A, log: LogAnswer) {
  const [signature, ...rest] = log.topics;
  if (!signature) return null;
  try {
    return decodeEventLog({ abi, data: log.data, topics: [signature, ...rest], strict: true });
  } catch (error) {
    if (error instanceof AbiEventSignatureNotFoundError) return null;
    throw error;
  }
}
