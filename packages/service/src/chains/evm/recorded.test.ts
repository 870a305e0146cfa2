/**
 * Blocks of every preset's chain, read through the adapter from a node that replays recorded answers. The expected values
 * were taken from the files by other means.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";
import { readRecording, type Recording, replay } from "../../../test/recorded/recording.ts";
import { quantity, rootOf } from "../../../test/recorded/receipts-root.ts";
import { listNativeTransfers, listTransfers } from "../../../test/support/read-block.ts";
import { findPreset } from "../../config/presets/index.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../../core/hex.ts";
import type { ChooseAccounts, Transfer } from "../port/index.ts";
import type { ChainAtBlocks } from "../quorum.ts";
import { parseBytes, parseLogs, parseQuantity, parseReceipt } from "./answers.ts";

const OURS = toEvmAddress(`0x${"0a".repeat(20)}`);
let node: MalformedNode;
let chain: ChainAtBlocks;

beforeAll(async () => {
  node = await startMalformedNode();
  chain = connectChain(node, OURS, { timeoutMs: 10_000 });
});
afterAll(() => node.stop());

/** Returns the preset's tokens by their lower-case address. */
function listedTokensOf(name: string): ReadonlyMap<string, string> {
  const tokens = findPreset(name.replace(/\/.*/, ""))?.tokens ?? [];
  return new Map(tokens.map(({ address, symbol }) => [address.toLowerCase(), symbol]));
}

/** Reads the recorded block as the scanner does: the block, its tokens' transfers, and its native payments. */
async function scan(name: string, recording: Recording) {
  node.answer(replay(recording));
  const head = await chain.getHead();
  const block = await chain.getBlock(head.number);
  if (!block) throw new Error("expected a block");
  const tokens = [...listedTokensOf(name).keys()]
    .map((token) => toEvmAddress(token))
    .filter((token) => token !== NATIVE_TOKEN);
  const known = new Set(recording.receipts.flatMap(({ to }) => to ?? []));
  const choose: ChooseAccounts = async (payees) =>
    new Set(payees.filter((payee) => known.has(payee)));
  return {
    head,
    block,
    transfers: await listTransfers(chain, block, tokens),
    payments: await listNativeTransfers(chain, block, choose),
  };
}

/** Returns the number and sum of the transfers of each token. */
function sumsOf(name: string, transfers: readonly Transfer[]) {
  const symbols = listedTokensOf(name);
  const sums: Record<string, [number, bigint]> = {};
  for (const { token, amount } of transfers) {
    const [count, sum] = sums[symbols.get(token) ?? token] ?? [0, 0n];
    sums[symbols.get(token) ?? token] = [count + 1, sum + amount];
  }
  return sums;
}

interface Expected {
  readonly number: bigint;
  readonly sums?: Readonly<Record<string, readonly [number, bigint]>>;
  readonly lastTransfer?: Partial<Transfer>;
  /** The number and sum of the native payments. */
  readonly paid?: readonly [number, bigint];
  readonly lastPayment?: Partial<Transfer>;
}

