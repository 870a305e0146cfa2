/**
 * A chain for the simulation: a tree of blocks with one canonical branch, a mempool with a fee market, and a final height.
 * The caller decides when each event happens.
 */
import {
  type Address,
  type Hex,
  type Hex32,
  isNative,
  NATIVE_TOKEN,
  type TxHash,
  toTxHash,
} from "../../src/core/hex.ts";
import type { Lifetime, SendOutcome } from "../../src/chains/port/index.ts";
import { encode, hash } from "./codec.ts";
import {
  type Action,
  type Environment,
  type FakeContracts,
  type FakeLog,
  Reverted,
  run,
  State,
} from "./contracts.ts";

export interface FakeTransaction {
  readonly hash: TxHash;
  readonly from: Address;
  readonly nonce: number;
  readonly action: Action;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Expiry of our transactions on a chain without nonces; those of others never expire. */
  readonly lifetime?: Lifetime | undefined;
}

export interface MinedTransaction {
  readonly transaction: FakeTransaction;
  readonly succeeded: boolean;
  /** Wei. */
  readonly gasCost: bigint;
  readonly logs: readonly FakeLog[];
  /** Number of logs in the block before its own. */
  readonly firstLog: number;
}

export interface FakeBlock {
  readonly number: bigint;
  readonly hash: Hex32;
  readonly parent: FakeBlock | null;
  /** Unix seconds. */
  readonly time: bigint;
  readonly baseFee: bigint;
  readonly transactions: readonly MinedTransaction[];
  /** State of the chain after this block. */
  readonly state: State;
}

/** Gas of an action, without margin. */
export function gasOf(action: Action): bigint {
  if (action.kind === "many") {
    return action.jobs.reduce((sum, job) => sum + gasOf(job), 30_000n);
  }
  return GAS[action.kind];
}

const GAS = {
  transfer: 60_000n,
  payout: 90_000n,
  hidden_transfer: 60_000n,
  destroy: 50_000n,
  deploy: 75_000n,
  settle: 160_000n,
  deliver: 100_000n,
  claim: 70_000n,
  return: 80_000n,
  refund: 80_000n,
  attested_refund: 100_000n,
  announce: 60_000n,
  cancel: 40_000n,
  take_back: 80_000n,
  announce_settlement: 60_000n,
  settle_unattended: 90_000n,
  receive: 200_000n,
  trade: 120_000n,
  order: 40_000n,
} as const;

const BLOCK_GAS = 3_000_000n;

export class FakeChain {
  readonly contracts: FakeContracts;
  /** The mempool, by the key that at most one transaction can use. */
  protected readonly pool = new Map<string, FakeTransaction>();
  readonly #placed = new Map<TxHash, Set<FakeBlock>>();
  readonly #branches = new Map<FakeBlock, readonly FakeBlock[]>();
  #head: FakeBlock;
  #finalNumber = 0n;
  #heldNumber = 0n;
  #salt = 0;
  /** Base fee of the next block, in wei. */
  baseFee = 1_000_000_000n;

