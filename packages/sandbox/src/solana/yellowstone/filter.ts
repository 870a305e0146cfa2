/** The filters of a subscription that the stand-in serves. */
import { type Level, LEVELS } from "./block-json.ts";
import type { SlotBlock } from "./follower.ts";
import {
  isVote,
  type UpdateMessage,
  writeBlockMeta,
  writeStatus,
  writeTransaction,
} from "./messages.ts";

/** A `SubscribeRequest`, as the loader gives it. */
export interface SubscribeRequest {
  readonly transactions?: Filters;
  readonly transactions_status?: Filters;
  readonly blocks_meta?: Filters;
  readonly commitment?: "PROCESSED" | "CONFIRMED" | "FINALIZED" | number;
  readonly ping?: { readonly id: number } | null;
  readonly from_slot?: string | null;
  readonly [other: string]: unknown;
}

type Filters = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Filter {
  readonly level: Level;
  /** Returns the messages of a block, in the order of its transactions, its head last. */
  select(block: SlotBlock): readonly UpdateMessage[];
}

const SERVED: readonly string[] = ["transactions", "transactions_status", "blocks_meta"];
const NOT_FILTERS: readonly string[] = [
  "commitment",
  "ping",
  "from_slot",
  "_commitment",
  "_ping",
  "_from_slot",
];
const OUTCOMES: readonly string[] = ["vote", "failed", "_vote", "_failed"];

/** Returns the filter of a request, or why it is refused. */
export function createFilter(request: SubscribeRequest): Filter | string {
  for (const [name, value] of Object.entries(request)) {
    if (SERVED.includes(name) || NOT_FILTERS.includes(name)) continue;
    if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
      return `the stand-in has no filter ${name}`;
    }
  }
  const {
    transactions = {},
    transactions_status: statuses = {},
    blocks_meta: metas = {},
  } = request;
  for (const filter of [...Object.values(transactions), ...Object.values(statuses)]) {
    const unknown = Object.entries(filter).find(
      ([name, value]) =>
        !OUTCOMES.includes(name) && value !== null && !(Array.isArray(value) && value.length === 0),
    );
    if (unknown) return `the stand-in has no filter by ${unknown[0]}`;
  }
  return {
    level: levelOf(request.commitment),
    select: ({ slot, block }) => [
      ...block.transactions.flatMap((landed, index): UpdateMessage[] => {
        const outcome = { vote: isVote(landed), failed: landed.meta.err !== null };
        const full = namesOf(transactions, outcome);
        const short = namesOf(statuses, outcome);
        return [
          ...(full.length > 0
            ? [
                {
                  filters: full,
                  transaction: { slot: String(slot), transaction: writeTransaction(landed, index) },
                },
              ]
            : []),
          ...(short.length > 0
            ? [{ filters: short, transaction_status: writeStatus(slot, landed, index) }]
            : []),
        ];
      }),
      ...(Object.keys(metas).length > 0
        ? [{ filters: Object.keys(metas), block_meta: writeBlockMeta(slot, block) }]
        : []),
    ],
  };
}

function levelOf(commitment: SubscribeRequest["commitment"]): Level {
  const name = typeof commitment === "number" ? LEVELS[commitment] : commitment?.toLowerCase();
  return LEVELS.find((level) => level === name) ?? "processed";
}

/** Returns the names of the filters that select a transaction. */
function namesOf(
  filters: Filters,
  outcome: { readonly vote: boolean; readonly failed: boolean },
): readonly string[] {
  return Object.entries(filters)
    .filter(([, { vote, failed }]) => isOr(vote, outcome.vote) && isOr(failed, outcome.failed))
    .map(([name]) => name);
}

function isOr(wanted: unknown, found: boolean): boolean {
  return wanted === undefined || wanted === null || wanted === found;
}
