/** Nodes of one fake chain: honest ones at any height, and every kind of faulty or lying one. */
import type {
  BlockRef,
  LockFacts,
  PaidLock,
  Payout,
  ReadPoint,
} from "../../src/chains/port/index.ts";
import { type ChainAtBlocks, createQuorumChain } from "../../src/chains/quorum.ts";
import { GOVERNED } from "../../src/core/commitment.ts";
import { OperatingError } from "../../src/core/errors.ts";
import { type Address, type Hex32, toEvmAddress, toHex32, toTxHash } from "../../src/core/hex.ts";
import { createStrictChain, silentLog } from "./doubles.ts";

export const CHAIN_ID = 2;
export const TOKEN = toEvmAddress(`0x${"c0".repeat(20)}`);
export const WALLET = toEvmAddress(`0x${"aa".repeat(20)}`);
export const ID = toHex32(`0x${"1d".repeat(32)}`);
/** A lock that honest nodes know, and one that they do not. */
export const LOCK: LockFacts = {
  commitment: ID,
  delivery: ID,
  token: TOKEN,
  amount: 5n,
  minOut: 4n,
  seq: 0n,
};
export const PAID: PaidLock = { deliveryId: ID, srcChain: 2, escrow: TOKEN, seq: 0n };
export const UNKNOWN_ID = toHex32(`0x${"00".repeat(32)}`);
/** What the mined transaction ordered. */
const PAYOUT: Payout = {
  commitment: {
    integrator: ID,
    userId: ID,
    destChain: 2,
    destWallet: ID,
    destToken: ID,
    refundAuthority: ID,
    maxFeeBps: 1,
    maxSlippageBps: 1,
    ...GOVERNED,
  },
  srcChain: 2,
  escrow: TOKEN,
  srcToken: TOKEN,
  lockedAmount: 5n,
  minOut: 4n,
  seq: 0n,
  windowStart: 0n,
  amount: 4n,
};
export const MINED = toTxHash(`0x${"7a".repeat(32)}`);
export const UNMINED = toTxHash(`0x${"7b".repeat(32)}`);
/** Fee of the only pool. */
export const POOL_FEE = 500;
export const CALL = { to: WALLET, data: "0x", value: 0n } as const;

export const hashAt = (number: bigint): Hex32 =>
  toHex32(`0x${BigInt.asUintN(64, number).toString(16).padStart(64, "b")}`);

/** Returns the chain's only block at a height. */
export const blockAt = (number: bigint): BlockRef => ({
  number,
  hash: hashAt(number),
  parentHash: hashAt(number - 1n),
});

/** The heights of a node. */
export interface View {
  head: bigint;
  final: bigint;
  /** Five blocks above the final one unless given. */
  safe?: bigint;
}

export const HEAD = 100n;
export const FINAL = 90n;

/** A request for five new blocks with the movements of every account. */
export const SECTION = {
  max: 5,
  isFinal: false,
  isOld: false,
  tokens: [TOKEN],
  choose: async (accounts: readonly Address[]) => new Set(accounts),
} as const;

export function unavailable(reason = "unreachable"): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId: CHAIN_ID, reason },
  });
}

