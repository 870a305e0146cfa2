/** The search for the mint of a bridge message, on nodes whose answers the tests set. */
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  encodeFunctionResult,
} from "viem";
import { sandboxMessageTransmitterV2Abi, sandboxTokenMessengerV2Abi } from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EvmAddress, type Hex32, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Chain } from "../port/index.ts";
import { transmitterAbi } from "./cctp.ts";
import { decodeEffects } from "./effects.ts";
import { createEvmChain } from "./evm-chain.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const word = (byte: string) => toHex32(`0x${byte.repeat(32)}`);
const MESSENGER = address("3e");
const TRANSMITTER = address("7a");
const TOKEN = address("70");
const TO = address("02");
const OTHER = address("0b");
const STRANGER = address("bd");
const NONCE = word("c1");
const TX = word("77");
const BLOCK = word("bb");
const contracts = { factory: address("fa"), escrow: address("e5"), delivery: address("de") };
const cctp = { domain: 6, messenger: MESSENGER, transmitter: TRANSMITTER };

let node: MalformedNode;
let chain: Chain;

beforeAll(async () => {
  node = await startMalformedNode();
  const { rpcUrl } = node;
  chain = createEvmChain({ chainId: 30, evmChainId: 1, rpcUrl, contracts, cctp, timeoutMs: 2000 });
});
afterAll(async () => {
  await node.stop();
});

interface Log {
  readonly address: EvmAddress;
  readonly topics: readonly unknown[];
  readonly data: string;
}

function received(nonce: Hex32, emitter = TRANSMITTER): Log {
  const topics = encodeEventTopics({
    abi: sandboxMessageTransmitterV2Abi,
    eventName: "MessageReceived",
    args: { caller: STRANGER, nonce, finalityThresholdExecuted: 1000 },
  });
  const data = encodeAbiParameters(
    [{ type: "uint32" }, { type: "bytes32" }, { type: "bytes" }],
    [0, word("01"), "0x00"],
  );
  return { address: emitter, topics, data };
}

function minted(to: EvmAddress, amount: bigint, fee: bigint, emitter = MESSENGER): Log {
  const topics = encodeEventTopics({
    abi: sandboxTokenMessengerV2Abi,
    eventName: "MintAndWithdraw",
    args: { mintRecipient: to, mintToken: TOKEN },
  });
  const data = encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [amount, fee]);
  return { address: emitter, topics, data };
}

/** A chain with the logs of one transaction, and the nonce used or not. */
function answerWith(logs: readonly Log[], isUsed = true): void {
  const all = logs.map((log, index) => ({
    ...log,
    blockHash: BLOCK,
    blockNumber: "0x9",
    transactionHash: TX,
    logIndex: `0x${index.toString(16)}`,
  }));
  node.answer(({ method, params }): Reply => {
    if (method === "eth_call")
      return { result: padAddress(isUsed ? address("01") : address("00")) };
    if (method === "eth_blockNumber") return { result: "0x10" };
    if (method === "eth_getLogs") {
      // CAST: the filter sent by the search.
      const [filter] = params as [{ address: string; topics: (string | null)[] }];
      const found = all.filter(
        (log) =>
          log.address === filter.address &&
          filter.topics.every((topic, index) => topic === null || topic === log.topics[index]),
      );
      return { result: found };
    }
    if (method === "eth_getTransactionReceipt") {
      return {
        result: {
          transactionHash: TX,
          blockHash: BLOCK,
          blockNumber: "0x9",
          status: "0x1",
          gasUsed: "0x1",
          effectiveGasPrice: "0x1",
          logs: all,
        },
      };
    }
    throw new Error(`the test did not expect ${method}`);
  });
}

const find = () => chain.cctp?.findMint(NONCE);

