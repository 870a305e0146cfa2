/** Doubles of the chain port, named for their behaviour. Calls that a test does not expect throw. */
import type {
  BalancesAtBlock,
  Batch,
  Call,
  Chain,
  ContractWallets,
  GovernanceLog,
  GasCall,
  NonceSequencing,
  PayoutSearch,
  Pools,
  PriceFeeds,
  TreasuryContract,
  Receipt,
  SendOutcome,
} from "../../src/chains/port/index.ts";
import { type BlockReads, createSectionReader } from "./sections.ts";
import type { ChainAtBlocks } from "../../src/chains/quorum.ts";
import type { Clock, Random } from "../../src/core/ports.ts";
import {
  type EvmAddress,
  NATIVE_TOKEN,
  type Hex,
  type TxHash,
  toEvmAddress,
  toHex32,
  toTxHash,
} from "../../src/core/hex.ts";
import type { Fees } from "../../src/fees/index.ts";
import type { AttestorSet, LaneSigner } from "../../src/signers/port.ts";
import { createHash } from "node:crypto";
import { createLog } from "../../src/telemetry/log.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";

/** Metrics that no test reads. */
export const unseenMetrics = createMetrics();
export const silentLog = createLog({ level: "silent", role: "test" });

/** A log line. Levels: 30 information, 40 warning, 50 error, 60 fatal. */
export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly [about: string]: unknown;
}

/** Creates a log that keeps its lines. */
export function createKeepingLog() {
  const lines: LogLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { log: createLog({ level: "info", role: "test", write }), lines };
}

/** Creates a clock that stands still until it is set. */
export function createStillClock(startMs = Date.parse("2026-01-01T00:00:00.000Z")) {
  let now = startMs;
  const clock: Clock & { advance(ms: number): void } = {
    now: () => now,
    sleep: async () => undefined,
    advance(ms) {
      now += ms;
    },
  };
  return clock;
}

/** Fees with sponsored gas: they read no database, node or price. */
export function createSponsoredFees(serviceBps: number): Fees {
  const planWithout = (maxFeeBps: number) => ({
    bps: Math.min(serviceBps, maxFeeBps),
    flat: 0n,
    bridge: 0n,
  });
  return { plan: async ({ maxFeeBps }) => planWithout(maxFeeBps), planWithout };
}

/** Returns sequential UUIDs. */
export function createCountingRandom(): Random {
  let count = 0;
  return {
    uuid() {
      count += 1;
      return `00000000-0000-4000-8000-${count.toString(16).padStart(12, "0")}`;
    },
  };
}

/** Members of a chain as a test gives them: those of its capabilities as if they were its own. */
export type ChainMembers = Partial<
  Chain &
    Omit<NonceSequencing, "kind"> &
    Omit<BalancesAtBlock, "kind"> &
    Omit<ContractWallets, "kind"> &
    PriceFeeds &
    Pools &
    PayoutSearch &
    GovernanceLog &
    Omit<TreasuryContract, "address"> &
    Omit<BlockReads, "getBlockAfter">
>;

/** Address of a chain's treasury contract. */
export const TREASURY = toEvmAddress(`0x${"7e".repeat(20)}`);

function unexpected(name: string): never {
  throw new Error(`the test did not expect chain.${name}`);
}

