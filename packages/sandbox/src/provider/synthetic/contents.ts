/** The contents of a block: transactions and transfers, drawn from seed, number and fork, with the deposits at the end. */
import { createRandom } from "../random.ts";
import { type DepositBook, NATIVE, type SyntheticDeposit } from "./deposits.ts";
import { type BlockId, toFixedHex } from "./history.ts";
import { type Noise, toTopic } from "./noise.ts";

export interface SyntheticTransfer {
  readonly token: string;
  /** Topics of 32 bytes. */
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly txIndex: number;
  readonly logIndex: number;
}

export interface SyntheticTransaction {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  /** Wei as a quantity. */
  readonly value: string;
  readonly input: string;
  /** Offset of this transaction's random bytes. */
  readonly cut: number;
}

export interface BlockContents {
  readonly transactions: readonly SyntheticTransaction[];
  readonly transfers: readonly SyntheticTransfer[];
}

export interface ContentsOptions {
  readonly seed: number;
  readonly transactionsPerBlock: number;
  readonly transfersPerBlock: number;
  /** The listed tokens. */
  readonly tokens: readonly string[];
  /** Share of the strangers' transfers that are of listed tokens. */
  readonly listedShare: number;
}

/** A transfer of 68 bytes, and a swap of 452, as most inputs are. */
const TRANSFER_SELECTOR = "0xa9059cbb";
const SWAP_SELECTOR = "0x414bf389";
const SWAP_CHARACTERS = 896;
/** Every eighth transaction carries native coin. */
const PAYING = 8;

export function createContents(options: ContentsOptions, noise: Noise, deposits: DepositBook) {
  const { seed, transactionsPerBlock, transfersPerBlock, tokens, listedShare } = options;

  /** Draws the strangers' part, then appends the deposits. */
  function make(id: BlockId): BlockContents {
    const random = createRandom(mix(seed, id.number, id.fork));
    const pick = (list: readonly string[]) => list[random.below(list.length)] ?? "";
    const drawToken = () =>
      tokens.length > 0 && random.happens(listedShare) ? pick(tokens) : pick(noise.otherTokens);
    const transfers: SyntheticTransfer[] = [];
    const transactions: SyntheticTransaction[] = [];
    for (let index = 0; index < transactionsPerBlock; index += 1) {
      const count = shareOf(transfersPerBlock, transactionsPerBlock, index);
      const cut = random.below(0xffff);
      const sender = random.below(noise.accounts.length);
      const from = noise.accounts[sender] ?? "";
      const to = pick(noise.accounts);
      const token = count > 0 ? drawToken() : to;
      for (let transfer = 0; transfer < count; transfer += 1) {
        transfers.push({
          token: transfer === 0 ? token : drawToken(),
          from: transfer === 0 ? (noise.accountTopics[sender] ?? "") : pick(noise.accountTopics),
          to: pick(noise.accountTopics),
          data: `0x${"0".repeat(50)}${noise.cut(cut + transfer, 14)}`,
          txIndex: index,
          logIndex: transfers.length,
        });
      }
      transactions.push({
        hash: transactionHash(noise, id, index, cut),
        from,
        to: token,
        value: index % PAYING === 0 ? `0x1${noise.cut(cut, 15)}` : "0x0",
        input: inputOf(noise, count, to, cut),
        cut,
      });
    }
    for (const deposit of deposits.ofBlock(id.number, id.fork)) {
      appendDeposit(noise, id, deposit, transactions, transfers);
    }
    return { transactions, transfers };
  }

  return { make };
}

function appendDeposit(
  noise: Noise,
  id: BlockId,
  { to, token, amount }: SyntheticDeposit,
  transactions: SyntheticTransaction[],
  transfers: SyntheticTransfer[],
): void {
  const index = transactions.length;
  const cut = (id.number * 31 + index) & 0xffff;
  const from = noise.accounts[cut % noise.accounts.length] ?? "";
  const hash = transactionHash(noise, id, index, cut);
  if (token === NATIVE) {
    transactions.push({ hash, from, to, value: `0x${amount.toString(16)}`, input: "0x", cut });
    return;
  }
  const data = toFixedHexOf(amount);
  const input = `${TRANSFER_SELECTOR}${toTopic(to).slice(2)}${data}`;
  transactions.push({ hash, from, to: token, value: "0x0", input, cut });
  transfers.push({
    token,
    from: toTopic(from),
    to: toTopic(to),
    data: `0x${data}`,
    txIndex: index,
    logIndex: transfers.length,
  });
}

function toFixedHexOf(amount: bigint): string {
  return amount.toString(16).padStart(64, "0");
}

function inputOf(noise: Noise, transfers: number, to: string, cut: number): string {
  if (transfers === 0) return "0x";
  if (transfers > 1) return `${SWAP_SELECTOR}${noise.cut(cut, SWAP_CHARACTERS)}`;
  return `${TRANSFER_SELECTOR}${toTopic(to).slice(2)}${"0".repeat(50)}${noise.cut(cut, 14)}`;
}

/** Returns how many of `total` things the transaction at `index` has, when all have about as many. */
function shareOf(total: number, parts: number, index: number): number {
  return Math.floor(((index + 1) * total) / parts) - Math.floor((index * total) / parts);
}

/** Returns a hash that contains block, fork and position, so that a receipt is found without a table. */
function transactionHash(noise: Noise, id: BlockId, index: number, cut: number): string {
  const place = `${toFixedHex(id.number, 10)}${toFixedHex(id.fork, 4)}${toFixedHex(index, 6)}`;
  return `0x${noise.cut(cut + index, 44)}${place}`;
}

/** Reads the place that a transaction's hash names; it may not exist. */
export function placeOf(hash: string): BlockId & { readonly index: number } {
  return {
    number: Number.parseInt(hash.slice(46, 56), 16),
    fork: Number.parseInt(hash.slice(56, 60), 16),
    index: Number.parseInt(hash.slice(60), 16),
  };
}

function mix(seed: number, number: number, fork: number): number {
  return (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b) ^ (fork << 24)) >>> 0;
}