const EXPECTED: Readonly<Record<string, Expected>> = {
  // Receipts before Byzantium have no status.
  "ethereum/4369999": { number: 4_369_999n },
  // Has blob transactions.
  "ethereum/22119617": {
    number: 22_119_617n,
    sums: {
      USDT: [7, 22_839_211_777n],
      USDC: [7, 787_419_507n],
      WETH: [4, 4_018_275_205_167_686_745n],
    },
    lastTransfer: {
      from: toEvmAddress("0x05d8912c1051a1db984e9fbf9d482e7f836342b5"),
      to: toEvmAddress("0xa28c42486e15ad7dc8d58792cc2add3014006e1d"),
      amount: 1_011_750_000n,
      logIndex: 60,
    },
    paid: [31, 58_983_096_661_087_780_199n],
    lastPayment: {
      from: toEvmAddress("0xbb0f176ee152632246c57a6c59ddf4d7c28e7615"),
      to: toEvmAddress("0xadbe5541ff43772b73b99688ddcdac272ea4fb93"),
      amount: 11_980_755_116_154_836n,
    },
  },
  // Has a transaction of EIP-7702.
  "ethereum/22526256-set-code-constructed": { number: 22_526_256n },
  // Was mined before Nitro: type 0x78.
  "arbitrum/18413839": {
    number: 18_413_839n,
    sums: { WETH: [2, 3_960_000_000_000_000_000n] },
    paid: [1, 1_980_000_000_000_000_000n],
    lastPayment: { to: toEvmAddress("0x33ceb27b39d2bb7d2e61f7564d3df29344020417") },
  },
  // Begins with ArbOS's transaction: type 0x6a.
  "arbitrum/150000000": {
    number: 150_000_000n,
    sums: {
      USDT: [4, 49_495_448_526n],
      USDC: [4, 52_183_767_048n],
      WETH: [1, 5_062_488_610_000_000_000n],
    },
    lastTransfer: {
      from: toEvmAddress("0x34838aa2c6b9a1440211d93b260f520ff3ee1188"),
      to: toEvmAddress("0x641c00a822e8b671738d32a431a4fb6074e5c79d"),
      amount: 10_371_883_518n,
      logIndex: 16,
    },
    paid: [1, 523_392_010_000_000n],
    lastPayment: {
      from: toEvmAddress("0x6ae82f3b7de8f676a3dc391551af1c8d9c24616a"),
      to: toEvmAddress("0x3773a139b65fc2a6d58e22be7c94a8bf5b51bb3a"),
    },
  },
  // Has types 0x64 to 0x6a; the payment of type 0x65 failed.
  "arbitrum/types-constructed": {
    number: 5_000_000_000n,
    sums: { USDC: [1, 25_000_000n] },
    paid: [3, 108_000_000_000_000_007n],
    lastPayment: { from: toEvmAddress(`0x${"e5".repeat(20)}`), amount: 7n },
  },
  // Has 7 user transactions after a deposit transaction: type 0x7e.
  "optimism/109860869": {
    number: 109_860_869n,
    sums: { WETH: [4, 1_417_729_181_711_559_547n] },
    lastTransfer: {
      from: toEvmAddress("0xcdd41009e74bd1ae4f7b2eecf892e4bc718b9302"),
      to: toEvmAddress("0x13d81435e76b684bfd65a0b4a62bd101dc712ed4"),
      amount: 50_000_000_000n,
      logIndex: 30,
    },
    paid: [1, 100_000_000_000_000n],
    lastPayment: {
      to: toEvmAddress("0x3a23f943181408eac424116af7b7790c94cb97a5"),
    },
  },
  "base/2000000": {
    number: 2_000_000n,
    sums: { WETH: [8, 2_192_600_486_291_146_950n] },
    lastTransfer: {
      from: toEvmAddress("0x55ace6047cebf50dc07f2d918b2d44ea383d9996"),
      to: toEvmAddress("0xf01e51504a9f5020f6f46cc0bc76c1d2efb40ec0"),
      amount: 2_080_230_000_000_000_000n,
      logIndex: 39,
    },
    paid: [4, 46_132_531_643_592_481n],
    lastPayment: {
      to: toEvmAddress("0x1b0a655744ed396554aea3b4e1752e5b59c32955"),
      amount: 30_000_000_000_000n,
    },
  },
  // A deposit transaction brings ether from Ethereum to an account.
  "base/77976": {
    number: 77_976n,
    paid: [1, 19_178_228_000_000_000n],
    lastPayment: { to: toEvmAddress("0xe8a3ecea7d6a688ee903173024225357ddf29e93") },
  },
  "base/goerli-1041847": {
    number: 1_041_847n,
    paid: [49, 120_883_297_059_073_447n],
    lastPayment: {
      to: toEvmAddress("0xc861f3e7e578485c0e0761d77a8be466e4317945"),
      amount: 100_000_000_000_000_000n,
    },
  },
  "unichain/2799890-constructed": { number: 2_799_890n },
  // Has transfers, but the header and the receipts of another method.
  "polygon/13572468": {
    number: 13_572_468n,
    sums: { WETH: [5, 4_521_692_111_278_398_017n], WPOL: [2, 7_464_183_590_651_287_952n] },
    lastTransfer: {
      from: toEvmAddress("0x7dd75252cc324fd181fc4e79335b7d78a11a8019"),
      amount: 595_741_582_810_029n,
      logIndex: 44,
    },
  },
  // The logs of a state sync are not in the header's bloom, which is empty.
  "polygon/30002112-state-sync-constructed": {
    number: 30_002_112n,
    sums: { WETH: [1, 20_750_000_000_000_000n] },
    lastTransfer: {
      to: toEvmAddress("0xbc850334dd4a52a8d4306e78da404271290561de"),
      logIndex: 139,
    },
  },
  "polygon/38102393": {
    number: 38_102_393n,
    sums: { WPOL: [9, 3_317_367_276_751_954_290_927n], USDT: [2, 1_234_498_910n] },
    lastTransfer: {
      from: toEvmAddress("0xdadaa2bc64e80b23ae46dc57d2afc766eac555d5"),
      amount: 346_780_207_578_765_265_332n,
      logIndex: 101,
    },
  },
  // The receipts have no gas price, and the log of the system transaction no block hash.
  "bsc/chapel-11832497": {
    number: 11_832_497n,
    paid: [1, 9_223_130_000_000_000n],
    lastPayment: {
      from: toEvmAddress("0x7a1a4ad9cc746a70ee58568466f7996dd0ace4e8"),
      to: toEvmAddress("0x0000000000000000000000000000000000001000"),
    },
  },
  "bsc/system-constructed": {
    number: 50_000_000n,
    sums: { USDT: [1, 25_000_000_000_000_000_000n] },
    paid: [2, 20_051_250_787_462_532n],
    lastPayment: { to: toEvmAddress("0x0000000000000000000000000000000000001000") },
  },
  "avalanche/31878202": { number: 31_878_202n },
  "linea/150839-constructed": {
    number: 150_839n,
    paid: [1, 20_000_000_000_000_007n],
    lastPayment: {
      from: toEvmAddress("0x45a318273749d6eb00f5f6ca3bc7cd3de26d642a"),
      to: toEvmAddress("0x124fb955862709e30740028cb86c477221842b14"),
    },
  },
};