/** The fixed properties of every EVM chain. */
const familyOf = ({
  predictWallet,
  getBalance,
  getBlock,
  getTime,
  addresses,
  ...members
}: ChainMembers) =>
  ({
    ...(getTime && {
      isOrderOver: async (deadline: bigint) => (await getTime("final")) > deadline,
    }),
    ...(getBlock &&
      members.listTransfers && {
        readSection: createSectionReader({
          getBlockAfter: (number) => getBlock(number + 1n),
          listTransfers: members.listTransfers,
          listOutflows: members.listOutflows ?? (async () => []),
          ...(members.listNativeTransfers && { listNativeTransfers: members.listNativeTransfers }),
        }),
      }),
    ...(getBalance && {
      readHolding: async (token, owner) => ({ amount: await getBalance(token, owner) }),
    }),
    getLeastPayment: async () => 1n,
    simulatePayment: async () => "accepted",
    kind: "evm",
    coin: { token: NATIVE_TOKEN, decimals: 18 },
    sequencing: {
      kind: "nonce",
      getTransactionCount: members.getTransactionCount ?? (() => unexpected("getTransactionCount")),
    },
    balances: {
      kind: "at_block",
      listTracedPayees: members.listTracedPayees ?? (() => unexpected("listTracedPayees")),
      listNativeBalances: members.listNativeBalances ?? (() => unexpected("listNativeBalances")),
      listTokenBalances: members.listTokenBalances ?? (() => unexpected("listTokenBalances")),
    },
    wallets: {
      kind: "contract",
      hasCode: members.hasCode ?? (() => unexpected("hasCode")),
      buildDeploy: members.buildDeploy ?? (() => unexpected("buildDeploy")),
      buildRefund: members.buildRefund ?? (() => unexpected("buildRefund")),
      buildAttestedRefund: members.buildAttestedRefund ?? (() => unexpected("buildAttestedRefund")),
      findOutflow: members.findOutflow ?? (() => unexpected("findOutflow")),
      buildTakeBack: members.buildTakeBack ?? (() => unexpected("buildTakeBack")),
      getAnnouncement: members.getAnnouncement ?? (() => unexpected("getAnnouncement")),
      isRefused: members.isRefused ?? (() => unexpected("isRefused")),
    },
    priceFeeds: {
      readPriceFeed: members.readPriceFeed ?? (() => unexpected("readPriceFeed")),
    },
    pools: {
      quoteSwap: members.quoteSwap ?? (() => unexpected("quoteSwap")),
      readSwapLimits: members.readSwapLimits ?? (() => unexpected("readSwapLimits")),
      encodeSwapData: members.encodeSwapData ?? (() => unexpected("encodeSwapData")),
    },
    payoutSearch: {
      findBlockAt: members.findBlockAt ?? (() => unexpected("findBlockAt")),
      findIn: members.findIn ?? (() => unexpected("findIn")),
      listIn: members.listIn ?? (() => unexpected("listIn")),
      listOrdered: members.listOrdered ?? (() => unexpected("listOrdered")),
    },
    governance: {
      getDelay: members.getDelay ?? (() => unexpected("getDelay")),
      listChanges: members.listChanges ?? (() => unexpected("listChanges")),
    },
    treasury:
      members.readMovable === undefined
        ? null
        : {
            address: TREASURY,
            buildMove: members.buildMove ?? (() => unexpected("buildMove")),
            readMovable: members.readMovable,
            readStock: members.readStock ?? (() => unexpected("readStock")),
            buildScheduleWithdrawal:
              members.buildScheduleWithdrawal ?? (() => unexpected("buildScheduleWithdrawal")),
            buildExecuteWithdrawal:
              members.buildExecuteWithdrawal ?? (() => unexpected("buildExecuteWithdrawal")),
          },
    costOf: (gas, feePerGas) => gas * feePerGas,
    costOfStep: ({ gas }, feePerGas) => gas * feePerGas,
    isGivenBack: ({ from }) => from === addresses?.escrow,
    isWalletOf: ({ commitment, wallet }) => predictWallet?.(commitment) === wallet,
  }) as const satisfies ChainMembers;

/** Creates a chain whose members throw unless given; an EVM chain by default. */
export function createStrictChain(members: ChainMembers): ChainAtBlocks {
  // CAST: a missing member throws when it is used.
  return new Proxy({ ...familyOf(members), ...members } as ChainAtBlocks, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (member === undefined) unexpected(String(name));
      return member;
    },
  });
}

export const LANE: EvmAddress = toEvmAddress(`0x${"1a".repeat(20)}`);

/** Creates a signer with readable transactions: nonce and fee are in the bytes. */
export function createReadableSigner(chainId: number): LaneSigner & { readonly signed: string[] } {
  const signed: string[] = [];
  return {
    chainId,
    purpose: "settle",
    address: LANE,
    retired: false,
    signed,
    async sign({ nonce, call, fees }) {
      const text = `${nonce}|${call.data}|${fees.gasPriceMax}`;
      signed.push(text);
      const raw: Hex = `0x${Buffer.from(text).toString("hex")}`;
      return { raw, hash: hashOf(raw) };
    },
  };
}

export function hashOf(raw: string): TxHash {
  return toTxHash(`0x${createHash("sha256").update(raw).digest("hex")}`);
}

/**
 * A node that mines on command, and can lose the answer to an accepted transaction, drop an accepted transaction, or
 * orphan a block.
 */
