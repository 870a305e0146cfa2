/** Payments that a test or a measurement asks for, among the traffic of strangers. */
import { asRecord } from "../../json-file.ts";
import { SandboxError } from "../../errors.ts";

/** The token of a payment in native coin. */
export const NATIVE = "native";

export interface SyntheticDeposit {
  readonly block: number;
  readonly to: string;
  /** Address of the token, or `native`. */
  readonly token: string;
  /** Base units. */
  readonly amount: bigint;
  /** Only on this fork of the block: 0 until the first reorg. On every fork by default. */
  readonly fork?: number;
}

export interface DepositBook {
  add(deposit: SyntheticDeposit): void;
  /** Returns the deposits of a block, in the order in which they were added. */
  ofBlock(number: number, fork: number): readonly SyntheticDeposit[];
  /** Returns the heights from `first` to `last` with deposits, in order. */
  heights(first: number, last: number): readonly number[];
  /** Returns an account's base units at a height. */
  balance(token: string, owner: string, height: number, forkAt: (number: number) => number): bigint;
}

export function createDepositBook(): DepositBook {
  const byBlock = new Map<number, SyntheticDeposit[]>();
  const byAccount = new Map<string, SyntheticDeposit[]>();
  /** Heights with deposits, in order. */
  const heights: number[] = [];

  function insertHeight(number: number): void {
    const at = findFirst(heights, number);
    if (heights[at] !== number) heights.splice(at, 0, number);
  }

  return {
    add: (deposit) => {
      const kept = {
        ...deposit,
        to: deposit.to.toLowerCase(),
        token: deposit.token.toLowerCase(),
      };
      append(byBlock, kept.block, kept);
      append(byAccount, `${kept.token} ${kept.to}`, kept);
      insertHeight(kept.block);
    },
    ofBlock: (number, fork) =>
      (byBlock.get(number) ?? []).filter((deposit) => (deposit.fork ?? fork) === fork),
    heights: (first, last) =>
      heights.slice(findFirst(heights, first), findFirst(heights, last + 1)),
    balance: (token, owner, height, forkAt) =>
      (byAccount.get(`${token} ${owner}`) ?? [])
        .filter(({ block, fork }) => block <= height && (fork ?? forkAt(block)) === forkAt(block))
        .reduce((sum, { amount }) => sum + amount, 0n),
  };
}

function append<K>(lists: Map<K, SyntheticDeposit[]>, key: K, deposit: SyntheticDeposit): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [deposit]);
  else list.push(deposit);
}

/** Returns the position of the first number that is not less than `value`. */
function findFirst(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Parses a deposit from JSON, with the amount as a decimal string. Throws a `SandboxError` for any other form. */
export function parseDeposit(input: unknown): SyntheticDeposit {
  const { block, to, token, amount, fork } = asRecord(input) ?? {};
  const isHeight = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  if (
    !isHeight(block) ||
    typeof to !== "string" ||
    !/^0x[0-9a-fA-F]{40}$/.test(to) ||
    typeof token !== "string" ||
    !/^(native|0x[0-9a-fA-F]{40})$/.test(token) ||
    !/^\d{1,77}$/.test(String(amount)) ||
    (fork !== undefined && !isHeight(fork))
  ) {
    throw new SandboxError(
      `deposit ${JSON.stringify(input)}: expected block, to, token and amount in base units`,
    );
  }
  return {
    block: Number(block),
    to,
    token,
    amount: BigInt(String(amount)),
    ...(fork === undefined ? {} : { fork: Number(fork) }),
  };
}