/** Creates an honest node for the blocks that it has. All state changes with every block. */
export function createHonestNode(view: View = { head: HEAD, final: FINAL }): ChainAtBlocks {
  /** Returns the height to read at. Throws if the node lacks the block. */
  const at = (point: ReadPoint = "latest"): bigint => {
    if (point === "latest") return view.head;
    if (point === "final") return view.final;
    if (point.number > view.head || point.hash !== hashAt(point.number)) throw unavailable("lag");
    return point.number;
  };
  return createStrictChain({
    chainId: CHAIN_ID,
    checkIdentity: async () => undefined,
    getHead: async () => blockAt(view.head),
    getFinalNumber: async () => view.final,
    getFinalBlock: async () => ({ number: view.final, hash: hashAt(view.final) }),
    async getSafeBlock() {
      const number = view.safe ?? view.final + 5n;
      return { number, hash: hashAt(number) };
    },
    getTime: async (point) => 1_700_000_000n + at(point),
    getBlock: async (number) => (number > view.head ? null : blockAt(number)),
    listTransfers: async (block) => {
      at(block);
      return [
        {
          token: TOKEN,
          from: TOKEN,
          to: WALLET,
          amount: 5n,
          txHash: MINED,
          logIndex: 1,
          ordinal: 0,
        },
        {
          token: TOKEN,
          from: TOKEN,
          to: WALLET,
          amount: 7n,
          txHash: MINED,
          logIndex: 2,
          ordinal: 1,
        },
      ];
    },
    listNativeTransfers: async (block) => {
      at(block);
      return [WALLET, TOKEN].map((to) => ({
        token: TOKEN,
        from: TOKEN,
        to,
        amount: 9n,
        txHash: MINED,
        logIndex: 0,
        ordinal: 0,
      }));
    },
    listTracedPayees: async () => [WALLET],
    listNativeBalances: async (block, owners) =>
      owners.map((_, index) => at(block) + BigInt(index)),
    listTokenBalances: async (blockHash, holdings) =>
      blockHash === hashAt(FINAL) ? holdings.map((_, index) => 10n + BigInt(index)) : null,
    getBalance: async (_token, _owner, point) => at(point) * 1_000n,
    findBalance: async (token, _owner, point) => (token === TOKEN ? at(point) * 1_000n : null),
    hasCode: async (_address, point) => at(point) % 2n === 0n,
    readPriceFeed: async (_feed, point) => ({ usd: at(point), publishedAtMs: 5 }),
    quoteSwap: async ({ amountIn, poolFee }, point) =>
      poolFee === POOL_FEE ? at(point) * amountIn : null,
    readSwapLimits: async ({ amountIn }, point) => ({ least: at(point), capLeft: amountIn }),
    getTransactionCount: async (_sender, point) => Number(at(point)),
    suggestFees: async () => ({ gasPriceMax: 30n + view.head, tipMax: 2n }),
    readSurcharge: async () => 5n + view.head,
    simulate: async () => ({ ok: true, gas: 100_000n }),
    send: async () => "accepted",
    getReceipt: async (txHash) =>
      txHash === MINED
        ? {
            txHash,
            blockHash: hashAt(HEAD),
            blockNumber: HEAD,
            succeeded: true,
            gasCost: 9n,
            effects: [
              { kind: "deployed", wallet: WALLET, commitment: ID },
              {
                kind: "settled",
                wallet: WALLET,
                token: TOKEN,
                route: TOKEN,
                amount: 12n,
                logIndex: 4,
              },
            ],
          }
        : null,
    listOutflows: async (block) => [
      {
        kind: "swept",
        wallet: WALLET,
        token: TOKEN,
        amount: at(block),
        txHash: MINED,
        logIndex: 3,
      },
    ],
    findRefund: async ({ token, fromBlock }) =>
      token === TOKEN && fromBlock <= FINAL
        ? { to: WALLET, amount: 6n, txHash: MINED, blockNumber: FINAL, logIndex: 2 }
        : null,
    getLock: async (lock, point) =>
      lock.commitment === ID
        ? { ...lock, state: "locked", lockedAt: 1_700_000_000n, amount: at(point) }
        : null,
    findDelivery: async ({ deliveryId }, point) =>
      deliveryId === ID
        ? {
            deliveryId,
            commitment: ID,
            to: WALLET,
            token: TOKEN,
            amount: 4n,
            txHash: MINED,
            blockNumber: at(point) - 1n,
          }
        : null,
    findBlockAt: async (timeS) => timeS,
    getDelay: async () => 604_800n,
    readMovable: async ({ token }, point) => (token === TOKEN ? at(point) : 0n),
    readStock: async (token, point) => ({
      balance: token === TOKEN ? at(point) : 0n,
      floor: 0n,
      announced: null,
    }),
    listChanges: async ({ to }) => [
      {
        contract: WALLET,
        role: "attestor",
        subject: WALLET,
        token: null,
        step: "scheduled",
        perDay: null,
        readyAt: 700_000n,
        atDeployment: false,
        blockNumber: to,
        logIndex: 3,
        txHash: toTxHash(ID),
      },
    ],
    findIn: async ({ deliveryId }, { to }) =>
      deliveryId === ID
        ? {
            deliveryId,
            commitment: ID,
            to: WALLET,
            token: TOKEN,
            amount: 4n,
            txHash: MINED,
            blockNumber: to,
          }
        : null,
    listIn: async ({ from, to }) =>
      [from, to].map((blockNumber) => ({
        deliveryId: ID,
        commitment: ID,
        to: WALLET,
        token: TOKEN,
        amount: 4n,
        txHash: MINED,
        blockNumber,
      })),
    listOrdered: async (txHash) => (txHash === MINED ? [PAYOUT] : []),
    isDelivered: async ({ deliveryId }, point) => at(point) > 0n && deliveryId === ID,
    getPayoutWindow: async (point) => at(point),
    wasListed: async ({ account }, point) => at(point) > 0n && account === WALLET,
    getThresholdAt: async (time, point) => Number(at(point) + time),
    getDailyCapLeft: async (_token, point) => at(point),
    predictWallet: () => WALLET,
    hashCommitment: () => ID,
    buildDeploy: () => CALL,
    buildSettle: () => CALL,
    buildDeliver: () => CALL,
    buildClaim: () => CALL,
    buildReturn: () => CALL,
    buildRefund: () => CALL,
    buildAttestedRefund: () => CALL,
    findOutflow: async ({ wallet }) => (wallet === WALLET ? FINAL : null),
    buildTakeBack: () => CALL,
    getAnnouncement: async (wallet, _token, point) => (wallet === WALLET ? at(point) : null),
    isRefused: async ({ reason }, point) => at(point) > 0n && reason === "IsPaused",
    combine: () => null,
    tookEffect: () => true,
    encodeLockData: () => "0x",
    encodeTransferData: () => "0x",
    encodeSwapData: () => "0x",
    deliveryIdOf: () => ID,
    deliveryIdOfPayout: () => ID,
    cctp: null,
    addresses: { walletRoot: TOKEN, escrow: TOKEN, delivery: TOKEN },
  });
}