export function createCapriciousNode() {
  const pool = new Map<TxHash, { readonly nonce: number; readonly raw: string }>();
  const receipts = new Map<TxHash, Receipt>();
  const blocks: { hash: string; transactions: TxHash[] }[] = [{ hash: "00", transactions: [] }];
  const sent: string[] = [];
  let nextOutcome: SendOutcome | null = null;
  let finalNumber = 0n;
  let salt = 0;
  let combineAt = Number.POSITIVE_INFINITY;
  let tookEffect: (data: Hex) => boolean = () => true;

  const blockHash = (number: number) =>
    toHex32(`0x${(blocks[number]?.hash ?? "").padStart(64, "0")}`);
  const minedCount = () => blocks.reduce((sum, block) => sum + block.transactions.length, 0);

  return {
    sent,
    pool,
    loseNextAnswer: () => {
      nextOutcome = "unknown";
    },
    refuseNext: (outcome: SendOutcome) => {
      nextOutcome = outcome;
    },
    forgetPool: () => pool.clear(),
    setFinal: (number: bigint) => {
      finalNumber = number;
    },
    /** Mines a block with the pool's transactions of the next nonces. */
    mine() {
      salt += 1;
      const number = blocks.length;
      const transactions: TxHash[] = [];
      let next = minedCount();
      for (;;) {
        const found = [...pool].find(([, { nonce }]) => nonce === next);
        if (!found) break;
        transactions.push(found[0]);
        pool.delete(found[0]);
        next += 1;
      }
      blocks.push({ hash: salt.toString(16), transactions });
      for (const txHash of transactions) {
        receipts.set(txHash, {
          txHash,
          blockHash: blockHash(number),
          blockNumber: BigInt(number),
          succeeded: true,
          gasCost: 21_000n,
          effects: [],
        });
      }
    },
    /** Mines a block without any transaction. */
    passBlock() {
      salt += 1;
      blocks.push({ hash: salt.toString(16), transactions: [] });
    },
    /** Orphans the newest block and drops its transactions, as a reorg does. */
    takeBack() {
      const block = blocks.pop();
      for (const txHash of block?.transactions ?? []) receipts.delete(txHash);
    },
    /** From here on calls are combined into batches, which succeed or fail as set. */
    combineFrom(size: number, hasEffect: (data: Hex) => boolean = () => true) {
      combineAt = size;
      tookEffect = hasEffect;
    },
    members: {
      chainId: 2,
      combine: (calls: readonly GasCall[]): Batch | null => {
        const single = calls.flatMap(({ call }, index) => (call.data.length <= 4 ? [index] : []));
        if (single.length < combineAt) return null;
        const data = calls.flatMap(({ call }, index) =>
          single.includes(index) ? [call.data.slice(2)] : [],
        );
        return {
          call: { to: LANE, data: `0x${data.join("")}`, value: 0n },
          gas: 1n,
          members: single,
          isFull: false,
        };
      },
      simulate: async () => ({ ok: true, gas: 1n }),
      tookEffect: (receipt: Receipt, { data }: Call) => receipt.succeeded && tookEffect(data),
      getTransactionCount: async () => minedCount(),
      suggestFees: async () => ({ gasPriceMax: 100n, tipMax: 10n }),
      readSurcharge: async () => 0n,
      getFinalNumber: async () => finalNumber,
      getHead: async () => {
        const number = blocks.length - 1;
        return {
          number: BigInt(number),
          hash: blockHash(number),
          parentHash: blockHash(number - 1),
        };
      },
      getBlock: async (number: bigint) =>
        number < BigInt(blocks.length)
          ? { number, hash: blockHash(Number(number)), parentHash: blockHash(Number(number) - 1) }
          : null,
      getReceipt: async (txHash: TxHash) => receipts.get(txHash) ?? null,
      send: async (raw: Hex): Promise<SendOutcome> => {
        const outcome = nextOutcome;
        nextOutcome = null;
        sent.push(raw);
        if (outcome !== null && outcome !== "unknown") return outcome;
        const nonce = Number(Buffer.from(raw.slice(2), "hex").toString().split("|")[0]);
        if (nonce < minedCount()) return "nonce_too_low";
        if (pool.has(hashOf(raw))) return outcome ?? "known";
        pool.set(hashOf(raw), { nonce, raw });
        return outcome ?? "accepted";
      },
    } satisfies ChainMembers,
  };
}

/** One attestor, whose signature is anything that was written as one. */
export const BELIEVED_ATTESTOR: AttestorSet = {
  threshold: 1,
  accounts: [],
  recover: () => toEvmAddress(`0x${"ad".repeat(20)}`),
};
