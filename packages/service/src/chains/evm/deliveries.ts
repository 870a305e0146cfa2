/** Reads payouts of a `Delivery` contract. */
import { toEventSelector } from "viem";
import { deliveryAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { type EvmAddress, padAddress, type TxHash } from "../../core/hex.ts";
import type {
  FoundDelivery,
  PaidLock,
  Payout,
  PayoutSearch,
  ReadPoint,
  Receipt,
} from "../port/index.ts";
import { type LogAnswer, parseQuantity, parseSentCall } from "./answers.ts";
import { listOrders, toPayout } from "./calldata.ts";
import { readView } from "./calls.ts";
import { decodeOfDelivery } from "./effects.ts";
import { listLogsInRange } from "./log-range.ts";
import { searchBackwards } from "./log-search.ts";
import { getNumberedBlock } from "./reader.ts";
import type { Rpc } from "./rpc.ts";

const DELIVERED = toEventSelector("Delivered(bytes32,bytes32,address,address,uint256)");

/** Returns whether the contract paid the lock. */
export function isDelivered(
  rpc: Rpc,
  delivery: EvmAddress,
  { deliveryId, srcChain, escrow, seq }: PaidLock,
  at: ReadPoint,
): Promise<boolean> {
  const call = { abi: deliveryAbi, functionName: "isDelivered" } as const;
  const args = [deliveryId, srcChain, padAddress(escrow), seq] as const;
  const data = encodeFunctionData({ ...call, args });
  return readView(rpc, { to: delivery, data, at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** Returns the remainder of a token's daily cap, in base units. */
export function getDailyCapLeft(
  rpc: Rpc,
  delivery: EvmAddress,
  token: EvmAddress,
  at: ReadPoint,
): Promise<bigint> {
  const call = { abi: deliveryAbi, functionName: "capLeft" } as const;
  const data = encodeFunctionData({ ...call, args: [token] });
  return readView(rpc, { to: delivery, data, at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** Returns the seconds after its lock in which the contract pays. */
export function getPayoutWindow(rpc: Rpc, delivery: EvmAddress, at: ReadPoint): Promise<bigint> {
  const call = { abi: deliveryAbi, functionName: "PAYOUT_WINDOW" } as const;
  return readView(rpc, { to: delivery, data: encodeFunctionData(call), at }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** Requests of a search among the newest blocks: enough for any age of contract where ranges are not limited. */
const NEWEST_REQUESTS_MAX = 16;
/** Requests of one part of a search. */
const PART_REQUESTS_MAX = 40;

/** The contract whose payouts are looked up. */
interface Place {
  readonly address: EvmAddress;
  /** No payout is older. */
  readonly deployBlock: bigint;
}

/**
 * Returns the payout of the lock, null if there is none, or "unlocated". The contract's state decides. Then the receipts of
 * the hinted transactions are read, which costs one request however old the payout is, and only then the newest blocks are
 * searched for the event.
 */
export async function findDelivery(
  rpc: Rpc,
  place: Place,
  lock: PaidLock,
  options: {
    readonly at: ReadPoint;
    readonly hints: readonly TxHash[];
    readonly getReceipt: (txHash: TxHash) => Promise<Receipt | null>;
  },
): Promise<FoundDelivery | "unlocated" | null> {
  const { at, hints, getReceipt } = options;
  if (!(await isDelivered(rpc, place.address, lock, at))) return null;
  // Twice: a server that lags has no receipt yet of a payout whose state another one showed, and a search costs far more.
  const hinted = async () => findHinted(lock, { hints, getReceipt });
  const shown = (await hinted()) ?? (await hinted());
  if (shown) return shown;
  const newest = await rpc.ask("eth_blockNumber", [], parseQuantity);
  const blocks = { from: place.deployBlock, to: newest, requestsMax: NEWEST_REQUESTS_MAX };
  const found = await searchPayout(rpc, place, lock, blocks);
  return found === null || found === "unfinished" ? "unlocated" : found;
}

/** Returns the payout that the receipt of a hinted transaction proves, or null. */
async function findHinted(
  lock: PaidLock,
  {
    hints,
    getReceipt,
  }: {
    readonly hints: readonly TxHash[];
    readonly getReceipt: (txHash: TxHash) => Promise<Receipt | null>;
  },
): Promise<FoundDelivery | null> {
  // The hints are the settlement's transactions on any chain, and nodes refuse ids of another length.
  for (const hint of hints.filter(isTransactionHash)) {
    const found = readPayout(await getReceipt(hint), lock);
    if (found) return found;
  }
  return null;
}

/** Returns whether a transaction id has the 32 bytes of EVM chains. */
function isTransactionHash(txHash: TxHash): boolean {
  return txHash.length === 2 + 64;
}

/** Returns the search for payouts in parts. */
export function createPayoutSearch(rpc: Rpc, place: Place): PayoutSearch {
  return {
    findBlockAt: (timeS) => findBlockAt(rpc, place.deployBlock, timeS),
    async findIn(lock, { from, to }) {
      const blocks = { from, to, requestsMax: PART_REQUESTS_MAX };
      const found = await searchPayout(rpc, place, lock, blocks);
      if (found === "unfinished") throw rpc.unavailable("too many blocks for one search");
      return found;
    },
    listIn: (blocks) => listPayouts(rpc, place.address, blocks),
    listOrdered: (txHash) => listOrdered(rpc, place.address, txHash),
  };
}

/** Returns the payout that a receipt proves: an event of the contract itself in a transaction that succeeded. */
function readPayout(receipt: Receipt | null, { deliveryId }: PaidLock): FoundDelivery | null {
  const paid = receipt?.effects.find(
    (effect) => effect.kind === "delivered" && effect.deliveryId === deliveryId,
  );
  if (!receipt || paid?.kind !== "delivered") return null;
  const { kind: _, ...facts } = paid;
  return { ...facts, txHash: receipt.txHash, blockNumber: receipt.blockNumber };
}

/** Returns the orders of a transaction that called the contract itself. */
async function listOrdered(
  rpc: Rpc,
  address: EvmAddress,
  txHash: TxHash,
): Promise<readonly Payout[]> {
  const orders = await rpc.ask("eth_getTransactionByHash", [txHash], (result) => {
    const sent = parseSentCall(result);
    if (sent?.to !== address) return sent && [];
    return listOrders(sent.input).map(toPayout);
  });
  if (!orders) throw rpc.unavailable("transaction unknown");
  return orders;
}

async function listPayouts(
  rpc: Rpc,
  address: EvmAddress,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<readonly FoundDelivery[]> {
  const found: FoundDelivery[] = [];
  let next = from;
  for (let requests = 0; next <= to; requests += 1) {
    if (requests === PART_REQUESTS_MAX) throw rpc.unavailable("too many blocks for one search");
    const query = { from: next, to, address, topics: [DELIVERED] };
    const { logs, through } = await listLogsInRange(rpc, query, rpc.searchRange);
    for (const log of logs) found.push(...readLog(log));
    next = through + 1n;
  }
  return found;
}

function readLog(log: LogAnswer): readonly FoundDelivery[] {
  const paid = decodeOfDelivery(log);
  if (!paid) return [];
  const { kind: _, ...facts } = paid;
  return [{ ...facts, txHash: log.txHash, blockNumber: log.blockNumber }];
}

function searchPayout(
  rpc: Rpc,
  { address }: Place,
  { deliveryId }: PaidLock,
  { from, to, requestsMax }: { from: bigint; to: bigint; requestsMax: number },
): Promise<FoundDelivery | null | "unfinished"> {
  return searchBackwards(rpc, {
    address,
    topics: [DELIVERED, deliveryId],
    newest: to,
    oldest: from,
    requestsMax,
    read: (log) => readLog(log).find((paid) => paid.deliveryId === deliveryId) ?? null,
  });
}

/** Bisects the blocks by their time, which never falls. */
async function findBlockAt(rpc: Rpc, deployBlock: bigint, timeS: bigint): Promise<bigint> {
  let low = deployBlock;
  let high = (await rpc.ask("eth_blockNumber", [], parseQuantity)) + 1n;
  while (low < high) {
    const middle = (low + high) / 2n;
    const { timestamp } = await getNumberedBlock(rpc, middle);
    if (timestamp < timeS) low = middle + 1n;
    else high = middle;
  }
  return low;
}
