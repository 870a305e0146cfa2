/** Facts beside an event, for readers that ask for `extended`. Additions to the published interface. */
import { Type, type Static } from "typebox";
import { address, baseUnits, bridgeChainIdText, nullable, oneOf, userId, uuid } from "./fields.ts";

/** Deposits that details list at most. */
export const DETAILS_DEPOSITS_MAX = 20;

/** Most keys of an address's metadata. */
export const METADATA_KEYS_MAX = 20;
/** One character that is neither a control character nor half of a pair, which the database cannot store. */
const CHARACTER = "(?:[\\ud800-\\udbff][\\udc00-\\udfff]|[^\\u0000-\\u001f\\u007f\\ud800-\\udfff])";

/** The integrator's own name of an address. */
export const Label = Type.String({
  pattern: `^${CHARACTER}{1,200}$`,
  description: "The integrator's own name of the address, 1 to 200 characters",
});

/** The integrator's own facts about an address. */
export const Metadata = Type.Record(
  Type.String({ pattern: `^${CHARACTER}{1,40}$` }),
  Type.String({ pattern: `^${CHARACTER}{0,200}$` }),
  {
    maxProperties: METADATA_KEYS_MAX,
    additionalProperties: false,
    description:
      "The integrator's own facts about the address: at most 20 keys of 1 to 40 characters, values of at most 200",
  },
);
/** The integrator's own facts about an address. */
export type Metadata = Readonly<Record<string, string>>;

/** What the integrator noted about an address, in every addition that names the address. */
export const noteFields = {
  label: nullable(Label, "The integrator's name of the address; null without one"),
  metadata: Metadata,
};

// Without a name: two schemas of one answer contain it, and serializers reject a name twice.
const detailsDeposit = Type.Object({
  id: uuid("Id of the deposit, as in `GET /deposits`"),
  amount: baseUnits("Amount that arrived"),
  txHash: nullable(
    Type.String({ description: "Transaction hash or signature" }),
    "Transaction of the deposit; null if it was found by balance",
  ),
  sender: nullable(address("Sender"), "Sender; null if the deposit was found by balance"),
  blockNumber: Type.Integer({ minimum: 0, description: "Block of the deposit" }),
});
const addressFields = {
  depositAddressId: uuid("Id of the deposit address"),
  userId: userId("The user of the address"),
  ...noteFields,
};
const depositsFields = {
  deposits: Type.Array(detailsDeposit, {
    maxItems: DETAILS_DEPOSITS_MAX,
    description: "The first deposits in the order of the chain, at most 20",
  }),
  moreDeposits: Type.Boolean({
    description:
      "Whether there are more deposits than those listed; read them from `GET /deposits`",
  }),
};

/** Details of `deposit_detected`. */
export const DepositDetectedDetails = Type.Object(
  {
    ...addressFields,
    settlementId: nullable(
      uuid("The settlement"),
      "Settlement that the deposit joined; null if it has none yet",
    ),
    amount: baseUnits("Sum of all deposits of the event"),
    ...depositsFields,
  },
  {
    $id: "DepositDetectedDetails",
    description: "Facts about the deposits of one token in one address in one block",
  },
);
/** Details of `deposit_detected`. */
export type DepositDetectedDetails = Static<typeof DepositDetectedDetails>;
/** One deposit in the details of an event. */
export type DetailsDeposit = DepositDetectedDetails["deposits"][number];

const refundFields = {
  ...addressFields,
  refundTo: address("The refund authority, the only possible recipient"),
};

/** Details of `refund_detected` and `refund_final`. */
export const RefundDetectedDetails = Type.Object(refundFields, {
  $id: "RefundDetectedDetails",
  description: "Facts about a refund on the chain",
});
/** Details of `refund_detected` and `refund_final`. */
export type RefundDetectedDetails = Static<typeof RefundDetectedDetails>;

/** Details of `refund_changed`. */
export const RefundChangedDetails = Type.Object(refundFields, {
  $id: "RefundChangedDetails",
  description: "Facts about a refund of the service",
});
/** Details of `refund_changed`. */
export type RefundChangedDetails = Static<typeof RefundChangedDetails>;

/** The ways to deliver. */
export const DETAILS_ROUTES = ["MONO_CHAIN", "SWIFT", "FAST_MCTP"] as const;

/** The fees that a completed settlement took. */
export const SettlementFees = Type.Object(
  {
    service: baseUnits("The service's share, of the source token"),
    gas: baseUnits("Gas, of the source token; 0 where the operator pays it"),
    bridge: baseUnits("Kept by the bridge, of the destination token; 0 without a bridge"),
  },
  { $id: "SettlementFees", description: "Fees that were taken, as in the ledger" },
);
/** The fees that a completed settlement took. */
export type SettlementFees = Static<typeof SettlementFees>;

/** Details of `status_changed`. */
export const StatusChangedDetails = Type.Object(
  {
    ...addressFields,
    settlementId: uuid("The settlement, `queueItemId` of the data"),
    ...depositsFields,
    amount: nullable(
      baseUnits("Amount of the source token"),
      "Amount that was swept; before that, the amount that was planned or detected; null if neither is known",
    ),
    route: nullable(oneOf(DETAILS_ROUTES, "The route"), "The route; null before one is chosen"),
    sweepTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Settlement transaction on the source chain; null until it is mined",
    ),
    destChain: bridgeChainIdText("Destination chain"),
    destWallet: address("Destination wallet"),
    destToken: address("Destination token"),
    promisedAmount: nullable(
      baseUnits("Amount of the destination token"),
      "The least that the contracts let the recipient receive; null until the sweep is mined",
    ),
    deliveredAmount: nullable(
      baseUnits("Amount of the destination token"),
      "Amount that the recipient received; null until the settlement is completed",
    ),
    deliveryTxHash: nullable(
      Type.String({ description: "Transaction hash or signature" }),
      "Transaction on the destination chain that paid the recipient; null until the settlement is completed",
    ),
    fees: nullable(SettlementFees, "Fees that were taken; null until the settlement is completed"),
  },
  { $id: "StatusChangedDetails", description: "Facts about a settlement when its status changed" },
);
/** Details of `status_changed`. */
export type StatusChangedDetails = Static<typeof StatusChangedDetails>;
