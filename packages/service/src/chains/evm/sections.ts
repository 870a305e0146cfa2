/**
 * Reads sections of blocks for the scanner with few requests.
 *
 * New blocks: each header by height, linked by parents, and its logs by its hash, so that no two forks are mixed: two requests
 * per block. Final blocks: logs of a range of heights, and headers only of the first and last block and of those that hold
 * something, whose hashes the logs must name. Where the native coin is listed, every block is read with its transactions.
 */
import { type Address, isNative } from "../../core/hex.ts";
import type { ChainReader, ScannedBlock, Section, SectionRequest } from "../port/index.ts";
import {
  type BlockAnswer,
  type LogAnswer,
  parseBlock,
  parseFullBlock,
  type PaymentAnswer,
} from "./answers.ts";
import { createBlockLogsReader, readInParts } from "./block-logs.ts";
import { toQuantity } from "./calls.ts";
import { classifyLimit } from "./limits.ts";
import { listPaid } from "./native.ts";
import {
  createLogFilter,
  type LogFilter,
  type LogFilterOptions,
  type LogFindings,
} from "./log-filter.ts";
import { createLogRange, listLogsInRange, type LogRange } from "./log-range.ts";
import { batchInParts, readAnswer, type Rpc, splitInParts } from "./rpc.ts";

/** Transactions and logs per section: bounds its memory to tens of megabytes. */
const ITEMS_MAX = 60_000;
/** Heights of the first search, and the most of any. */
const RANGE_FIRST = 500n;
export const RANGE_MAX = 10_000n;

/** A header, and the payments and number of its transactions where they are read. */
type Header = BlockAnswer & {
  readonly size: number;
  readonly payments: readonly PaymentAnswer[];
};

/** Returns the chain's `readSection` over a node. Throws RPC_UNAVAILABLE if an answer may be incomplete. */
export function createSectionReader(
  rpc: Rpc,
  options: LogFilterOptions,
): ChainReader["readSection"] {
  let itemsPerBlock = 1;
  const range = createLogRange({ first: RANGE_FIRST, most: RANGE_MAX });
  const readLogs = createBlockLogsReader(rpc);

  return async (request) => {
    const filter = createLogFilter(request.tokens, options);
    const hasCoin = request.tokens.some(isNative);
    const first = request.after + 1n;
    if (request.isFinal) {
      return readFinal(rpc, { filter, hasCoin, range, first, request });
    }
    const count = Math.min(request.max, Math.max(1, Math.floor(ITEMS_MAX / itemsPerBlock)));
    // The logs of a part are requested while the other parts are read, so that no latency adds up.
    const parts = await Promise.all(
      splitInParts(heightsOf(first, count)).map(async (part) => {
        const headers = takeLinked(await readHeaders(rpc, part, hasCoin));
        const logs = await readLogs(headers, filter);
        return headers.map((header, index) => ({ header, logs: logs[index] ?? [] }));
      }),
    );
    const read = parts.flat();
    const linked = takeLinked(read.map(({ header }) => header));
    const [lowest] = linked;
    if (!lowest) return null;
    const items = read.map(({ header, logs }) => header.size + logs.length);
    itemsPerBlock = Math.max(1, itemsPerBlock / 2, ...items);
    const found = read
      .slice(0, linked.length)
      .map(({ header, logs }) => ({ header, logs, findings: filter.read(logs) }));
    const chosen = await request.choose(
      unique(
        found.flatMap(({ header, findings }) => [...accountsOf(findings), ...payeesOf(header)]),
      ),
    );
    const blocks = await complete(rpc, chosen, found);
    return { parentHash: lowest.parentHash, blocks };
  };
}

/** Takes the blocks up to the first that is absent or does not name the one before it as its parent. */
function takeLinked(headers: readonly (Header | null)[]): Header[] {
  const linked: Header[] = [];
  for (const header of headers) {
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
    return block && { size: 0, payments: [], ...block };
  });
}

/** Reads a section of final blocks: all of the heights. */
async function readFinal(
  rpc: Rpc,
  {
    filter,
    hasCoin,
    range,
    first,
    request,
  }: {
    filter: LogFilter;
    hasCoin: boolean;
    range: LogRange;
    first: bigint;
    request: SectionRequest;
  },
): Promise<Section> {
  const last = request.after + BigInt(request.max);
  const [logs, known] = await Promise.all([
    listFinalLogs(rpc, { first, last, filter, range }),
    hasCoin
      ? readHeaders(rpc, heightsOf(first, request.max), hasCoin).then(takeLinked)
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
  const isChosen = (account: Address) => chosen.has(account);
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
      const some = byBlock.get(number) ?? [];
      if (some.some(isOther)) throw rpc.unavailable("logs of another block");
      return { header, logs: some, findings: findings.get(number) ?? NOTHING };
    });
  const blocks = await complete(rpc, chosen, found);
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
    const query = { from, to: last, ...filter.params };
    const { logs, through } = await listLogsInRange(rpc, query, range, async (number) => {
      const [block] = await readHeaders(rpc, [number], false);
      if (!block) throw rpc.unavailable("final block not found");
      return readInParts(rpc, block, filter);
    });
    all.push(...logs);
    from = through + 1n;
  }
  return all;
}

function heightsOf(first: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => first + BigInt(index));
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

const NOTHING: LogFindings = { transfers: [], outflows: [] };

function accountsOf(findings: LogFindings | undefined): Address[] {
  if (!findings) return [];
  return [
    ...findings.transfers.map(({ to }) => to),
    ...findings.outflows.map(({ wallet }) => wallet),
  ];
}

/** Returns the accounts that a block's own transactions pay. */
function payeesOf(header: Header | undefined): Address[] {
  return (header?.payments ?? []).map(({ to }) => to);
}

/** Keeps the movements of the chosen accounts, and completes them with further requests. */
async function complete(
  rpc: Rpc,
  chosen: ReadonlySet<Address>,
  found: readonly {
    readonly header: Header;
    readonly logs: readonly LogAnswer[];
    readonly findings: LogFindings;
  }[],
): Promise<ScannedBlock[]> {
  return Promise.all(
    found.map(async ({ header, logs, findings }) => {
      const block = { number: header.number, hash: header.hash, parentHash: header.parentHash };
      const payments = header.payments.filter(({ to }) => chosen.has(to));
      const outflows = findings.outflows.filter(({ wallet }) => chosen.has(wallet));
      const paid = await listPaid(rpc, header, { payments, logs });
      const transfers = [...findings.transfers.filter(({ to }) => chosen.has(to)), ...paid];
      return { ...block, time: header.timestamp, transfers, outflows };
    }),
  );
}
