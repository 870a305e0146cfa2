/** Reads the states of the factory that refuse settlements. */
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { assertNever } from "../../core/assert.ts";
import { type EvmAddress, type Hex, toEvmAddress } from "../../core/hex.ts";
import type { ContractRefusal, ReadPoint } from "../port/index.ts";
import { readView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

/** Returns whether the factory refuses settlements with an error. */
export function isRefused(
  rpc: Rpc,
  factory: EvmAddress,
  refusal: ContractRefusal,
  at: ReadPoint,
): Promise<boolean> {
  const { data, refuses } = questionOf(refusal);
  return readView(rpc, { to: factory, data, at }, refuses);
}

/** Returns the call of a view, and whether an answer of it refuses. */
function questionOf(refusal: ContractRefusal): {
  readonly data: Hex;
  readonly refuses: (returned: Hex) => boolean;
} {
  const abi = depositFactoryAbi;
  const ask = (functionName: "paused" | "isSealed" | "hasEnoughAttestors", refusing: boolean) => ({
    data: encodeFunctionData({ abi, functionName }),
    refuses: (data: Hex) => decodeFunctionResult({ abi, functionName, data }) === refusing,
  });
  const askFor = (functionName: "isRelayer" | "isRoute", who: EvmAddress) => ({
    data: encodeFunctionData({ abi, functionName, args: [who] }),
    refuses: (data: Hex) => !decodeFunctionResult({ abi, functionName, data }),
  });
  switch (refusal.reason) {
    case "IsPaused":
      return ask("paused", true);
    case "NotSealed":
      return ask("isSealed", false);
    case "TooFewAttestors":
      return ask("hasEnoughAttestors", false);
    case "NotRelayer":
      return askFor("isRelayer", toEvmAddress(refusal.relayer));
    case "NotRoute":
      return askFor("isRoute", toEvmAddress(refusal.route));
    default:
      return assertNever(refusal);
  }
}
