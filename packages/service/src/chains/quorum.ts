/**
 * A chain through several nodes of which some may lie, lag, hang or be dead: what is read counts when `required` of
 * them agree (ask-nodes.ts), so up to `required - 1` liars change nothing.
 *
 * Honest nodes are never at the same block for long, so agreement about "now" would fail whenever something happens,
 * and a liar could side with a node that is merely behind. State is therefore read at one block that `required` nodes
 * share, by its hash: the same question to all, which has one answer. `latest` is the newest such block, and never an
 * earlier one than any that was answered with before; `final` is the newest such final block, and never goes back. A
 * node that is behind lacks the block and says so. After a reorganisation to a shorter chain, reads of state wait until
 * it has grown past what was seen.
 *
 * Heights and fees are what `required` nodes reach, of three nodes the median: no liar alone raises them, and one that
 * lowers them costs what a node costs that is dead.
 */
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Log } from "../telemetry/log.ts";
import { createNodes, type Read, type Rule } from "./ask-nodes.ts";
import type {
  BalancesAtBlock,
  BlockId,
  BlockRef,
  Chain,
  ChoosePayees,
  ContractWallets,
  NonceSequencing,
  Pools,
  PriceFeeds,
  Receipt,
  ReadPoint,
  Simulation,
} from "./port/index.ts";

/** Estimates that differ by more than this factor are of nodes that do not agree. */
const GAS_SPREAD_MAX = 2n;

/** A chain whose nodes can be asked about any block. */
export interface ChainAtBlocks extends Chain {
  readonly sequencing: NonceSequencing;
  readonly balances: BalancesAtBlock;
  readonly wallets: ContractWallets;
  readonly priceFeeds: PriceFeeds;
  readonly pools: Pools;
}

/**
 * One chain over its nodes, the first of which computes what needs no node. Fewer than `required` answers that agree
 * throw `OperatingError` RPC_UNAVAILABLE.
 */
