/** Exports of deposits, settlements and events over a time range. Additions to the published interface. */
import { Type, type Static } from "typebox";
import { Deposit } from "./deposit.ts";
import { noteFields } from "./details.ts";
import { nullable, oneOf, timestampInput, uuid } from "./fields.ts";
import { Settlement } from "./settlement.ts";
import { Swap } from "./swap.ts";

/** The objects that are exported. */
export const EXPORT_KINDS = ["deposits", "settlements", "events"] as const;
/** The objects that are exported. */
export type ExportKind = (typeof EXPORT_KINDS)[number];
/** The formats of an export: comma-separated values with a header, or one JSON object per line. */
export const EXPORT_FORMATS = ["csv", "jsonl"] as const;
/** A format of an export. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** Media types of the formats. */
export const EXPORT_MEDIA: Readonly<Record<ExportFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  jsonl: "application/x-ndjson; charset=utf-8",
};

/** Query of the exports. */
export const ExportQuery = Type.Object(
  {
    format: Type.Optional(
      oneOf(
        EXPORT_FORMATS,
        "`jsonl` (default): one JSON object per line; `csv`: comma-separated values with a header",
      ),
    ),
    from: Type.Optional(timestampInput("Only detected or created at or after this time")),
    to: Type.Optional(timestampInput("Only detected or created before this time")),
  },
  { $id: "ExportQuery", description: "Format and time range of an export" },
);
/** Query of the exports. */
export type ExportQuery = Static<typeof ExportQuery>;

const token = (of: string) => ({
  symbol: nullable(
    Type.String({ description: "Symbol of a token" }),
    `Symbol of the ${of} token; null if it is not listed`,
  ),
  decimals: nullable(
    Type.Integer({ minimum: 0, maximum: 255, description: "Decimals of a token" }),
    `Decimals of the ${of} token; null if it is not listed`,
  ),
});
const source = token("source");
const destination = token("destination");

/** Line of an export of deposits. */
export const ExportedDeposit = Type.Object(
  { ...Deposit.properties, tokenSymbol: source.symbol, tokenDecimals: source.decimals },
  { $id: "ExportedDeposit", description: "A deposit with the symbol and decimals of its token" },
);
/** Line of an export of deposits. */
export type ExportedDeposit = Static<typeof ExportedDeposit>;

/** Line of an export of settlements. */
export const ExportedSettlement = Type.Object(
  {
    ...Swap.properties,
    tokenSymbol: source.symbol,
    tokenDecimals: source.decimals,
    destTokenSymbol: destination.symbol,
    destTokenDecimals: destination.decimals,
    depositAddressId: uuid("Id of the deposit address"),
    ...noteFields,
    route: Settlement.properties.route,
    sweptAmount: Settlement.properties.sweptAmount,
    promisedAmount: Settlement.properties.promisedAmount,
    deliveredAmount: Settlement.properties.deliveredAmount,
    deliveryTxHash: Settlement.properties.deliveryTxHash,
    fees: Settlement.properties.fees,
  },
  {
    $id: "ExportedSettlement",
    description: "A settlement with the amounts that were swept, delivered and taken",
  },
);
/** Line of an export of settlements. */
export type ExportedSettlement = Static<typeof ExportedSettlement>;