  constructor(contracts: FakeContracts, genesis: State, time: bigint) {
    this.contracts = contracts;
    this.#head = {
      number: 0n,
      hash: hash("genesis", contracts.chainId),
      parent: null,
      time,
      baseFee: this.baseFee,
      transactions: [],
      state: genesis,
    };
  }

  get head(): FakeBlock {
    return this.#head;
  }

  get finalNumber(): bigint {
    return this.#finalNumber;
  }

  /** The newest final block. */
  get finalBlock(): FakeBlock {
    const branch = this.branchOf(this.#head);
    const block = branch.findLast(({ number }) => number <= this.#finalNumber);
    if (!block) throw new Error("the first block is final");
    return block;
  }

  /** Returns every block from the first to the given one, by height. */
  branchOf(block: FakeBlock): readonly FakeBlock[] {
    const known = this.#branches.get(block);
    if (known) return known;
    const branch = block.parent ? [...this.branchOf(block.parent), block] : [block];
    this.#branches.set(block, branch);
    return branch;
  }

  /** Returns the blocks that contain a transaction, on any branch. */
  placesOf(txHash: TxHash): readonly FakeBlock[] {
    return [...(this.#placed.get(txHash) ?? [])];
  }

  /** Lists transactions with each result that they had, on any branch. */
  *listEverMined(): Generator<readonly [TxHash, MinedTransaction]> {
    for (const [txHash, blocks] of this.#placed) {
      for (const { transactions } of blocks) {
        const mined = transactions.find(({ transaction }) => transaction.hash === txHash);
        if (mined?.succeeded) yield [txHash, mined];
      }
    }
  }

  isWaiting(txHash: TxHash): boolean {
    return [...this.pool.values()].some((waiting) => waiting.hash === txHash);
  }

  get waiting(): readonly FakeTransaction[] {
    return [...this.pool.values()];
  }

  /** Returns the next nonce that neither the chain nor the mempool uses. */
  freeNonceOf(sender: Address): number {
    let nonce = this.#head.state.nonceOf(sender);
    while (this.pool.has(`${sender}:${nonce}`)) nonce += 1;
    return nonce;
  }

  /** Submits a transaction, as any account can to a node. */
  offer(transaction: FakeTransaction): SendOutcome {
    const { state } = this.#head;
    const { from, nonce } = transaction;
    const key = this.keyOf(transaction);
    const rival = this.pool.get(key);
    if (rival?.hash === transaction.hash) return "known";
    if (this.isOn(this.#head, transaction.hash)) return "known";
    if (nonce < state.nonceOf(from)) return "nonce_too_low";
    if (state.balanceOf(NATIVE_TOKEN, from) < costOf(transaction)) return "insufficient_funds";
    if (rival) {
      const enough = (fee: bigint, before: bigint) => fee * 10n >= before * 11n;
      const raised =
        enough(transaction.maxFeePerGas, rival.maxFeePerGas) &&
        enough(transaction.maxPriorityFeePerGas, rival.maxPriorityFeePerGas);
      if (!raised) return "underpriced";
    }
    this.pool.set(key, transaction);
    return "accepted";
  }

  /** Returns whether a transaction is in the branch that ends with a block. */
  protected isOn(tip: FakeBlock, txHash: TxHash): boolean {
    const branch = this.branchOf(tip);
    return this.placesOf(txHash).some((block) => branch.includes(block));
  }

  /** Drops the chosen transactions of the mempool, as nodes do under load. */
  forget(chosen: (transaction: FakeTransaction) => boolean): void {
    for (const [key, transaction] of this.pool) {
      if (chosen(transaction)) this.pool.delete(key);
    }
  }

  /** Mines a block with the waiting transactions that pay enough. */
  mine(time: bigint, isWelcome: (transaction: FakeTransaction) => boolean): FakeBlock {
    const block = this.#build(this.#head, time, isWelcome);
    this.#head = block;
    return block;
  }

  /** Raises the final height; never lowers it. */
  finalize(number: bigint): void {
    if (number > this.#finalNumber && number <= this.#head.number) this.#finalNumber = number;
  }

  /** Prevents a reorg below a height, although no node reports it as final. */
  hold(number: bigint): void {
    if (number > this.#heldNumber) this.#heldNumber = number;
  }

  /**
   * Replaces the newest blocks by others. Their transactions return to the mempool where `returns` says so; the others are
   * lost. Never replaces a final or held block.
   */
  reorganise(
    depth: number,
    args: {
      readonly blocks: number;
      readonly time: bigint;
      readonly returns: (transaction: FakeTransaction) => boolean;
      readonly isWelcome: (transaction: FakeTransaction) => boolean;
    },
  ): void {
    let ancestor = this.#head;
    const abandoned: FakeBlock[] = [];
    const lowest = this.#heldNumber > this.#finalNumber ? this.#heldNumber : this.#finalNumber;
    for (let i = 0; i < depth; i++) {
      if (ancestor.number <= lowest || !ancestor.parent) break;
      abandoned.unshift(ancestor);
      ancestor = ancestor.parent;
    }
    if (abandoned.length === 0) return;
    for (const { transactions } of abandoned) {
      for (const { transaction } of transactions) {
        const key = this.keyOf(transaction);
        if (args.returns(transaction) && !this.pool.has(key)) this.pool.set(key, transaction);
      }
    }
    this.#head = ancestor;
    for (let i = 0; i < args.blocks; i++) {
      const time = ancestor.time + BigInt(i) + 1n;
      this.mine(time > args.time ? time : args.time, args.isWelcome);
    }
  }

  #build(
    parent: FakeBlock,
    time: bigint,
    isWelcome: (transaction: FakeTransaction) => boolean,
  ): FakeBlock {
    const number = this.numberAfter(parent);
    const state = new State(parent.state);
    const transactions: MinedTransaction[] = [];
    let logs = 0;
    let gas = 0n;
    const at = time > parent.time ? time : parent.time + 1n;
    const { baseFee } = this;
    for (const transaction of this.#inOrder()) {
      const verdict = this.judge(transaction, { state, parent });
      if (verdict === "drop") this.pool.delete(this.keyOf(transaction));
      if (verdict !== "take" || gas + transaction.gas > BLOCK_GAS) continue;
      if (!isWelcome(transaction)) continue;
      const mined = this.#execute(state, transaction, {
        number,
        time: at,
        firstLog: logs,
      });
      logs += mined.logs.length;
      gas += transaction.gas;
      transactions.push(mined);
      this.pool.delete(this.keyOf(transaction));
    }
    this.#salt += 1;
    const block: FakeBlock = {
      number,
      hash: hash("block", this.contracts.chainId, parent.hash, this.#salt),
      parent,
      time: at,
      baseFee,
      transactions,
      state,
    };
    for (const { transaction } of transactions) {
      const places = this.#placed.get(transaction.hash) ?? new Set();
      this.#placed.set(transaction.hash, places.add(block));
    }
    return block;
  }

  protected keyOf({ from, nonce }: FakeTransaction): string {
    return `${from}:${nonce}`;
  }

  protected numberAfter(parent: FakeBlock): bigint {
    return parent.number + 1n;
  }

  /** Returns whether a transaction fits the block after `parent`, only a later one, or none any more. */
  protected judge(
    transaction: FakeTransaction,
    { state }: { readonly state: State; readonly parent: FakeBlock },
  ): "take" | "leave" | "drop" {
    const { from, nonce, maxFeePerGas } = transaction;
    if (nonce < state.nonceOf(from)) return "drop";
    const isNext = nonce === state.nonceOf(from);
    const pays = maxFeePerGas >= this.baseFee;
    const funded = state.balanceOf(NATIVE_TOKEN, from) >= costOf(transaction);
    return isNext && pays && funded ? "take" : "leave";
  }

  /** Charges the sender for a transaction, and returns the cost. */
  protected charge(state: State, transaction: FakeTransaction): bigint {
    const { from, maxFeePerGas, maxPriorityFeePerGas } = transaction;
    const offered = this.baseFee + maxPriorityFeePerGas;
    const price = offered < maxFeePerGas ? offered : maxFeePerGas;
    const used = gasOf(transaction.action);
    const gasCost = (used < transaction.gas ? used : transaction.gas) * price;
    state.credit(NATIVE_TOKEN, from, -gasCost);
    return gasCost;
  }

  /** Runs an action on this chain; throws `Reverted`. */
  run(state: State, env: Environment, action: Action): FakeLog[] {
    return run(state, env, action);
  }

  #inOrder(): FakeTransaction[] {
    return [...this.pool.values()].toSorted((a, b) => a.nonce - b.nonce);
  }

  #execute(
    state: State,
    transaction: FakeTransaction,
    at: {
      readonly number: bigint;
      readonly time: bigint;
      readonly firstLog: number;
    },
  ): MinedTransaction {
    const { from } = transaction;
    state.nonces.set(from, state.nonceOf(from) + 1);
    const used = gasOf(transaction.action);
    const gasCost = this.charge(state, transaction);
    const tried = tryRun(
      this,
      state,
      {
        contracts: this.contracts,
        from,
        txHash: transaction.hash,
        blockNumber: at.number,
        time: at.time,
      },
      transaction.action,
    );
    const succeeded = "logs" in tried && used <= transaction.gas;
    if (succeeded) state.become(tried.state);
    const { firstLog } = at;
    return { transaction, succeeded, gasCost, logs: succeeded ? tried.logs : [], firstLog };
  }
}

/** Runs an action on a copy; returns the copy and its logs, or the reason of the revert. */
export function tryRun(
  chain: Pick<FakeChain, "run">,
  state: State,
  env: Environment,
  action: Action,
): { readonly state: State; readonly logs: FakeLog[] } | { readonly reason: string } {
  const attempt = new State(state);
  try {
    return { state: attempt, logs: chain.run(attempt, env, action) };
  } catch (error) {
    if (error instanceof Reverted) return { reason: error.message };
    throw error;
  }
}

/** Returns the most that a transaction can cost its sender. */
export function costOf({ gas, maxFeePerGas, action }: FakeTransaction): bigint {
  const paysCoin =
    action.kind === "hidden_transfer" || (action.kind === "transfer" && isNative(action.token));
  return gas * maxFeePerGas + (paysCoin ? action.amount : 0n);
}

/** Returns the hash of a signed transaction. */
export function hashOf(raw: Hex): TxHash {
  return toTxHash(hash("transaction", raw));
}

export function toRaw(transaction: Omit<FakeTransaction, "hash">): Hex {
  return encode(transaction);
}
