/** The treasury contract: moves in the directions that its owner listed. */
import { treasuryAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "viem";
import { type EvmAddress, toEvmAddress } from "../../core/hex.ts";
import type { TreasuryContract } from "../port/index.ts";
import { readView } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

const abi = treasuryAbi;

/** Returns the treasury of a chain over a node. Reads throw RPC_UNAVAILABLE. */
export function createTreasury(rpc: Rpc, treasury: EvmAddress): TreasuryContract {
  return {
    address: treasury,
    buildMove({ token, to, amount }) {
      const args = [toEvmAddress(token), toEvmAddress(to), amount] as const;
      const data = encodeFunctionData({ abi, functionName: "move", args });
      return { to: treasury, data, value: 0n };
    },
    readMovable({ token, to }, at = "latest") {
      const functionName = "movable";
      const args = [toEvmAddress(token), toEvmAddress(to)] as const;
      const data = encodeFunctionData({ abi, functionName, args });
      return readView(rpc, { to: treasury, data, at }, (returned) =>
        decodeFunctionResult({ abi, functionName, data: returned }),
      );
    },
  };
}
