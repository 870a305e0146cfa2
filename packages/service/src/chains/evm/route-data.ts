/** Encodes route data as each route contract decodes it. */
import { encodeAbiParameters, parseAbiParameters } from "viem";
import type { Hex } from "../../core/hex.ts";
import type {
  BurnTerms,
  LockTerms,
  RouteFee,
  PoolSwapBurnTerms,
  PoolSwapTerms,
} from "../port/index.ts";

const PRICE_DATA = parseAbiParameters([
  "Price price, bytes signature, RateBounds bounds",
  "struct Price { uint256 rate; uint256 maxAmount; uint256 deadline; }",
  "struct RateBounds { uint256 min; uint256 max; }",
]);
const SWAP_DATA = parseAbiParameters([
  "Price price, bytes signature, RouteFee fee, uint256 minOut, uint256 deadline",
  "struct Price { uint256 rate; uint256 maxAmount; uint256 deadline; }",
  "struct RouteFee { uint16 bps; uint256 flat; }",
]);
const SWAP_BURN_DATA = parseAbiParameters([
  "Price price, bytes signature, RouteFee fee, uint256 minOut, uint256 deadline, uint256 maxFee, uint32 minFinalityThreshold",
  "struct Price { uint256 rate; uint256 maxAmount; uint256 deadline; }",
  "struct RouteFee { uint16 bps; uint256 flat; }",
]);
const TRANSFER_DATA = parseAbiParameters("(uint16 bps, uint256 flat)");
const BURN_DATA = parseAbiParameters(
  "(uint16 bps, uint256 flat), uint256 maxFee, uint32 minFinalityThreshold",
);

/** Encodes the route data of a lock: the attested price and its bounds, or nothing for a pair of the same asset. */
export function encodeLockData({ price: attested }: LockTerms): Hex {
  if (attested === null) return "0x";
  const { price, signature, bounds } = attested;
  return encodeAbiParameters(PRICE_DATA, [price, signature, bounds]);
}

/** Encodes the route data of a transfer. */
export function encodeTransferData(fee: RouteFee): Hex {
  return encodeAbiParameters(TRANSFER_DATA, [fee]);
}

/** Encodes the route data of a burn by Circle's bridge. */
export function encodeBurnData({ fee, maxFee, minFinalityThreshold }: BurnTerms): Hex {
  return encodeAbiParameters(BURN_DATA, [fee, maxFee, minFinalityThreshold]);
}

/** Encodes the route data of a pool swap. */
export function encodeSwapData({ price, signature, fee, minOut, deadline }: PoolSwapTerms): Hex {
  return encodeAbiParameters(SWAP_DATA, [price, signature, fee, minOut, deadline]);
}

/** Encodes the route data of a pool swap whose output is burned. */
export function encodeSwapBurnData(order: PoolSwapBurnTerms): Hex {
  const { price, signature, fee, minOut, deadline, maxFee, minFinalityThreshold } = order;
  const swap = [price, signature, fee, minOut, deadline] as const;
  return encodeAbiParameters(SWAP_BURN_DATA, [...swap, maxFee, minFinalityThreshold]);
}
