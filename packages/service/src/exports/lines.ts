/**
 * Exports of an integrator's deposits, settlements and events over a time range. One page of rows is in memory at a time, and
 * no connection is held between pages. Amounts are base units, with the symbol and decimals of the token beside them.
 */
import type {
  ExportedDeposit,
  ExportedSettlement,
  ExportFormat,
  ExportKind,
  ExtendedEventItem,
} from "@sluice/sdk/wire";
import { assert } from "../core/assert.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { iterateDeposits } from "../deposits/index.ts";
import { iterateEvents } from "../events/index.ts";
import { HEIGHTS_OF_DEPOSIT } from "../scanner/index.ts";
import { iterateSwaps, listDetails, STATUS_OF_DEPOSIT } from "../settlements/index.ts";
import { formatCsvLine, textAt } from "./csv.ts";

export interface ExportDeps {
  readonly db: Db;
  readonly display: (address: Address) => string;
  /** The listed tokens of every chain. */
  readonly chains: readonly {
    readonly chainId: number;
    readonly tokens: readonly {
      readonly address: Address;
      readonly symbol: string;
      readonly decimals: number;
    }[];
  }[];
}

export interface ExportRequest {
  readonly integratorId: string;
  readonly kind: ExportKind;
  readonly format: ExportFormat;
  /** Detected or created at or after. */
  readonly from?: string | undefined;
  /** Detected or created before. */
  readonly to?: string | undefined;
}

/** Yields the lines of an export, without ends of lines, a page of rows at a time; of CSV the header first. */
export async function* exportLines(
  deps: ExportDeps,
  { integratorId, kind, format, from, to }: ExportRequest,
): AsyncGenerator<readonly string[], void> {
  const columns = COLUMNS[kind];
  const formatLine: (item: object) => string =
    format === "jsonl"
      ? JSON.stringify
      : (item) => formatCsvLine(columns.map((path) => textAt(item, path)));
  if (format === "csv") yield [formatCsvLine(columns)];
  for await (const items of iterate(deps, kind, { integratorId, from, to })) {
    yield items.map((item) => formatLine(item));
  }
}

type Range = Pick<ExportRequest, "integratorId" | "from" | "to">;

function iterate(
  deps: ExportDeps,
  kind: ExportKind,
  { integratorId, ...range }: Range,
): AsyncGenerator<readonly (ExportedDeposit | ExportedSettlement | ExtendedEventItem)[], void> {
  if (kind === "events") return iterateEvents(deps.db, integratorId, range);
  return kind === "deposits"
    ? withTokens(deps, integratorId, range)
    : withDetails(deps, integratorId, range);
}

async function* withTokens(
  deps: ExportDeps,
  integratorId: string,
  range: Omit<Range, "integratorId">,
): AsyncGenerator<readonly ExportedDeposit[], void> {
  const { db, display } = deps;
  const tokenOf = createTokens(deps);
  const view = { ...range, display, heights: HEIGHTS_OF_DEPOSIT, status: STATUS_OF_DEPOSIT };
  for await (const page of iterateDeposits(db, integratorId, view)) {
    yield page.map((deposit) => {
      const { symbol, decimals } = tokenOf(deposit.chainId, deposit.tokenAddress);
      return { ...deposit, tokenSymbol: symbol, tokenDecimals: decimals };
    });
  }
}

async function* withDetails(
  deps: ExportDeps,
  integratorId: string,
  range: Omit<Range, "integratorId">,
): AsyncGenerator<readonly ExportedSettlement[], void> {
  const { db, display } = deps;
  const tokenOf = createTokens(deps);
  for await (const page of iterateSwaps(db, integratorId, { ...range, display })) {
    const ids = page.map(({ id }) => id);
    const read = await listDetails(db, ids, display);
    yield page.map((swap) => {
      const found = read.get(swap.id);
      assert(found, "a settlement has details");
      const { details, sweptAmount } = found;
      const token = tokenOf(swap.chainId, swap.tokenAddress);
      const destToken = tokenOf(Number(swap.destChain), swap.destToken);
      return {
        ...swap,
        tokenSymbol: token.symbol,
        tokenDecimals: token.decimals,
        destTokenSymbol: destToken.symbol,
        destTokenDecimals: destToken.decimals,
        depositAddressId: details.depositAddressId,
        label: details.label,
        metadata: details.metadata,
        route: details.route,
        sweptAmount,
        promisedAmount: details.promisedAmount,
        deliveredAmount: details.deliveredAmount,
        deliveryTxHash: details.deliveryTxHash,
        fees: details.fees,
      };
    });
  }
}

/** Returns a function that finds a listed token by its displayed address. */
function createTokens({ chains, display }: ExportDeps) {
  const listed = new Map(
    chains.flatMap(({ chainId, tokens }) =>
      tokens.map((token) => [`${chainId}:${display(token.address)}`, token] as const),
    ),
  );
  return (chainId: number, address: string) =>
    listed.get(`${chainId}:${address}`) ?? { symbol: null, decimals: null };
}

/** Columns of the CSV files: paths of the JSON lines. New ones are added at the end. */
const COLUMNS: Readonly<Record<ExportKind, readonly string[]>> = {
  deposits: [
    "id",
    "detectedAt",
    "chainId",
    "walletAddress",
    "depositAddressId",
    "userId",
    "label",
    "metadata",
    "tokenAddress",
    "tokenSymbol",
    "tokenDecimals",
    "amount",
    "txHash",
    "sender",
    "blockNumber",
    "finality",
    "confirmations",
    "confirmationsRequired",
    "queued",
    "ignoredReason",
    "queueItemId",
    "outcome",
  ],
  settlements: [
    "id",
    "createdAt",
    "updatedAt",
    "status",
    "terminal",
    "chainId",
    "walletAddress",
    "depositAddressId",
    "userId",
    "label",
    "metadata",
    "tokenAddress",
    "tokenSymbol",
    "tokenDecimals",
    "amount",
    "sweptAmount",
    "fees.service",
    "fees.gas",
    "swapTxHash",
    "route",
    "destChain",
    "destWallet",
    "destToken",
    "destTokenSymbol",
    "destTokenDecimals",
    "promisedAmount",
    "deliveredAmount",
    "fees.bridge",
    "deliveryTxHash",
    "retryCount",
    "error.code",
    "error.message",
  ],
  events: [
    "id",
    "timestamp",
    "type",
    "data.chainId",
    "data.walletAddress",
    "data.tokenAddress",
    "data.queueItemId",
    "data.status",
    "data.prevStatus",
    "details.depositAddressId",
    "details.userId",
    "details.label",
    "details.metadata",
    "details.amount",
    "details.deliveredAmount",
    "data",
    "details",
  ],
};
