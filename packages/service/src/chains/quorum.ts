/**
 * A chain through several nodes, some of which may lie, lag, hang or be down. An answer counts when `required` nodes
 * agree (ask-nodes.ts), so up to `required - 1` lying nodes cannot forge one.
 *
 * Honest nodes are seldom at the same block, so they often disagree about the newest state, and a liar could side with a
 * node that is behind. State is therefore read by hash at one block that `required` nodes have. `latest` is the newest
 * such block and never older than one returned before; `final` is the newest such final block and never goes back. A
 * node that is behind lacks the block and says so. After a reorg to a shorter chain, reads of state wait until the chain
 * has grown past the newest block seen.
 *
 * Heights and fees are the greatest that `required` nodes reach (the median of three), so a lying node alone cannot raise
 * them; one that lowers them counts like a dead node.
 */
import { isDeepStrictEqual } from "node:util";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { createNodes, type Nodes, type Read, type Rule } from "./ask-nodes.ts";
import type {
  BalancesAtBlock,
  BlockId,
  BlockRef,
  Chain,
  ChooseAccounts,
  ContractWallets,
  FinalBlock,
  GovernanceLog,
  NonceSequencing,
  PayoutSearch,
  Pools,
  PriceFeeds,
  Receipt,
  ReadPoint,
  ScannedBlock,
  Section,
  SectionRequest,
  Simulation,
} from "./port/index.ts";

const readFinalOf: Read<FinalBlock, ChainAtBlocks> = (node) => node.getFinalBlock();
const readSafeOf: Read<FinalBlock, ChainAtBlocks> = (node) => node.getSafeBlock();

/** Gas estimates that differ by more than this factor do not agree. */
const GAS_SPREAD_MAX = 2n;

/** What a chain without a treasury has there. */
const NO_STOCK = { balance: 0n, floor: 0n, announced: null };

/** A chain whose nodes serve state at any block. */
export interface ChainAtBlocks extends Chain {
  readonly sequencing: NonceSequencing;
  readonly balances: BalancesAtBlock;
  readonly wallets: ContractWallets;
  readonly priceFeeds: PriceFeeds;
  readonly pools: Pools;
  readonly payoutSearch: PayoutSearch;
  readonly governance: GovernanceLog;
}