describe("a mint", () => {
  test("is found with its recipient, token, amount and fee", async () => {
    answerWith([minted(TO, 99n, 1n), received(NONCE)]);
    expect(await find()).toEqual({
      to: TO,
      token: TOKEN,
      amount: 99n,
      fee: 1n,
      txHash: TX,
      blockNumber: 9n,
    });
  });

  test("is null while the nonce is unused, for all events", async () => {
    answerWith([minted(TO, 99n, 1n), received(NONCE)], false);
    expect(await find()).toBeNull();
  });

  test.each([
    ["first", [minted(TO, 99n, 1n), received(NONCE), minted(OTHER, 5n, 0n), received(word("c2"))]],
    ["last", [minted(OTHER, 5n, 0n), received(word("c2")), minted(TO, 99n, 1n), received(NONCE)]],
  ])("is distinguished from other mints of its transaction when it is the %s", async (_, logs) => {
    answerWith(logs);
    expect(await find()).toMatchObject({ to: TO, amount: 99n });
  });

  test.each([
    ["no mint belongs to the message", [received(NONCE)]],
    [
      "the mint is of the message before",
      [minted(TO, 9n, 0n), received(word("c2")), received(NONCE)],
    ],
    ["the mint event is by another contract", [minted(TO, 9n, 0n, STRANGER), received(NONCE)]],
    ["the message event is by another contract", [minted(TO, 9n, 0n), received(NONCE, STRANGER)]],
    ["the event is missing", []],
  ])("is unknown, not absent, when %s", async (_, logs) => {
    answerWith(logs);
    await expect(find()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });
});

describe("the burn limit", () => {
  const MINTER = address("3f");

  test("is read from the minter of the messenger [T196]", async () => {
    const call = { functionName: "burnLimitsPerMessage", args: [TOKEN] } as const;
    const data = encodeFunctionData({ abi: sandboxTokenMessengerV2Abi, ...call });
    node.answer(({ params }): Reply => {
      // CAST: the calls of the reader.
      const [asked] = params as [{ to: string; data: string }];
      if (asked.to === MESSENGER) return { result: padAddress(MINTER) };
      if (asked.to === MINTER && asked.data === data) return { result: word("0a") };
      throw new Error("the test did not expect this call");
    });
    expect(await chain.cctp?.readBurnLimit(TOKEN)).toBe(BigInt(word("0a")));
  });

  test("has beside it the block number that contracts see, from a call without a contract", async () => {
    node.answer(({ method, params }): Reply => {
      // CAST: the call of the reader.
      const [asked] = params as [{ to?: string; data: string }];
      expect([method, asked.to]).toEqual(["eth_call", undefined]);
      return { result: `0x${(23_000_000).toString(16).padStart(64, "0")}` };
    });
    expect(await chain.cctp?.readContractHeight()).toBe(23_000_000n);
  });

  test("is unavailable, not absent, without an answer", async () => {
    node.answer(() => ({ result: "0x" }));
    await expect(chain.cctp?.readBurnLimit(TOKEN)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });
});

describe("calls and reads", () => {
  test("use functions that the contracts have", () => {
    const args = ["0x01", "0x02"] as const;
    const call = { functionName: "receiveMessage", args } as const;
    const data = encodeFunctionData({ abi: sandboxMessageTransmitterV2Abi, ...call });
    expect(chain.cctp?.buildReceive("0x01", "0x02")).toEqual({ to: TRANSMITTER, data, value: 0n });
    expect(
      encodeFunctionResult({ abi: transmitterAbi, functionName: "usedNonces", result: 1n }),
    ).toBe(
      encodeFunctionResult({
        abi: sandboxMessageTransmitterV2Abi,
        functionName: "usedNonces",
        result: 1n,
      }),
    );
  });

  test("are unavailable on a chain without the bridge", () => {
    const { rpcUrl } = node;
    const other = createEvmChain({ chainId: 4, evmChainId: 1, rpcUrl, contracts, timeoutMs: 2000 });
    expect(other.cctp).toBeNull();
  });

  test("accept a message only from the chain's own transmitter", () => {
    const [topic] = encodeEventTopics({ abi: transmitterAbi, eventName: "MessageSent" });
    const data = encodeAbiParameters([{ type: "bytes" }], ["0xc0ffee"]);
    const log = {
      address: TRANSMITTER,
      topics: [toHex32(String(topic))],
      data,
      blockHash: BLOCK,
      blockNumber: 9n,
      txHash: toHex32(TX) as never,
      txIndex: 0,
      logIndex: 0,
      removed: false,
    };
    const emitters = { ...contracts, transmitter: TRANSMITTER };
    expect(decodeEffects([log], emitters)).toEqual([{ kind: "message_sent", message: "0xc0ffee" }]);
    expect(decodeEffects([{ ...log, address: STRANGER }], emitters)).toEqual([]);
    expect(decodeEffects([log], contracts)).toEqual([]);
  });
});
