/**
 * Reads sections of blocks for the scanner with few requests.
 *
 * New blocks: each header by height, linked by parents, and its logs by its hash, so that no two forks are mixed: two requests
 * per block. Final blocks: logs of a range of heights, and headers only of the first and last block and of those that hold
 * something, whose hashes the logs must name. Where the native coin is listed, every block is read with its transactions.
 */
import {
  type Address,
  type EvmAddress,
  type Hex,
  isNative,
  NATIVE_TOKEN,
  toEvmAddress,
} from "../../core/hex.ts";
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
import { type BloomBits, bloomBitsOf, mayContain } from "./bloom.ts";
import { toQuantity } from "./calls.ts";
import type { EvmContracts } from "./contracts.ts";
import { classifyLimit, reasonOfLimit } from "./limits.ts";
import { listPaid } from "./native.ts";
import { OUTFLOW_TOPICS, readOutflows, type OutflowLog, toOutflowLog } from "./outflows.ts";
import { createLogRange, listLogsInRange, type LogRange } from "./log-range.ts";
import type { NodeAnswer, Rpc, RpcRequest } from "./rpc.ts";
import { checkLogs, getLogs, toTransfers, TRANSFER } from "./transfers.ts";

/** Transactions and logs per section: bounds its memory to tens of megabytes. */
const ITEMS_MAX = 60_000;
/** Heights of the first search, and the most of any. */
const RANGE_FIRST = 500n;
const RANGE_MAX = 10_000n;

/** Chains whose headers leave logs out of the bloom filter: on Polygon those of state syncs, which mint bridged tokens. */
const PARTIAL_BLOOMS: ReadonlySet<number> = new Set([137]);

export interface SectionOptions {
  readonly contracts: EvmContracts;
  /** EIP-155 chain id. */
  readonly evmChainId: number;
}

/** A header, and the transactions where they are read. */
type Header = BlockAnswer & { readonly transactions: readonly PaymentAnswer[] };

/** The contents of a block's logs, before it is known which accounts matter. */
interface LogFindings {
  readonly transfers: readonly Transfer[];
  readonly outflows: readonly OutflowLog[];
}

/** Returns the chain's `readSection` over a node. Throws RPC_UNAVAILABLE if an answer may be incomplete. */
export function createSectionReader(rpc: Rpc, options: SectionOptions): ChainReader["readSection"] {
  const { contracts } = options;
  let itemsPerBlock = 1;
  const range = createLogRange({ first: RANGE_FIRST, most: RANGE_MAX });

  return async (request) => {
    const filter = createFilter(request, options);
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
    const block = rpc.read(method, resultOf(rpc, method, answer), parse);
    if (block && block.number !== numbers[index]) throw rpc.unavailable("another block");
    return block && { transactions: [], ...block };
  });
}

/** Reads the logs of each block under the filter, by its hash. */
async function readLogs(
  rpc: Rpc,
  blocks: readonly Header[],
  filter: Filter,
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
      const logs = checkLogs(
        rpc,
        block,
        rpc.read(method, resultOf(rpc, method, answer), parseLogs),
      );
      if (!logs.every(filter.isWanted)) throw rpc.unavailable("logs nobody asked for");
      // A server that lacks the block may answer with no logs instead of an error. The bloom filter only raises the
      // suspicion: it may say so of a block without such logs, and some chains leave logs out of it.
      if (logs.length > 0 || !filter.mayHold(block.logsBloom)) return logs;
      const all = await getLogs(rpc, block, {});
      const isMissing = all.length === 0 && block.hasLogs;
      if (isMissing || all.some(filter.isWanted)) throw rpc.unavailable("logs missing");
      return logs;
    }),
  );
}

/** Requests of blocks and their logs in one HTTP request: their answers have some megabytes. */
const BATCH_MAX = 16;