interface QuorumOptions {
  readonly required: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Combines the nodes of one chain into one chain. */
export function createQuorumChain(
  chains: readonly [ChainAtBlocks, ...ChainAtBlocks[]],
  options: QuorumOptions,
): ChainAtBlocks {
  return combineNodes(chains[0], createChainNodes(chains, options));
}

/** Returns the nodes of one chain, which must have the same first block. */
export function createChainNodes<N extends ChainAtBlocks>(
  chains: readonly N[],
  options: QuorumOptions,
): Nodes<N> {
  return createNodes(chains, {
    ...options,
    readFirst: async (node) => (await node.getBlock(0n))?.hash ?? null,
  });
}

/**
 * Returns nodes as one chain. Methods without a request use `pure`. The others throw `OperatingError` RPC_UNAVAILABLE when
 * fewer than `required` answers agree.
 */
export function combineNodes(pure: ChainAtBlocks, nodes: Nodes<ChainAtBlocks>): ChainAtBlocks {
  const { agree, collect, required } = nodes;
  /** The newest block and the newest final block returned so far. */
  let newest: BlockId | undefined;
  let final: BlockId | undefined;
  let headUnderWay: Promise<BlockRef> | undefined;

  function remember(block: BlockId): void {
    if (!newest || block.number >= newest.number) newest = block;
  }

  /** Returns the newest block that enough nodes have. */
  async function readHead(): Promise<BlockRef> {
    const heads = await collect((node) => node.getHead());
    const number = nodes.reachedBy(heads.values.map((head) => head.number));
    const head = nodes.agreedOf(heads.values) ?? (await agree((node) => node.getBlock(number)));
    if (head === null) throw heads.disagreement();
    remember(head);
    return head;
  }

  async function readFinal(): Promise<BlockId> {
    const named = await collect(readFinalOf);
    const number = nodes.reachedBy(named.values.map((block) => block.number));
    if (final && number <= final.number) return final;
    const same = nodes.agreedOf(named.values);
    const hash = same?.number === number ? same.hash : (await agreeOn(number, readFinalOf))?.hash;
    if (!hash) throw named.disagreement();
    if (!final || number > final.number) final = { number, hash };
    return final;
  }

  /** Returns the block of a height; null if too few nodes have it. */
  async function agreeOn(
    number: bigint,
    readNamed: Read<FinalBlock, ChainAtBlocks>,
  ): Promise<BlockId | null> {
    // Only nodes that call the height final, or safe, may name its block: a node on a fork cannot decide that.
    return agree(async (node) =>
      (await readNamed(node)).number < number ? null : node.getBlock(number),
    );
  }

  /** Returns the newest block that enough nodes call safe. A reorganisation may take it back to an earlier one. */
  async function readSafe(): Promise<BlockId> {
    const named = await collect(readSafeOf);
    const number = nodes.reachedBy(named.values.map((block) => block.number));
    const same = nodes.agreedOf(named.values);
    const hash = same?.number === number ? same.hash : (await agreeOn(number, readSafeOf))?.hash;
    if (!hash) throw named.disagreement();
    return { number, hash };
  }

  /** Returns the block at which all nodes read. */
  async function blockAt(at: ReadPoint): Promise<BlockId> {
    if (at === "final") return readFinal();
    if (at !== "latest") return at;
    headUnderWay ??= readHead().finally(() => {
      headUnderWay = undefined;
    });
    const head = await headUnderWay;
    return newest ?? head;
  }

  /** Reads state at the same block from all nodes. */
  async function agreeAt<T>(
    at: ReadPoint,
    read: (node: ChainAtBlocks, block: BlockId) => Promise<T>,
  ): Promise<T> {
    const block = await blockAt(at);
    return agree((node) => read(node, block));
  }

  async function getBlock(number: bigint): Promise<BlockRef | null> {
    const read: Read<BlockRef | null, ChainAtBlocks> = (node) => node.getBlock(number);
    if (newest && number <= newest.number) return agree(read);
    // Above the newest block seen, honest nodes may differ: some have the block, others not yet.
    const blocks = await collect(read);
    const agreed = nodes.agreedOf(blocks.values);
    if (agreed) remember(agreed);
    if (agreed !== undefined) return agreed;
    if (number > (await readHead()).number) return null;
    throw blocks.disagreement();
  }

  /**
   * Reads the blocks that enough nodes give in the same form. Final blocks are the same at all of them; of new ones, honest
   * nodes have different numbers.
   */
  async function readSection(request: SectionRequest): Promise<Section | null> {
    const choose = onceForEach(request.choose);
    const read: Read<Section | null, ChainAtBlocks> = (node) =>
      node.readSection({ ...request, choose });
    if (request.isFinal) return nodes.sparing.agree(read);
    const sections = await (request.isOld ? nodes.sparing : nodes).collect(read);
    const section = agreedStart(nodes, sections.values);
    const newest = section?.blocks.at(-1);
    if (newest) remember({ number: newest.number, hash: newest.hash });
    const withSome = sections.values.filter((one) => one !== null);
    // Too few nodes have the block yet; otherwise they are on different forks.
    if (!section && withSome.length >= required) throw sections.disagreement();
    return section;
  }

  return {
    chainId: pure.chainId,
    kind: pure.kind,
    coin: pure.coin,
    // Every question checks the identity of each node first.
    checkIdentity: () => agree(async () => undefined),
    getHead: readHead,
    getFinalNumber: async () => (await readFinal()).number,
    getFinalBlock: readFinal,
    getSafeBlock: readSafe,
    getTime: (at) => agreeAt(at, (node, block) => node.getTime(block)),
    isOrderOver: async (deadline) =>
      (await agreeAt("final", (node, block) => node.getTime(block))) > deadline,
    getBlock,
    readSection,
    getBalance: (token, owner, at = "latest") =>
      agreeAt(at, (node, block) => node.getBalance(token, owner, block)),
    readHolding: (token, owner) =>
      agreeAt("latest", async (node, block) => ({
        amount: await node.getBalance(token, owner, block),
      })),
    findBalance: (token, owner, at = "latest") =>
      agreeAt(at, (node, block) => node.findBalance(token, owner, block)),
    getLeastPayment: pure.getLeastPayment,
    simulatePayment: (payment) => agree((node) => node.simulatePayment(payment)),

    async suggestFees() {
      const fees = await collect((node) => node.suggestFees());
      return {
        gasPriceMax: nodes.reachedBy(fees.values.map((fee) => fee.gasPriceMax)),
        tipMax: nodes.reachedBy(fees.values.map((fee) => fee.tipMax)),
      };
    },
    readSurcharge: async () =>
      nodes.reachedBy((await collect((node) => node.readSurcharge())).values),
    simulate: (from, call, hint) => agree((node) => node.simulate(from, call, hint), SIMULATIONS),
    // All nodes get the same bytes, so one that takes them is enough.
    send: async (raw) =>
      (await nodes.findAny(
        (node) => node.send(raw),
        (outcome) => {
          if (outcome === "accepted" || outcome === "known") return "enough";
          return outcome === "unknown" ? "nothing" : "counts";
        },
      )) ?? "unknown",
    async getReceipt(txHash) {
      const receipt: Receipt | null = await agree((node) => node.getReceipt(txHash));
      if (receipt) remember({ number: receipt.blockNumber, hash: receipt.blockHash });
      return receipt;
    },

    findRefund: (args) => agree((node) => node.findRefund(args)),
    getLock: (lock, at) => agreeAt(at, (node, block) => node.getLock(lock, block)),
    findDelivery: (lock, at = "latest", hints = []) =>
      agreeAt(at, (node, block) => node.findDelivery(lock, block, hints)),
    isDelivered: (lock, at) => agreeAt(at, (node, block) => node.isDelivered(lock, block)),
    getPayoutWindow: (at) => agreeAt(at, (node, block) => node.getPayoutWindow(block)),
    wasListed: (listing, at) => agreeAt(at, (node, block) => node.wasListed(listing, block)),
    getThresholdAt: (time, at) => agreeAt(at, (node, block) => node.getThresholdAt(time, block)),
    getDailyCapLeft: (token, at = "latest") =>
      agreeAt(at, (node, block) => node.getDailyCapLeft(token, block)),

    sequencing: {
      kind: "nonce",
      getTransactionCount: (sender, at = "latest") =>
        agreeAt(at, (node, block) => node.sequencing.getTransactionCount(sender, block)),
    },
    balances: {
      kind: "at_block",
      async listTracedPayees(block) {
        // A hint: not every node has traces, and a wrong entry costs one balance read.
        const named = await collect((node) => node.balances.listTracedPayees(block));
        const lists = named.values.filter((list) => list !== null);
        return lists.length === 0 ? null : [...new Set(lists.flat())];
      },
      listNativeBalances: (block, owners) =>
        agree((node) => node.balances.listNativeBalances(block, owners)),
      listTokenBalances: (blockHash, holdings) =>
        agree((node) => node.balances.listTokenBalances(blockHash, holdings)),
    },
    wallets: {
      kind: "contract",
      hasCode: (address, at = "latest") =>
        agreeAt(at, (node, block) => node.wallets.hasCode(address, block)),
      buildDeploy: pure.wallets.buildDeploy,
      buildRefund: pure.wallets.buildRefund,
      buildAttestedRefund: pure.wallets.buildAttestedRefund,
      findOutflow: (args) => agree((node) => node.wallets.findOutflow(args)),
      buildTakeBack: pure.wallets.buildTakeBack,
      getAnnouncement: (wallet, token, at = "latest") =>
        agreeAt(at, (node, block) => node.wallets.getAnnouncement(wallet, token, block)),
      isRefused: (refusal, at = "latest") =>
        agreeAt(at, (node, block) => node.wallets.isRefused(refusal, block)),
    },
    priceFeeds: {
      readPriceFeed: (feed, at = "latest") =>
        agreeAt(at, (node, block) => node.priceFeeds.readPriceFeed(feed, block)),
    },
    pools: {
      encodeSwapData: pure.pools.encodeSwapData,
      quoteSwap: (swap, at = "latest") =>
        agreeAt(at, (node, block) => node.pools.quoteSwap(swap, block)),
      readSwapLimits: (swap, at = "latest") =>
        agreeAt(at, (node, block) => node.pools.readSwapLimits(swap, block)),
    },
    cctp: pure.cctp && {
      contracts: pure.cctp.contracts,
      buildReceive: pure.cctp.buildReceive,
      encodeBurnData: pure.cctp.encodeBurnData,
      encodeSwapBurnData: pure.cctp.encodeSwapBurnData,
      readBurnLimit: (token, at = "latest") =>
        agreeAt(at, async (node, block) => (await node.cctp?.readBurnLimit(token, block)) ?? 0n),
      async readContractHeight() {
        const heights = await collect(
          async (node) => (await node.cctp?.readContractHeight()) ?? 0n,
        );
        return nodes.reachedBy(heights.values);
      },
      findMint: (nonce, at = "latest") =>
        agreeAt(at, async (node, block) => (await node.cctp?.findMint(nonce, block)) ?? null),
    },
    payoutSearch: {
      findBlockAt: (timeS) => agree((node) => node.payoutSearch.findBlockAt(timeS)),
      findIn: (lock, range) => agree((node) => node.payoutSearch.findIn(lock, range)),
      listIn: (range) => agree((node) => node.payoutSearch.listIn(range)),
      listOrdered: (txHash) => agree((node) => node.payoutSearch.listOrdered(txHash)),
    },
    governance: {
      getDelay: () => agree((node) => node.governance.getDelay()),
      listChanges: (range) => agree((node) => node.governance.listChanges(range)),
    },
    treasury: pure.treasury && {
      address: pure.treasury.address,
      buildMove: pure.treasury.buildMove,
      readMovable: (direction, at = "latest") =>
        agreeAt(at, async (node, block) => {
          return (await node.treasury?.readMovable(direction, block)) ?? 0n;
        }),
      readStock: (token, at = "latest") =>
        agreeAt(
          at,
          async (node, block) => (await node.treasury?.readStock(token, block)) ?? NO_STOCK,
        ),
      buildScheduleWithdrawal: pure.treasury.buildScheduleWithdrawal,
      buildExecuteWithdrawal: pure.treasury.buildExecuteWithdrawal,
    },

    costOf: pure.costOf,
    costOfStep: pure.costOfStep,
    isGivenBack: pure.isGivenBack,
    predictWallet: pure.predictWallet,
    hashCommitment: pure.hashCommitment,
    isWalletOf: pure.isWalletOf,
    buildSettle: pure.buildSettle,
    buildDeliver: pure.buildDeliver,
    buildClaim: pure.buildClaim,
    buildReturn: pure.buildReturn,
    combine: pure.combine,
    tookEffect: pure.tookEffect,
    encodeLockData: pure.encodeLockData,
    encodeTransferData: pure.encodeTransferData,
    deliveryIdOf: pure.deliveryIdOf,
    deliveryIdOfPayout: pure.deliveryIdOfPayout,
    addresses: pure.addresses,
  };
}

/**
 * The rule for simulations. Nodes simulate at their own newest block, so estimates differ slightly. The greatest of those
 * that agree is used: too low a limit fails the transaction, and unused gas is not charged. Reverts agree also when their
 * reasons differ.
 */
export const SIMULATIONS: Rule<Simulation> = {
  isSame(one, other) {
    if (!one.ok || !other.ok) return one.ok === other.ok;
    return one.gas <= other.gas * GAS_SPREAD_MAX && other.gas <= one.gas * GAS_SPREAD_MAX;
  },
  merge(same) {
    const gas = same.flatMap((simulation) => (simulation.ok ? [simulation.gas] : []));
    const reasons = new Set(same.flatMap((simulation) => (simulation.ok ? [] : simulation.reason)));
    const [reason = "reverted"] = reasons;
    if (gas.length === 0) return { ok: false, reason: reasons.size === 1 ? reason : "reverted" };
    return { ok: true, gas: gas.reduce((most, one) => (one > most ? one : most)) };
  },
};

/** Returns the longest start that enough sections share, or null if they do not share a block. */
function agreedStart(
  nodes: Pick<Nodes<unknown>, "agreedOf">,
  sections: readonly (Section | null)[],
): Section | null {
  let same = sections.filter((section) => section !== null);
  const blocks: ScannedBlock[] = [];
  for (;;) {
    const next = nodes.agreedOf(
      same.flatMap(({ parentHash, blocks: some }) => {
        const block = some[blocks.length];
        return block ? [{ parentHash, block }] : [];
      }),
    );
    if (!next) break;
    blocks.push(next.block);
    same = same.filter((section) =>
      isDeepStrictEqual(section.blocks.at(blocks.length - 1), next.block),
    );
  }
  const [first] = blocks;
  return first ? { parentHash: first.parentHash, blocks } : null;
}

/** Looks up equal lists of accounts once, since nodes that agree name the same accounts. */
function onceForEach(choose: ChooseAccounts): ChooseAccounts {
  const chosen = new Map<string, Promise<ReadonlySet<Address>>>();
  return (accounts) => {
    const key = accounts.join();
    const known = chosen.get(key) ?? choose(accounts);
    chosen.set(key, known);
    return known;
  };
}