/** Names of the port's methods that read from a node. */
export type NodeMethod = (typeof NODE_METHODS)[number];

export const NODE_METHODS = [
  "getHead",
  "getFinalNumber",
  "getFinalBlock",
  "getSafeBlock",
  "getTime",
  "getBlock",
  "readSection",
  "listTracedPayees",
  "listNativeBalances",
  "listTokenBalances",
  "getBalance",
  "findBalance",
  "hasCode",
  "readPriceFeed",
  "quoteSwap",
  "readSwapLimits",
  "getTransactionCount",
  "suggestFees",
  "readSurcharge",
  "simulate",
  "send",
  "getReceipt",
  "findRefund",
  "getLock",
  "findDelivery",
  "findBlockAt",
  "findIn",
  "listIn",
  "listOrdered",
  "getDelay",
  "readMovable",
  "readStock",
  "listChanges",
  "isDelivered",
  "wasListed",
  "getThresholdAt",
  "getAnnouncement",
  "isRefused",
  "findOutflow",
  "getDailyCapLeft",
] as const;

const CAPABILITIES = [
  "sequencing",
  "balances",
  "wallets",
  "priceFeeds",
  "pools",
  "payoutSearch",
  "governance",
  "treasury",
] as const;

/** Returns a chain with some methods replaced, including those of its capabilities. */
function replaceAnswers(
  chain: ChainAtBlocks,
  answerOf: (
    method: NodeMethod,
    truth: (...args: readonly unknown[]) => Promise<unknown>,
  ) => unknown,
): ChainAtBlocks {
  const replaceIn = (object: object) =>
    Object.fromEntries(
      Object.entries(object).map(([name, member]) => {
        const method = NODE_METHODS.find((known) => known === name);
        return [name, method ? answerOf(method, member) : member];
      }),
    );
  // CAST: the members of the chain under their own names.
  return {
    ...replaceIn(chain),
    ...Object.fromEntries(CAPABILITIES.map((name) => [name, replaceIn(chain[name] ?? {})])),
  } as ChainAtBlocks;
}

/** Creates a node that is honest except for the answers that `change` replaces. */
export function createLiar(
  change: (answer: unknown, method: NodeMethod) => unknown,
  view?: View,
): ChainAtBlocks {
  return replaceAnswers(
    createHonestNode(view),
    (method, truth) =>
      async (...args: readonly unknown[]) =>
        change(await truth(...args).catch(() => null), method),
  );
}

/** Creates a node that answers every request with `answer`. */
export function createOddNode(answer: () => Promise<never>): ChainAtBlocks {
  return { ...replaceAnswers(createHonestNode(), () => answer), checkIdentity: answer };
}

export const createDeadNode = (): ChainAtBlocks =>
  createOddNode(() => Promise.reject(unavailable()));
export const createHungNode = (): ChainAtBlocks => createOddNode(() => new Promise(() => {}));

/** Returns every falsified answer, with one changed field each. */
export function lieAbout(truth: unknown): readonly unknown[] {
  if (typeof truth === "bigint") return [truth + 1n, truth - 1n, truth * 1_000n, 0n];
  if (typeof truth === "number") return [truth + 1, truth - 1, 0];
  if (typeof truth === "boolean") return [!truth];
  if (typeof truth === "string") {
    const last = truth.endsWith("1") ? "2" : "1";
    return [`${truth.slice(0, -1)}${last}`];
  }
  if (truth === null) return [0n, false, blockAt(HEAD), []];
  if (Array.isArray(truth)) {
    const inOne = truth.flatMap((item, index) =>
      lieAbout(item).map((lie) => truth.with(index, lie)),
    );
    return [null, [], truth.slice(1), [...truth, ...truth.slice(0, 1)], ...inOne];
  }
  if (typeof truth !== "object") return [];
  const inOne = Object.entries(truth).flatMap(([name, value]) =>
    lieAbout(value).map((lie) => ({ ...truth, [name]: lie })),
  );
  return [null, ...inOne];
}

/** Creates a clock whose sleeps end once all pending work has settled. */
export function createQuickClock() {
  let now = Date.parse("2026-01-01T00:00:00.000Z");
  return {
    now: () => now,
    sleep: () => new Promise<void>((resolve) => void setImmediate(resolve)),
    advance(ms: number) {
      now += ms;
    },
  };
}

/** Combines nodes into one chain; by default, two of them must agree. */
export function quorumOf(
  nodes: readonly ChainAtBlocks[],
  {
    required = 2,
    log = silentLog,
    clock = createQuickClock(),
  }: {
    readonly required?: number;
    readonly log?: typeof silentLog;
    readonly clock?: ReturnType<typeof createQuickClock>;
  } = {},
): ChainAtBlocks {
  const [first, ...others] = nodes;
  if (!first) throw new Error("there is a node");
  return createQuorumChain([first, ...others], { required, clock, log });
}
