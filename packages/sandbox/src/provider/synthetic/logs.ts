/** `eth_getLogs`: the logs of a block or of a range under a filter. */
import { asRecord } from "../../json-file.ts";
import type { Blocks } from "./blocks.ts";
import type { SyntheticTransfer } from "./contents.ts";
import type { DepositBook } from "./deposits.ts";
import type { BlockId, History } from "./history.ts";
import { type JsonWriter, TRANSFER_TOPIC } from "./json.ts";
import type { Noise } from "./noise.ts";

/** Most logs of one answer, so that a mistaken range does not exhaust the memory. */
export const LOGS_MAX = 200_000;

/** A filter; an undefined part matches everything. */
interface Filter {
  readonly tokens: ReadonlySet<string> | undefined;
  readonly signatures: ReadonlySet<string> | undefined;
  readonly from: ReadonlySet<string> | undefined;
  readonly to: ReadonlySet<string> | undefined;
}

export interface LogReader {
  /** Returns the JSON of the matching logs from `first` to `last`. Throws a `RangeError` above `LOGS_MAX`. */
  read(filter: unknown, first: number, last: number): Buffer;
}

export function createLogReader(options: {
  readonly blocks: Blocks;
  readonly history: History;
  readonly deposits: DepositBook;
  readonly noise: Noise;
  readonly writer: JsonWriter;
}): LogReader {
  const { blocks, history, deposits, noise, writer } = options;

  /** Reports whether a stranger's transfer can match. If not, only blocks with deposits need to be made. */
  function matchesStrangers({ signatures, from, to }: Filter): boolean {
    if (signatures !== undefined && !signatures.has(TRANSFER_TOPIC)) return false;
    return [from, to].every((topics) => topics === undefined || [...topics].some(noise.isAccount));
  }

  function readBlock(
    filter: Filter,
    id: BlockId,
  ): { readonly json: Buffer; readonly count: number } {
    const block = blocks.get(id);
    const { transfers } = block.contents;
    const matching = transfers.filter((transfer) => matches(filter, transfer));
    const json =
      matching.length === transfers.length
        ? blocks.allLogs(id)
        : Buffer.from(matching.map((transfer) => writer.log(block, transfer)).join(","));
    return { json, count: matching.length };
  }

  return {
    read: (input, first, last) => {
      const filter = parseFilter(input);
      const heights = matchesStrangers(filter)
        ? Array.from({ length: last - first + 1 }, (_, index) => first + index)
        : deposits.heights(first, last);
      const parts: Buffer[] = [];
      let total = 0;
      for (const height of heights) {
        const { json, count } = readBlock(filter, history.blockAt(height));
        total += count;
        if (total > LOGS_MAX) throw new RangeError(`query returned more than ${LOGS_MAX} results`);
        if (count > 0) parts.push(parts.length === 0 ? json : Buffer.concat([COMMA, json]));
      }
      return Buffer.concat([OPEN, ...parts, CLOSE]);
    },
  };
}

const COMMA = Buffer.from(",");
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

function matches({ tokens, signatures, from, to }: Filter, transfer: SyntheticTransfer): boolean {
  return (
    (tokens === undefined || tokens.has(transfer.token)) &&
    (signatures === undefined || signatures.has(TRANSFER_TOPIC)) &&
    (from === undefined || from.has(transfer.from)) &&
    (to === undefined || to.has(transfer.to))
  );
}

function parseFilter(input: unknown): Filter {
  const { address, topics } = asRecord(input) ?? {};
  const [signatures, from, to]: unknown[] = Array.isArray(topics) ? topics : [];
  return {
    tokens: parseSet(address),
    signatures: parseSet(signatures),
    from: parseSet(from),
    to: parseSet(to),
  };
}

/** Returns the values of one position; undefined for null, an empty list or nothing. */
function parseSet(value: unknown): ReadonlySet<string> | undefined {
  const values = Array.isArray(value) ? value : [value];
  const texts = values.filter((one) => typeof one === "string").map((one) => one.toLowerCase());
  return texts.length === 0 ? undefined : new Set(texts);
}
