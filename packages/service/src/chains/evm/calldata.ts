/** Converts decoded arguments of our contracts. */
import { deliveryAbi, type escrowAbi } from "@sluice/contracts/abi";
import type { ContractFunctionArgs } from "viem";
import { decodeFunctionData } from "./abi.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Hex, toAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { LockFacts, Payout } from "../port/index.ts";

type OrderArgument = ContractFunctionArgs<typeof deliveryAbi, "nonpayable", "deliver">[0];
type LockArgument = ContractFunctionArgs<typeof escrowAbi, "nonpayable", "claim">[0];

/** Converts a commitment. */
export function toCommitment(c: {
  readonly [Name in keyof Commitment]: Commitment[Name] extends number ? number : Hex;
}): Commitment {
  return {
    ...c,
    integrator: toHex32(c.integrator),
    userId: toHex32(c.userId),
    destWallet: toHex32(c.destWallet),
    destToken: toHex32(c.destToken),
    refundAuthority: toHex32(c.refundAuthority),
    routes: toHex32(c.routes),
  };
}

/** Converts an order of `Delivery`. Its addresses stay padded to 32 bytes, as ids are computed from them. */
export function toPayout({ c, escrow, srcToken, ...order }: OrderArgument): Payout {
  const places = { escrow: toAddress(escrow), srcToken: toAddress(srcToken) };
  return { ...order, ...places, commitment: toCommitment(c) };
}

/** Returns the orders of a call to `Delivery`; none for its other methods. Throws for data of no method. */
export function listOrders(data: Hex): readonly OrderArgument[] {
  const { functionName, args } = decodeFunctionData({ abi: deliveryAbi, data });
  if (functionName === "deliver") return [args[0]];
  return functionName === "deliverMany" ? args[0].map(({ order }) => order) : [];
}

/** Converts a lock of `Escrow`. */
export function toLockFacts({ commitment, delivery, token, ...rest }: LockArgument): LockFacts {
  const [hash, payer] = [toHex32(commitment), toHex32(delivery)];
  return { ...rest, commitment: hash, delivery: payer, token: toEvmAddress(token) };
}
