/**
 * Reads sections of blocks for the scanner with few requests.
 *
 * New blocks: each header by height, linked by parents, and its logs by its hash, so that no two forks are mixed: two requests
 * per block. Final blocks: logs of a range of heights, and headers only of the first and last block and of those that hold
 * something, whose hashes the logs must name. Where the native coin is listed, every block is read with its transactions.
 */
import { type Address, type EvmAddress, isNative, toEvmAddress } from "../../core/hex.ts";
import type {
  ChainReader,
  Outflow,
  ScannedBlock,
  Section,
  SectionRequest,
  Transfer,
} from "../port/index.ts";
import {
  type BlockAnswer,
  type LogAnswer,
  parseBlock,
  parseFullBlock,
  parseLogs,
  type PaymentAnswer,
} from "./answers.ts";
import { toQuantity } from "./calls.ts";
import type { EvmContracts } from "./contracts.ts";
import { classifyLimit } from "./limits.ts";
import { listPaid } from "./native.ts";
import {
  createLogFilter,
  type LogFilter,
  type LogFilterOptions,
  type LogFindings,
} from "./log-filter.ts";
import { createLogRange, listLogsInRange, type LogRange } from "./log-range.ts";
import { readOutflows } from "./outflows.ts";
import { batchInParts, readAnswer, type Rpc } from "./rpc.ts";
import { checkLogs, listAllLogs } from "./transfers.ts";

/** Transactions and logs per section: bounds its memory to tens of megabytes. */
const ITEMS_MAX = 60_000;
/** Heights of the first search, and the most of any. */
const RANGE_FIRST = 500n;
export const RANGE_MAX = 10_000n;

/** A header, and the transactions where they are read. */
type Header = BlockAnswer & { readonly transactions: readonly PaymentAnswer[] };

/** Returns the chain's `readSection` over a node. Throws RPC_UNAVAILABLE if an answer may be incomplete. */
export function createSectionReader(
  rpc: Rpc,
  options: LogFilterOptions,
): ChainReader["readSection"] {
  const { contracts } = options;
  let itemsPerBlock = 1;
  const range = createLogRange({ first: RANGE_FIRST, most: RANGE_MAX });

  return async (request) => {
    const filter = createLogFilter(request.tokens, options);
    const hasCoin = request.tokens.some(isNative);
    const first = request.after + 1n;
    if (request.isFinal) {
      return readFinal(rpc, { filter, hasCoin, contracts, range, first, request });
    }
    const count = Math.min(request.max, Math.max(1, Math.floor(ITEMS_MAX / itemsPerBlock)));
    const headers = await readLinked(rpc, { first, count, hasCoin });
    const [lowest] = headers;
    if (!lowest) return null;
    const logs = await readLogs(rpc, headers, filter);
    const items = headers.map(
      ({ transactions }, index) => transactions.length + (logs[index]?.length ?? 0),
    );
    itemsPerBlock = Math.max(1, itemsPerBlock / 2, ...items);
    const found = headers.map((header, index) => ({
      header,
      logs: filter.read(logs[index] ?? []),
    }));
    const chosen = await request.choose(
      unique(found.flatMap(({ header, logs: read }) => [...accountsOf(read), ...payeesOf(header)])),
    );
    const blocks = await complete(rpc, { escrow: contracts.escrow, chosen }, found);
    return { parentHash: lowest.parentHash, blocks };
  };
}

/** Reads the blocks from a height on, up to the first that is absent or does not name the one before it as its parent. */
async function readLinked(
  rpc: Rpc,
  { first, count, hasCoin }: { first: bigint; count: number; hasCoin: boolean },
): Promise<Header[]> {
  const numbers = Array.from({ length: count }, (_, index) => first + BigInt(index));
  const linked: Header[] = [];
  for (const header of await readHeaders(rpc, numbers, hasCoin)) {
    const before = linked.at(-1);
    if (!header || (before && header.parentHash !== before.hash)) break;
    linked.push(header);
  }
  return linked;
}

/** Reads the blocks of these heights; null for one that the node does not have. */
export async function readHeaders(
  rpc: Rpc,
  numbers: readonly bigint[],
  hasCoin: boolean,
): Promise<(Header | null)[]> {
  const method = "eth_getBlockByNumber";
  const parse = hasCoin ? parseFullBlock : parseBlock;
  const requests = numbers.map((number) => ({ method, params: [toQuantity(number), hasCoin] }));
  const answers = await batchInParts(rpc, requests);
  return answers.map((answer, index) => {
    // Some nodes answer with an error for a block that they do not have yet.
    if (!answer.ok && classifyLimit(answer)?.kind === "unknown_block") return null;
    const block = readAnswer(rpc, method, answer, parse);
    if (block && block.number !== numbers[index]) throw rpc.unavailable("another block");
    return block && { transactions: [], ...block };
  });
}

