/** Calls are encoded and decoded as the library does. */
import {
  type AbiEvent,
  type AbiParameter,
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiItem,
  toEventSelector,
} from "viem";
import {
  cctpRouteAbi,
  deliveryAbi,
  depositFactoryAbi,
  erc20Abi,
  escrowAbi,
  swapRouteAbi,
  transferRouteAbi,
} from "@sluice/contracts/abi";
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

test("data of calls", () => {
  const payment = { abi: erc20Abi, functionName: "transfer", args: [OWNER, 9n] } as const;
  const plain = { abi: erc20Abi, functionName: "decimals" } as const;
  for (const call of [payment, plain]) {
    const data = encodeFunctionData(call);
    for (let n = 0; n < 2; n += 1) {
      const decoded = cached.decodeFunctionData({ abi: erc20Abi, data });
      expect(decoded).toEqual(decodeFunctionData({ abi: erc20Abi, data }));
    }
  }
  expect(() => cached.decodeFunctionData({ abi: erc20Abi, data: "0x12345678" })).toThrow(
    "0x12345678",
  );
  const short = encodeFunctionData(payment).slice(0, -2) as `0x${string}`;
  expect(() => cached.decodeFunctionData({ abi: erc20Abi, data: short })).toThrow("out of bounds");
});

/** Returns a value of a type that fills its word. */
function sampleOf({ type }: AbiParameter): unknown {
  if (type === "address") return OWNER;
  if (type === "bool") return true;
  if (type === "string") return "text";
  if (type === "bytes") return "0x1234";
  const [, kind, size] = /^(uint|int|bytes)(\d+)$/.exec(type) ?? [];
  if (kind === "bytes") return `0x${"cd".repeat(Number(size))}`;
  if (kind === undefined) throw new TypeError(`expected a plain type, got ${type}`);
  return Number(size) <= 48 ? 5 : 5n;
}

/** Returns a log of an event, whose indexed inputs are words. */
function logOf(event: AbiEvent) {
  const encode = (inputs: readonly AbiParameter[]) =>
    encodeAbiParameters(inputs, inputs.map(sampleOf));
  const indexed = event.inputs.filter((input) => input.indexed === true);
  const rest = event.inputs.filter((input) => input.indexed !== true);
  const topics = [toEventSelector(event), ...indexed.map((input) => encode([input]))] as const;
  return { topics, data: encode(rest) };
}

const EVENTS = [
  depositFactoryAbi,
  escrowAbi,
  deliveryAbi,
  transferRouteAbi,
  swapRouteAbi,
  cctpRouteAbi,
].flatMap((abi) => abi.filter((item) => item.type === "event"));

test.each(EVENTS)("event $name", (event: AbiEvent) => {
  const log = logOf(event);
  const [signature, ...topics] = log.topics;
  for (let n = 0; n < 2; n += 1) {
    expect(cached.decodeEvent(event, log)).toEqual(
      decodeEventLog({
        abi: [event],
        data: log.data,
        topics: [signature, ...topics],
        strict: true,
      }),
    );
  }
});

test("a log of another form is refused", () => {
  const event = parseAbiItem("event Paid(address indexed to, uint256 amount)");
  const { topics, data } = logOf(event);
  expect(() => cached.decodeEvent(event, { topics: topics.slice(0, 1), data })).toThrow("Paid");
  expect(() => cached.decodeEvent(event, { topics, data: "0x" })).toThrow(
    "Cannot decode zero data",
  );
});

test("of an indexed text the topic holds the hash", () => {
  const event = parseAbiItem("event Named(string indexed name, uint256 amount)");
  const topics = [toEventSelector(event), ID] as const;
  const data = encodeAbiParameters([{ type: "uint256" }], [7n]);
  const { args } = cached.decodeEvent(event, { topics, data });
  expect(args).toEqual({ name: ID, amount: 7n });
});