export function createQuorumChain(
  chains: readonly [ChainAtBlocks, ...ChainAtBlocks[]],
  options: { readonly required: number; readonly clock: Clock; readonly log: Log },
): ChainAtBlocks {
  const [pure] = chains;
  const nodes = createNodes(chains, {
    ...options,
    readFirst: async (node) => (await node.getBlock(0n))?.hash ?? null,
  });
  const { agree, collect } = nodes;
  /** The newest block, and the newest final one, that was answered with. */
  let newest: BlockId | undefined;
  let final: BlockRef | undefined;
  let headUnderWay: Promise<BlockRef> | undefined;

  function remember(block: BlockId): void {
    if (!newest || block.number >= newest.number) newest = block;
  }

  /** The newest block that enough nodes have. */
  async function readHead(): Promise<BlockRef> {
    const heads = await collect((node) => node.getHead());
    const number = nodes.reachedBy(heads.values.map((head) => head.number));
    const head = nodes.agreedOf(heads.values) ?? (await agree((node) => node.getBlock(number)));
    if (head === null) throw heads.disagreement();
    remember(head);
    return head;
  }

  async function readFinal(): Promise<BlockRef> {
    const numbers = await collect((node) => node.getFinalNumber());
    const number = nodes.reachedBy(numbers.values);
    if (final && number <= final.number) return final;
    // Whoever names the block also calls it final: one that is on a fork has no say in what cannot be undone.
    const block = await agree(async (node) =>
      (await node.getFinalNumber()) < number ? null : node.getBlock(number),
    );
    if (block === null) throw numbers.disagreement();
    if (!final || block.number > final.number) final = block;
    return final;
  }

  /** The one block at which all nodes read. */
  async function blockAt(at: ReadPoint): Promise<BlockId> {
    if (at === "final") return readFinal();
    if (at !== "latest") return at;
    headUnderWay ??= readHead().finally(() => {
      headUnderWay = undefined;
    });
    const head = await headUnderWay;
    return newest ?? head;
  }

  /** A reading of state, at one block for all. */
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
    // Above all that was seen, some nodes have it and others not yet, which is no quarrel.
    const blocks = await collect(read);
    const agreed = nodes.agreedOf(blocks.values);
    if (agreed) remember(agreed);
    if (agreed !== undefined) return agreed;
    if (number > (await readHead()).number) return null;
    throw blocks.disagreement();
  }

  return {
    chainId: pure.chainId,
    kind: pure.kind,
    coin: pure.coin,
    // Each node is looked at before it is asked anything.
    checkIdentity: () => agree(async () => undefined),
    getHead: readHead,
    getFinalNumber: async () => (await readFinal()).number,
    getTime: (at) => agreeAt(at, (node, block) => node.getTime(block)),
    isOrderOver: async (deadline) =>
      (await agreeAt("final", (node, block) => node.getTime(block))) > deadline,
    getBlock,
    // Heights of a chain without gaps; a family with gaps asks its nodes itself.
    getBlockAfter: (number) => getBlock(number + 1n),
    listTransfers: (block, tokens) => agree((node) => node.listTransfers(block, tokens)),
    listNativeTransfers(block, choose) {
      const chooseOnce = onceForEach(choose);
      return agree((node) => node.listNativeTransfers(block, chooseOnce));
    },
    getBalance: (token, owner, at = "latest") =>
      agreeAt(at, (node, block) => node.getBalance(token, owner, block)),
    readHolding: (token, owner) =>
      agreeAt("latest", async (node, block) => ({
        amount: await node.getBalance(token, owner, block),
      })),
    findBalance: (token, owner, at = "latest") =>
      agreeAt(at, (node, block) => node.findBalance(token, owner, block)),
    hasCode: (address, at = "latest") => agreeAt(at, (node, block) => node.hasCode(address, block)),
    getLeastPayment: pure.getLeastPayment,

    async suggestFees() {
      const fees = await collect((node) => node.suggestFees());
      return {
        maxFeePerGas: nodes.reachedBy(fees.values.map((fee) => fee.maxFeePerGas)),
        maxPriorityFeePerGas: nodes.reachedBy(fees.values.map((fee) => fee.maxPriorityFeePerGas)),
      };
    },
    simulate: (from, call) => agree((node) => node.simulate(from, call), SIMULATIONS),
    // The bytes are the same for all: more nodes can only bring them further.
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

    listOutflows: (block) => agree((node) => node.listOutflows(block)),
    findRefund: (args) => agree((node) => node.findRefund(args)),
    getLock: (deliveryId, at) => agreeAt(at, (node, block) => node.getLock(deliveryId, block)),
    findDelivery: (deliveryId, at = "latest") =>
      agreeAt(at, (node, block) => node.findDelivery(deliveryId, block)),
    isDelivered: (deliveryId, at) =>
      agreeAt(at, (node, block) => node.isDelivered(deliveryId, block)),
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
        // A hint: not every node has traces, and who is named without reason costs one look at a balance.
        const named = await collect((node) => node.balances.listTracedPayees(block));
        const lists = named.values.filter((list) => list !== null);
        return lists.length === 0 ? null : [...new Set(lists.flat())];
      },
      listNativeBalances: (block, owners) =>
        agree((node) => node.balances.listNativeBalances(block, owners)),
      listTokenBalances: (blockHash, holdings) =>
        agree((node) => node.balances.listTokenBalances(blockHash, holdings)),
    },
    wallets: pure.wallets,
    priceFeeds: {
      readPriceFeed: (feed, at = "latest") =>
        agreeAt(at, (node, block) => node.priceFeeds.readPriceFeed(feed, block)),
    },
    pools: {
      encodeSwapData: pure.pools.encodeSwapData,
      quoteSwap: (swap, at = "latest") =>
        agreeAt(at, (node, block) => node.pools.quoteSwap(swap, block)),
    },
    cctp: pure.cctp && {
      contracts: pure.cctp.contracts,
      buildReceive: pure.cctp.buildReceive,
      encodeBurnData: pure.cctp.encodeBurnData,
      encodeSwapBurnData: pure.cctp.encodeSwapBurnData,
      findMint: (nonce, at = "latest") =>
        agreeAt(at, async (node, block) => (await node.cctp?.findMint(nonce, block)) ?? null),
    },

    costOf: pure.costOf,
    costOfStep: pure.costOfStep,
    isGivenBack: pure.isGivenBack,
    predictWallet: pure.predictWallet,
    hashCommitment: pure.hashCommitment,
    isWalletOf: pure.isWalletOf,
    isLockOf: pure.isLockOf,
    buildSettle: pure.buildSettle,
    buildDeliver: pure.buildDeliver,
    buildClaim: pure.buildClaim,
    buildReturn: pure.buildReturn,
    buildRefund: pure.buildRefund,
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
 * Nodes simulate at their own newest block, so estimates differ a little: the greatest of those that agree is taken,
 * because too low a limit loses the transaction and too high a one costs nothing. Calls that would revert need not
 * revert for the same reason.
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

/** Nodes that agree name the same accounts: these are looked up once. */
function onceForEach(choose: ChoosePayees): ChoosePayees {
  const chosen = new Map<string, Promise<ReadonlySet<Address>>>();
  return (accounts) => {
    const key = accounts.join();
    const known = chosen.get(key) ?? choose(accounts);
    chosen.set(key, known);
    return known;
  };
}
