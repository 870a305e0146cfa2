/** The treasury contract: moves in the directions that its owner listed, and withdrawals to the owner. */
import { erc20Abi, treasuryAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import {
  type Address,
  type EvmAddress,
  type Hex,
  NATIVE_TOKEN,
  toEvmAddress,
} from "../../core/hex.ts";
import type { ReadPoint, TreasuryContract, TreasuryStock } from "../port/index.ts";
import { readView } from "./calls.ts";
import { getNativeBalance } from "./reader.ts";
import type { Rpc } from "./rpc.ts";

const abi = treasuryAbi;

/** Returns the treasury of a chain over a node. Reads throw RPC_UNAVAILABLE. */
export function createTreasury(rpc: Rpc, treasury: EvmAddress): TreasuryContract {
  const callOf = (data: Hex) => ({ to: treasury, data, value: 0n });

  async function readBalance(token: EvmAddress, at: ReadPoint): Promise<bigint> {
    if (token === NATIVE_TOKEN) return getNativeBalance(rpc, treasury, at);
    const view = { abi: erc20Abi, functionName: "balanceOf" } as const;
    const data = encodeFunctionData({ ...view, args: [treasury] });
    return readView(rpc, { to: token, data, at }, (returned) =>
      decodeFunctionResult({ ...view, data: returned }),
    );
  }

  async function readStock(of: Address, at: ReadPoint = "latest"): Promise<TreasuryStock> {
    const token = toEvmAddress(of);
    const args = [token] as const;
    const floorOf = encodeFunctionData({ abi, functionName: "floorOf", args });
    const pending = encodeFunctionData({ abi, functionName: "pendingWithdrawal", args });
    const [balance, floor, [amount, readyAt]] = await Promise.all([
      readBalance(token, at),
      readView(rpc, { to: treasury, data: floorOf, at }, (data) =>
        decodeFunctionResult({ abi, functionName: "floorOf", data }),
      ),
      readView(rpc, { to: treasury, data: pending, at }, (data) =>
        decodeFunctionResult({ abi, functionName: "pendingWithdrawal", data }),
      ),
    ]);
    return { balance, floor, announced: readyAt === 0n ? null : { amount, readyAt } };
  }

  return {
    address: treasury,
    readStock,
    buildMove({ token, to, amount }) {
      const args = [toEvmAddress(token), toEvmAddress(to), amount] as const;
      return callOf(encodeFunctionData({ abi, functionName: "move", args }));
    },
    async readMovable({ token, to }, at = "latest") {
      const functionName = "movable";
      const args = [toEvmAddress(token), toEvmAddress(to)] as const;
      const data = encodeFunctionData({ abi, functionName, args });
      const [movable, { balance, floor, announced }] = await Promise.all([
        readView(rpc, { to: treasury, data, at }, (returned) =>
          decodeFunctionResult({ abi, functionName, data: returned }),
        ),
        readStock(token, at),
      ]);
      // The contract knows the floor alone: a move would leave too little for the withdrawal.
      const kept = floor + (announced?.amount ?? 0n);
      const free = balance > kept ? balance - kept : 0n;
      return movable < free ? movable : free;
    },
    buildScheduleWithdrawal({ token, amount }) {
      const args = [toEvmAddress(token), amount] as const;
      return callOf(encodeFunctionData({ abi, functionName: "scheduleWithdrawal", args }));
    },
    buildExecuteWithdrawal(token) {
      const args = [toEvmAddress(token)] as const;
      return callOf(encodeFunctionData({ abi, functionName: "executeWithdrawal", args }));
    },
  };
}
