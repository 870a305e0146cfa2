/** Calls are encoded and decoded as the library does. */
import { decodeFunctionResult, encodeFunctionData, parseAbi } from "viem";
import { deliveryAbi, erc20Abi } from "@sluice/contracts/abi";
import { expect, test } from "vitest";
import * as cached from "./abi.ts";

const ID = `0x${"ab".repeat(32)}` as const;
const OWNER = `0x${"12".repeat(20)}` as const;

test("calls of a contract", () => {
  const call = {
    abi: deliveryAbi,
    functionName: "isDelivered",
    args: [ID, 2, ID, 5n],
  } as const;
  const balance = { abi: erc20Abi, functionName: "balanceOf", args: [OWNER] } as const;
  // Twice: the first one prepares the function.
  for (let n = 0; n < 2; n += 1) {
    expect(cached.encodeFunctionData(call)).toBe(encodeFunctionData(call));
    expect(cached.encodeFunctionData(balance)).toBe(encodeFunctionData(balance));
    const result = { ...balance, data: `0x${"7".padStart(64, "0")}` } as const;
    expect(cached.decodeFunctionResult(result)).toBe(decodeFunctionResult(result));
    expect(cached.decodeFunctionResult(result)).toBe(7n);
  }
});

test("functions of one name are told apart by their arguments", () => {
  const abi = parseAbi(["function f(uint256 a)", "function f(address a, uint256 b)"]);
  for (const args of [[7n], [OWNER, 7n]] as const) {
    const call = { abi, functionName: "f", args } as const;
    expect(cached.encodeFunctionData(call)).toBe(encodeFunctionData(call));
  }
});

test("a name that the ABI lacks, and arguments of another form, are refused", () => {
  const call = { abi: erc20Abi, functionName: "balanceOf", args: [] };
  // CAST: what the types do not allow.
  expect(() => cached.encodeFunctionData(call as never)).toThrow("encoding");
  const unknown = { abi: erc20Abi, functionName: "nothing" };
  // CAST: the same.
  expect(() => cached.encodeFunctionData(unknown as never)).toThrow("nothing");
});