/** Sends requests in batches, at the same time, and returns their answers in order. */
export async function batchInParts(
  rpc: Rpc,
  requests: readonly RpcRequest[],
): Promise<NodeAnswer[]> {
  const [only] = requests;
  if (only && requests.length === 1) return [await rpc.call(only.method, only.params)];
  const parts: Promise<NodeAnswer[]>[] = [];
  for (let from = 0; from < requests.length; from += BATCH_MAX) {
    parts.push(rpc.batch(requests.slice(from, from + BATCH_MAX)));
  }
  return (await Promise.all(parts)).flat();
}

/** Returns the result of an answer. Throws RPC_UNAVAILABLE for an error of the node. */
export function resultOf(rpc: Rpc, method: string, answer: NodeAnswer): unknown {
  if (answer.ok) return answer.result;
  const reason = reasonOfLimit(answer) ?? `node error ${answer.code}`;
  throw rpc.unavailable(reason, `${method}: ${answer.message}`);
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
    filter: Filter;
    hasCoin: boolean;
    contracts: EvmContracts;
    range: LogRange;
    first: bigint;
    request: SectionRequest;
  },
): Promise<Section> {
  const last = request.after + BigInt(request.max);
  const [logs, known] = await Promise.all([
    filter.isEmpty ? [] : listFinalLogs(rpc, { first, last, filter, range }),
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
  { first, last, filter, range }: { first: bigint; last: bigint; filter: Filter; range: LogRange },
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

/** Logs in which transfers of the tokens and outflows of wallets are found. */
interface Filter {
  /** Whether no log is wanted. */
  readonly isEmpty: boolean;
  readonly params: {
    readonly address: readonly EvmAddress[];
    readonly topics: readonly [readonly Hex[]];
  };
  /** Repeats the filter, because the node is not trusted to apply it. */
  isWanted(log: LogAnswer): boolean;
  /** Reports whether a block with this bloom filter may have a wanted log. */
  mayHold(bloom: Hex | null): boolean;
  /** Reads the logs of one block, in order. */
  read(logs: readonly LogAnswer[]): LogFindings;
}

function createFilter(
  { tokens }: SectionRequest,
  { contracts, evmChainId }: SectionOptions,
): Filter {
  const listed = new Set(tokens.map(toEvmAddress).filter((token) => token !== NATIVE_TOKEN));
  const ours = new Set<EvmAddress>([contracts.factory, contracts.escrow]);
  const addresses = new Set([...listed, ...ours]);
  const topics: readonly Hex[] = listed.size > 0 ? [TRANSFER, ...OUTFLOW_TOPICS] : OUTFLOW_TOPICS;
  const isTransfer = ({ address, topics: [topic] }: LogAnswer) =>
    listed.has(address) && topic === TRANSFER;
  return {
    isEmpty: addresses.size === 0,
    params: { address: [...addresses], topics: [topics] },
    isWanted: ({ address, topics: [topic] }) =>
      addresses.has(address) && topic !== undefined && topics.includes(topic),
    mayHold(bloom) {
      if (bloom === null) return false;
      if (PARTIAL_BLOOMS.has(evmChainId)) return true;
      const has = (item: Hex) => mayContain(bloom, bitsOf(item));
      const hasAny = (some: Iterable<Hex>, of: readonly Hex[]) =>
        [...some].some(has) && of.some(has);
      return hasAny(listed, [TRANSFER]) || hasAny(ours, OUTFLOW_TOPICS);
    },
    read: (logs) => ({
      transfers: toTransfers(logs.filter(isTransfer)),
      outflows: logs.flatMap((log) =>
        ours.has(log.address) ? (toOutflowLog(log, contracts) ?? []) : [],
      ),
    }),
  };
}

/** Bits of addresses and topics; there are as many as listed tokens. */
const known = new Map<Hex, BloomBits>();

function bitsOf(item: Hex): BloomBits {
  const bits = known.get(item) ?? bloomBitsOf(item);
  known.set(item, bits);
  return bits;
}