describe("a recorded block", () => {
  test.each(Object.entries(EXPECTED))("%s is read", async (name, expected) => {
    const recording = readRecording(name);
    const { number, sums = {}, paid = [0, 0n], lastTransfer = {}, lastPayment = {} } = expected;
    const { head, block, transfers, payments } = await scan(name, recording);
    const { hash, parentHash } = recording.block;
    expect(block).toEqual({ number, hash, parentHash });
    expect(head).toEqual(block);
    expect(sumsOf(name, transfers)).toEqual(sums);
    expect(transfers.at(-1) ?? {}).toMatchObject(lastTransfer);
    const total = payments.reduce((sum, { amount }) => sum + amount, 0n);
    expect([payments.length, total]).toEqual(paid);
    expect(payments.at(-1) ?? {}).toMatchObject(lastPayment);
    for (const { token } of payments) expect(token).toBe(NATIVE_TOKEN);
  });

  test("pays with a deposit transaction of an OP Stack chain", async () => {
    const { payments } = await scan("base/77976", readRecording("base/77976"));
    const minted = "0xde692cc75a27d8e13fc86e99eb0a6a7ebfdeffda3f98ce50a527118ffaff54dd";
    expect(payments.map(({ txHash }) => txHash)).toEqual([minted]);
  });

  test("pays with Arbitrum's deposits, retried tickets and messages of contracts", async () => {
    const name = "arbitrum/types-constructed";
    const { payments } = await scan(name, readRecording(name));
    expect(payments.map(({ amount }) => amount)).toEqual([
      100_000_000_000_000_000n,
      8_000_000_000_000_000n,
      7n,
    ]);
  });
});