/** Reads the logs of each block under the filter, by its hash. */
async function readLogs(
  rpc: Rpc,
  blocks: readonly Header[],
  filter: LogFilter,
): Promise<LogAnswer[][]> {
  const method = "eth_getLogs";
  const requests = blocks.map(({ hash }) => ({
    method,
    params: [{ blockHash: hash, ...filter.params }],
  }));
  const answers = await batchInParts(rpc, requests);
  return Promise.all(
    blocks.map(async (block, index) => {
      const answer = answers[index];
      if (!answer) throw rpc.unavailable("answer missing");
      const logs = checkLogs(rpc, block, readAnswer(rpc, method, answer, parseLogs));
      if (!logs.every(filter.isWanted)) throw rpc.unavailable("logs nobody asked for");
      // A server that lacks the block may answer with no logs instead of an error. The bloom filter only raises the
      // suspicion: it may say so of a block without such logs, and some chains leave logs out of it.
      if (logs.length > 0 || !filter.mayHold(block.logsBloom)) return logs;
      const all = await listAllLogs(rpc, block);
      const isMissing = all.length === 0 && block.hasLogs;
      if (isMissing || all.some(filter.isWanted)) throw rpc.unavailable("logs missing");
      return logs;
    }),
  );
}

/** Reads a section of final blocks: all of the heights. */
async function readFinal(
  rpc: Rpc,
  {
    filter,
    hasCoin,
    contracts,
    range,
    first,
    request,
  }: {
    filter: LogFilter;
    hasCoin: boolean;
    contracts: EvmContracts;
    range: LogRange;
    first: bigint;
    request: SectionRequest;
  },
): Promise<Section> {
  const last = request.after + BigInt(request.max);
  const [logs, known] = await Promise.all([
    listFinalLogs(rpc, { first, last, filter, range }),
    hasCoin
      ? readLinked(rpc, { first, count: request.max, hasCoin })
      : readHeaders(rpc, unique([first, last]), false),
  ]);
  const headers = new Map(known.flatMap((header) => (header ? [[header.number, header]] : [])));
  const lowest = headers.get(first);
  if (!lowest || !headers.has(last)) throw rpc.unavailable("final block not found");
  const byBlock = Map.groupBy(logs, ({ blockNumber }) => blockNumber);
  const findings = new Map(
    [...byBlock].map(([number, some]) => [number, filter.read(some)] as const),
  );
  const chosen = await request.choose(
    unique([
      ...[...findings.values()].flatMap(accountsOf),
      ...[...headers.values()].flatMap(payeesOf),
    ]),
  );
  const isChosen = (account: EvmAddress) => chosen.has(account);
  const holding = unique([...byBlock.keys(), ...headers.keys()]).filter(
    (number) =>
      number === last ||
      accountsOf(findings.get(number)).some(isChosen) ||
      payeesOf(headers.get(number)).some(isChosen),
  );
  const missing = await readHeaders(
    rpc,
    holding.filter((number) => !headers.has(number)),
    false,
  );
  for (const header of missing) if (header) headers.set(header.number, header);
  const found = holding
    .sort((one, other) => (one < other ? -1 : 1))
    .map((number) => {
      const header = headers.get(number);
      if (!header) throw rpc.unavailable("final block not found");
      const isOther = ({ blockHash }: LogAnswer) => blockHash !== header.hash;
      if (byBlock.get(number)?.some(isOther)) throw rpc.unavailable("logs of another block");
      return { header, logs: findings.get(number) ?? NOTHING };
    });
  const blocks = await complete(rpc, { escrow: contracts.escrow, chosen }, found);
  return { parentHash: lowest.parentHash, blocks };
}

/** Returns the wanted logs of a range of final blocks, in order. */
async function listFinalLogs(
  rpc: Rpc,
  {
    first,
    last,
    filter,
    range,
  }: { first: bigint; last: bigint; filter: LogFilter; range: LogRange },
): Promise<LogAnswer[]> {
  const all: LogAnswer[] = [];
  for (let from = first; from <= last;) {
    const { logs, through } = await listLogsInRange(
      rpc,
      { from, to: last, ...filter.params },
      range,
    );
    all.push(...logs);
    from = through + 1n;
  }
  return all;
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

const NOTHING: LogFindings = { transfers: [], outflows: [] };

function accountsOf(findings: LogFindings | undefined): EvmAddress[] {
  if (!findings) return [];
  return [
    ...findings.transfers.map(({ to }) => toEvmAddress(to)),
    ...findings.outflows.map(({ wallet }) => wallet),
  ];
}

/** Returns the accounts that a block's own transactions pay. */
function payeesOf(header: Header | undefined): EvmAddress[] {
  return (header?.transactions ?? []).flatMap(({ to, value }) => (to && value > 0n ? [to] : []));
}

/** Keeps the movements of the chosen accounts, and completes them with further requests. */
async function complete(
  rpc: Rpc,
  { escrow, chosen }: { escrow: EvmAddress; chosen: ReadonlySet<Address> },
  found: readonly { readonly header: Header; readonly logs: LogFindings }[],
): Promise<ScannedBlock[]> {
  return Promise.all(
    found.map(async ({ header, logs }) => {
      const block = { number: header.number, hash: header.hash, parentHash: header.parentHash };
      const ours = header.transactions.filter(
        ({ to, value }) => value > 0n && to !== null && chosen.has(to),
      );
      const [outflows, payments]: [Outflow[], Transfer[]] = await Promise.all([
        readOutflows(
          rpc,
          logs.outflows.filter(({ wallet }) => chosen.has(wallet)),
          escrow,
        ),
        listPaid(rpc, header, ours),
      ]);
      const transfers = [...logs.transfers.filter(({ to }) => chosen.has(to)), ...payments];
      return { ...block, time: header.timestamp, transfers, outflows };
    }),
  );
}
