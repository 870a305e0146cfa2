/** Encodes the calls by which an owner puts the contracts of a chain into service. */
import { deliveryAbi, depositFactoryAbi, treasuryAbi } from "@sluice/contracts/abi";
import { encodeFunctionData } from "./abi.ts";
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { GovernedRole } from "../port/index.ts";
import { hashOfRole } from "./governance.ts";

/** A daily cap of a token, in base units. */
export interface OwnerCap {
  readonly token: EvmAddress;
  readonly perDay: bigint;
}

/** Encodes the seal of a factory: its first members. */
export function encodeFactorySeal(members: {
  readonly routes: readonly EvmAddress[];
  readonly relayers: readonly EvmAddress[];
  readonly attestors: readonly EvmAddress[];
  readonly threshold: number;
  readonly treasury: EvmAddress;
}): Hex {
  const { routes, relayers, attestors, threshold, treasury } = members;
  const args = [routes, relayers, attestors, BigInt(threshold), treasury] as const;
  return encodeFunctionData({ abi: depositFactoryAbi, functionName: "seal", args });
}

/** Encodes the seal of a `Delivery`: its first settlers and daily caps. */
export function encodeDeliverySeal(
  settlers: readonly EvmAddress[],
  caps: readonly OwnerCap[],
): Hex {
  return encodeFunctionData({ abi: deliveryAbi, functionName: "seal", args: [settlers, caps] });
}

/** A direction of a treasury with its daily cap, in base units. */
export interface OwnerDirection {
  readonly token: EvmAddress;
  readonly to: EvmAddress;
  readonly perDay: bigint;
}

/** Encodes the seal of a treasury: its first movers and directions. */
export function encodeTreasurySeal(
  movers: readonly EvmAddress[],
  directions: readonly OwnerDirection[],
): Hex {
  return encodeFunctionData({ abi: treasuryAbi, functionName: "seal", args: [movers, directions] });
}

/** Encodes one of the two steps by which a direction is listed, or its daily cap rises. */
export function encodeDirection(
  step: "schedule" | "execute",
  { token, to, perDay }: OwnerDirection,
): Hex {
  return step === "schedule"
    ? encodeFunctionData({
        abi: treasuryAbi,
        functionName: "scheduleDirection",
        args: [token, to, perDay],
      })
    : encodeFunctionData({
        abi: treasuryAbi,
        functionName: "executeDirection",
        args: [token, to],
      });
}

/** Encodes the listing of a relayer, which works at once. */
export function encodeListRelayer(relayer: EvmAddress): Hex {
  const call = { abi: depositFactoryAbi, functionName: "setRelayer" } as const;
  return encodeFunctionData({ ...call, args: [relayer, true] });
}

/** Encodes one of the two steps of an addition, between which the delay passes. */
export function encodeAddition(
  step: "schedule" | "execute",
  { role, account }: { readonly role: GovernedRole; readonly account: EvmAddress },
): Hex {
  const args = [hashOfRole(role), account] as const;
  return encodeFunctionData({ abi: depositFactoryAbi, functionName: step, args });
}

/** Encodes one of the two steps by which a daily cap rises. */
export function encodeCapRaise(step: "schedule" | "execute", { token, perDay }: OwnerCap): Hex {
  return step === "schedule"
    ? encodeFunctionData({
        abi: deliveryAbi,
        functionName: "scheduleCapRaise",
        args: [token, perDay],
      })
    : encodeFunctionData({ abi: deliveryAbi, functionName: "executeCapRaise", args: [token] });
}