describe("a recorded receipt", () => {
  const receiptsOf = (name: string) =>
    readRecording(name).receipts.map((receipt) => parseReceipt(receipt));

  test.each([
    ["ethereum/22119617", 59],
    ["ethereum/22526256-set-code-constructed", 1],
    ["arbitrum/18413839", 1],
    ["arbitrum/150000000", 5],
    ["arbitrum/types-constructed", 6],
    ["optimism/109860869", 8],
    ["base/2000000", 15],
    ["base/77976", 2],
    ["base/goerli-1041847", 50],
    ["unichain/2799890-constructed", 1],
    ["polygon/38102393", 15],
    ["polygon/30002112-state-sync-constructed", 1],
    ["bsc/system-constructed", 4],
    ["avalanche/31878202", 1],
    ["linea/150839-constructed", 1],
  ])("of %s is parsed", (name, count) => {
    const logs = receiptsOf(name).flatMap((receipt) => receipt?.logs ?? []);
    expect(receiptsOf(name).length).toBe(count);
    expect(logs.map(({ data }) => data)).toEqual(readRecording(name).logs.map(({ data }) => data));
  });

  test.each([
    "ethereum/4369999",
    "arbitrum/150000000",
    "optimism/109860869",
    "base/77976",
    "base/2000000",
    "base/goerli-1041847",
  ])("of %s has the logs that its header proves, as parsed", (name) => {
    const { block, receipts } = readRecording(name);
    const proved = receipts.map(({ type, status, root, cumulativeGasUsed, logs }) => ({
      type: parseQuantity(type),
      outcome: root === undefined ? quantity(parseQuantity(status)) : parseBytes(root),
      cumulativeGasUsed: parseQuantity(cumulativeGasUsed),
      logs: parseLogs(logs),
    }));
    expect(rootOf(proved)).toBe(block.receiptsRoot);
  });

  test("includes the fee for data on Ethereum in the cost on an OP Stack chain", () => {
    const [deposit, first] = receiptsOf("optimism/109860869");
    expect(deposit?.gasCost).toBe(0n);
    expect(first?.gasCost).toBe(153_036n * 170_496_558n + 89_592_816_425_065n);
  });

  test("includes the gas for data on Ethereum in the gas used on Arbitrum", () => {
    const [system, user] = receiptsOf("arbitrum/150000000");
    expect(system?.gasCost).toBe(0n);
    expect(user?.gasCost).toBe(2_078_856n * 100_000_000n);
  });
});

describe("a block with tens of thousands of logs", () => {
  const recording = readRecording("arbitrum/150000000");
  const usdc = "0xaf88d065e77c8cc2239327c5edb3a432268e5831";

  function manyLogs(count: number): Recording["logs"] {
    const [model] = recording.logs.filter(({ address }) => address === usdc);
    if (!model) throw new Error("expected a log of USDC");
    return Array.from({ length: count }, (_, index) => ({
      ...model,
      logIndex: `0x${index.toString(16)}`,
    }));
  }

  test("is read whole, below the limit of an answer", async () => {
    const count = 40_000;
    const many = { ...recording, logs: manyLogs(count) };
    expect(JSON.stringify(many.logs).length).toBeLessThan(64 * 1024 * 1024);
    node.answer(replay(many));
    const head = await chain.getHead();
    const transfers = await listTransfers(chain, head, [toEvmAddress(usdc)]);
    expect(transfers.length).toBe(count);
    expect(transfers.at(-1)).toMatchObject({ logIndex: count - 1, ordinal: count - 1 });
  });

  test("is parsed in linear time", () => {
    // In CPU time, which other work of a busy machine changes little.
    const timeOf = (count: number) => {
      const many = manyLogs(count);
      const times = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        expect(parseLogs(many).length).toBe(count);
        return process.cpuUsage(start).user;
      });
      return Math.min(...times);
    };
    timeOf(10_000);
    // Four times as many logs take sixteen times as long if the time is quadratic, however often it is measured.
    const ratios = [1, 2, 3, 4].map(() => timeOf(40_000) / timeOf(10_000));
    expect(Math.min(...ratios)).toBeLessThan(12);
  });

  test("is parsed when one log has megabytes of data", () => {
    const [model] = manyLogs(1);
    const [log] = parseLogs([{ ...model, data: `0x${"ab".repeat(8 * 1024 * 1024)}` }]);
    expect(log?.data.length).toBe(2 + 16 * 1024 * 1024);
  });
});
