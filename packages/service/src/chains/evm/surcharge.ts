/**
 * The cost of a transaction besides its gas. On chains of the OP stack the sender also pays for the data of the transaction on
 * layer 1, and a fee of the operator; a predeployed oracle states both. On Arbitrum the data is part of the gas that a node
 * estimates (`gasEstimateForL1`), so nothing is added to a simulated call.
 */
import { parseAbi } from "viem";
import { encodeFunctionData } from "./abi.ts";
import { isOpStack } from "../../core/chain-registry.ts";
import { type EvmAddress, toEvmAddress } from "../../core/hex.ts";
import { parseUintWord } from "./answers.ts";
import { findInView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

/** `GasPriceOracle`, at the same address on every chain of the OP stack. */
export const GAS_PRICE_ORACLE: EvmAddress = toEvmAddress(
  `0x420000000000000000000000000000000000000f`,
);

const oracleAbi = parseAbi([
  "function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)",
  "function getOperatorFee(uint256 gasUsed) view returns (uint256)",
]);

/** A transaction of a settlement: more than the 436 to 852 bytes, and the gas, of any that is sent alone. */
const USUAL = { bytes: 1_000n, gas: 400_000n };
/** Bytes of a transaction besides its data: addresses, fees and signature. */
const BYTES_BESIDES_DATA = 200n;

/** Returns the wei that a transaction of a settlement costs besides its gas; 0 where there is no such cost. */
export function readUsualSurcharge(rpc: Rpc): Promise<bigint> {
  return readSurcharge(rpc, USUAL);
}

/** Returns the wei that a call costs besides its gas, at most. */
export function readCallSurcharge(
  rpc: Rpc,
  { data, gas }: { readonly data: string; readonly gas: bigint },
): Promise<bigint> {
  return readSurcharge(rpc, { bytes: BigInt(data.length / 2) + BYTES_BESIDES_DATA, gas });
}

async function readSurcharge(
  rpc: Rpc,
  { bytes, gas }: { readonly bytes: bigint; readonly gas: bigint },
): Promise<bigint> {
  if (!isOpStack(rpc.chainId)) return 0n;
  const [layerOne, operator] = await Promise.all([
    ask(
      rpc,
      encodeFunctionData({ abi: oracleAbi, functionName: "getL1FeeUpperBound", args: [bytes] }),
    ),
    ask(rpc, encodeFunctionData({ abi: oracleAbi, functionName: "getOperatorFee", args: [gas] })),
  ]);
  return layerOne + operator;
}

/** Returns a fee of the oracle. A test network without one, and an older one without the method, has no such fee. */
async function ask(rpc: Rpc, data: `0x${string}`): Promise<bigint> {
  // Part of the chain itself: transactions of one size and gas limit share the answer.
  const view = { to: GAS_PRICE_ORACLE, data, at: "latest", isForeign: false } as const;
  return (await findInView(rpc, view, parseUintWord)) ?? 0n;
}
