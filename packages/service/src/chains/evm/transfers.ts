/** Reads the token transfers of one block. */
import { toEventSelector } from "viem";
import { type EvmAddress, type Hex32, NATIVE_TOKEN, unpadAddress } from "../../core/hex.ts";
import type { BlockRef, Transfer } from "../port/index.ts";
import { type LogAnswer, parseBlock, parseLogs } from "./answers.ts";
import type { Rpc } from "./rpc.ts";

const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

/**
 * Lists every transfer of the tokens in the block, in log order, without zero-value transfers and logs of another form.
 * Native coin has no logs: see native.ts. Throws RPC_UNAVAILABLE if the node lacks the block or its answer may be
 * incomplete: a lagging node may answer with no logs instead of an error.
 */
export async function listTransfers(
  rpc: Rpc,
  block: BlockRef,
  tokens: readonly EvmAddress[],
): Promise<Transfer[]> {
  const listed = new Set(tokens.filter((token) => token !== NATIVE_TOKEN));
  // An empty address filter would match every address.
  if (listed.size === 0) return [];
  const isListed = (log: LogAnswer) => listed.has(log.address) && log.topics[0] === TRANSFER;
  const filter = { address: [...listed], topics: [TRANSFER] };
  return toTransfers(await listLogs(rpc, block, filter, isListed));
}

/** Lists the block's logs under a filter. `isListed` repeats the filter, because the node is not trusted to apply it. */
export async function listLogs(
  rpc: Rpc,
  block: BlockRef,
  filter: LogFilter,
  isListed: (log: LogAnswer) => boolean,
): Promise<LogAnswer[]> {
  const logs = await getLogs(rpc, block, filter);
  if (!logs.every(isListed)) throw rpc.unavailable("logs nobody asked for");
  if (logs.length === 0) await assertNoneMissing(rpc, block, isListed);
  return logs;
}

interface LogFilter {
  readonly address?: readonly EvmAddress[];
  readonly topics?: readonly Hex32[] | readonly `0x${string}`[];
}

/** Accepts an empty answer only if the node has the block, and its header and the block's other logs agree. */
async function assertNoneMissing(
  rpc: Rpc,
  block: BlockRef,
  isListed: (log: LogAnswer) => boolean,
): Promise<void> {
  const header = await rpc.ask("eth_getBlockByHash", [block.hash, false], parseBlock);
  if (header === null) throw rpc.unavailable("block not found");
  if (header.hash !== block.hash || header.number !== block.number) {
    throw rpc.unavailable("another block");
  }
  if (!header.hasLogs) return;
  const all = await getLogs(rpc, block, {});
  if (all.length === 0 || all.some(isListed)) throw rpc.unavailable("logs missing");
}

/** Returns the logs of exactly this block, in order. */
export async function getLogs(rpc: Rpc, block: BlockRef, filter: LogFilter): Promise<LogAnswer[]> {
  const answer = await rpc.ask("eth_getLogs", [{ blockHash: block.hash, ...filter }], parseLogs);
  const logs = answer
    .filter((log) => !log.removed)
    .sort((one, other) => one.logIndex - other.logIndex);
  const isOfBlock = (log: LogAnswer) =>
    log.blockHash === block.hash && log.blockNumber === block.number;
  if (!logs.every(isOfBlock)) throw rpc.unavailable("logs of another block");
  if (new Set(logs.map((log) => log.logIndex)).size !== logs.length) {
    throw rpc.unavailable("duplicate logs");
  }
  return logs;
}

/** Counts the ordinal over all logs before filtering, so that it depends only on transaction and token. */
function toTransfers(logs: readonly LogAnswer[]): Transfer[] {
  const seen = new Map<string, number>();
  return logs.flatMap((log) => {
    const key = `${log.txHash}:${log.address}`;
    const ordinal = seen.get(key) ?? 0;
    seen.set(key, ordinal + 1);
    const transfer = readTransfer(log, ordinal);
    return transfer && transfer.amount > 0n ? [transfer] : [];
  });
}

function readTransfer(log: LogAnswer, ordinal: number): Transfer | null {
  const [, from, to, more] = log.topics;
  if (!from || !to || more || !isAddressWord(from) || !isAddressWord(to)) return null;
  if (log.data.length !== 66) return null;
  const { address: token, txHash, logIndex } = log;
  return {
    token,
    from: unpadAddress(from),
    to: unpadAddress(to),
    amount: BigInt(log.data),
    txHash,
    logIndex,
    ordinal,
  };
}

function isAddressWord(word: Hex32): boolean {
  return word.startsWith(`0x${"0".repeat(24)}`);
}
