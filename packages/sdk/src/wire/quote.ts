/** The quote service: `POST /v3/quote` with a JSON body, or `GET` with the same fields in the query. */
import { Type, type Static } from "typebox";
import { Label, Metadata } from "./details.ts";
import { ErrorObject } from "./errors.ts";
import {
  address,
  baseUnits,
  bps,
  bridgeChainId,
  bytes32,
  nullable,
  oneOf,
  userId,
  uuid,
} from "./fields.ts";

/** Maximum slippage of a request, in basis points. */
export const SLIPPAGE_BPS_MAX = 500;

/** Returns the schema of a switch: a boolean in a body, `true` or `false` as text in a query. */
function flag(description: string) {
  return Type.Union([Type.Boolean(), Type.Literal("true"), Type.Literal("false")], { description });
}

/** Returns the schema of a number, or of its text in a query: decimal, with an optional exponent. */
function numeric(description: string) {
  const text = Type.String({ maxLength: 100, pattern: "^\\d+(\\.\\d+)?([eE][+-]?\\d{1,3})?$" });
  return Type.Union([Type.Number({ minimum: 0 }), text], { description });
}

/**
 * A quote request, as clients send it. Unknown fields are ignored. One of `amountIn64` and `amountIn` is required; the
 * service checks this, and values that depend on the chain. It also treats null and empty text as absent, accepts
 * switches in any case or as 1 and 0, and rounds `slippageBps` to a whole number.
 */
export const QuoteRequest = Type.Object(
  {
    amountIn64: Type.Optional(baseUnits("Amount to send")),
    amountIn: Type.Optional(
      numeric(
        "Amount to send in whole tokens, rounded to the token's decimals; ignored if amountIn64 is set",
      ),
    ),
    fromChain: Type.String({ minLength: 1, description: "Name of the source chain" }),
    fromToken: Type.String({
      minLength: 1,
      description:
        "Source token: address, or symbol in any case; the zero address or `native` for the native coin of any chain",
    }),
    toChain: Type.String({ minLength: 1, description: "Name of the destination chain" }),
    toToken: Type.String({
      minLength: 1,
      description:
        "Destination token: address, or symbol in any case; the zero address or `native` for the native coin of any chain",
    }),
    slippageBps: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 0, maximum: SLIPPAGE_BPS_MAX }),
          Type.String({ pattern: "^(auto|\\d{1,2}|[1-4]\\d{2}|500)$" }),
        ],
        { description: "Slippage in basis points (0 to 500, number or text), or `auto`" },
      ),
    ),
    destinationAddress: Type.Optional(
      Type.String({ description: "Destination wallet; required for a deposit address" }),
    ),
    payDeposit: Type.Optional(flag("Request a deposit address")),
    payUserId: Type.Optional(
      Type.String({
        pattern: "^0x0*[0-9a-fA-F]{1,40}$",
        description: "User of the address: 0x and hex digits whose value fits 20 bytes",
      }),
    ),
    payRoutes: Type.Optional(
      oneOf(
        ["fixed", "governed"],
        "Routes of the address: `fixed` commits it to the present ones permanently, `governed` leaves them to the list of the contracts' owner; absent for the integrator's own choice",
      ),
    ),
    payUnattended: Type.Optional(
      flag(
        "Whether anybody may settle the address 72 hours after an announcement on chain; absent for the integrator's own choice",
      ),
    ),
    payLabel: Type.Optional(Label),
    payMetadata: Type.Optional(Metadata),
    swift: Type.Optional(flag("False excludes SWIFT routes")),
    mctp: Type.Optional(flag("Accepted without effect: there are no MCTP routes")),
    fastMctp: Type.Optional(flag("False excludes FAST_MCTP routes")),
    monoChain: Type.Optional(flag("False excludes routes within one chain")),
    wormhole: Type.Optional(flag("Accepted without effect: there are no routes of this kind")),
    shuttle: Type.Optional(flag("Accepted without effect: there are no routes of this kind")),
    gasless: Type.Optional(flag("Accepted without effect: the payer sends the deposit")),
    onlyDirect: Type.Optional(flag("Accepted without effect: no route swaps at the source")),
    fullList: Type.Optional(flag("Return every quote, not only the fastest and the best")),
    gasDrop: Type.Optional(
      numeric("Accepted without effect: the service drops no native coin, and quotes return 0"),
    ),
    referrer: Type.Optional(
      Type.String({ description: "Accepted without effect: the service pays no referrer" }),
    ),
    referrerBps: Type.Optional(
      numeric("Accepted without effect: the service pays no referrer, and quotes return 0"),
    ),
    sdkVersion: Type.Optional(
      Type.String({
        description: "Version of the client, numbers joined by underscores",
        examples: ["15_2_0"],
      }),
    ),
  },
  {
    $id: "QuoteRequest",
    additionalProperties: true,
    description:
      "A quote request. Fields that begin with `pay` may begin with `mps` instead, as in some clients of the published interface; " +
      "the response then uses the same prefix",
  },
);
/** A quote request. */
export type QuoteRequest = Static<typeof QuoteRequest>;

const tokenFields = {
  name: Type.String({ description: "Name of the token" }),
  symbol: Type.String({ description: "Symbol of the token" }),
  contract: address("Contract or mint; zero is the native coin"),
  mint: Type.Optional(Type.String({ description: "Mint on Solana; absent elsewhere" })),
  chainId: Type.Integer({
    minimum: 0,
    description: "EIP-155 chain id; 0 if the chain is not EVM",
  }),
  wChainId: bridgeChainId("Chain of the token"),
  decimals: Type.Integer({ minimum: 0, maximum: 255, description: "Decimals of the token" }),
  logoURI: Type.Optional(Type.String({ description: "URL of the token's logo, if known" })),
  coingeckoId: Type.Optional(Type.String({ description: "CoinGecko id, if known" })),
  standard: oneOf(["native", "erc20", "spl", "spl2022"], "Standard of the token"),
  verified: Type.Boolean({ description: "Whether the operator listed the token" }),
};

/** A token of a quote. Inside `Quote`, which has two, it is used without `$id`: an id may occur only once in a schema. */
export const QuoteToken = Type.Object(tokenFields, {
  $id: "QuoteToken",
  description: "A token of a quote",
});
/** A token of a quote. */
export type QuoteToken = Static<typeof QuoteToken>;

/**
 * The whole preimage of a deposit address. From it anyone can compute an EVM address offline, or verify the signature
 * that binds a Solana address. Values shorter than 32 bytes are left-padded with zeros.
 */
export const PayDepositCommitment = Type.Object(
  {
    domain: Type.Optional(
      Type.String({
        description: "Text whose keccak-256 is the first word of the preimage",
        examples: ["sluice.deposit.v1"],
      }),
    ),
    version: Type.Integer({ minimum: 1, maximum: 65535, description: "Version of the format" }),
    walletKind: Type.Integer({
      minimum: 1,
      maximum: 65535,
      description: "Kind of wallet contract",
    }),
    integrator: bytes32("UUID of the integrator"),
    userId: bytes32("User id (20 bytes)"),
    destChain: bridgeChainId("Destination chain"),
    destWallet: bytes32("Destination wallet"),
    destToken: bytes32("Destination token, zero for the native coin"),
    refundAuthority: bytes32(
      "Account that can take the funds back, or that receives refunds, on the source chain",
    ),
    maxFeeBps: bps("Maximum of all fees together"),
    maxSlippageBps: bps("Maximum additional loss of a conversion at market price"),
    routes: Type.Optional(
      bytes32("Root of the set of routes that may settle the address; absent without a set"),
    ),
    flags: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65535,
        description: "Bit 0 allows a settlement without the operator; absent if 0",
      }),
    ),
    routeSet: Type.Optional(
      Type.Array(
        Type.Object({
          evmChainId: Type.Integer({ minimum: 1, description: "EIP-155 id of the source chain" }),
          route: address("Contract of the route"),
        }),
        {
          description:
            "The routes behind `routes`, which each settlement proves; absent without a set",
        },
      ),
    ),
    factory: address("Factory that deploys the wallet; on Solana the account that signs bindings"),
    implementation: Type.Optional(address("Implementation of the wallet; absent on Solana")),
    commitment: bytes32("Hash of the fields, the CREATE2 salt"),
    binding: Type.Optional(
      Type.String({
        pattern: "^0x[0-9a-f]{128}$",
        description:
          "Signature of `factory` over commitment and address, 0x and 128 lower-case hex digits; only on Solana",
      }),
    ),
  },
  { $id: "PayDepositCommitment", description: "The preimage of a deposit address" },
);
/** The preimage of a deposit address. */
export type PayDepositCommitment = Static<typeof PayDepositCommitment>;

/** Quote kinds. `SWIFT`, `MONO_CHAIN` and direct `FAST_MCTP` are eligible for a deposit address. */
export const QUOTE_TYPES = ["SWIFT", "MONO_CHAIN", "FAST_MCTP", "MCTP", "WH", "SHUTTLE"] as const;
/** The kind of a quote. */
export type QuoteType = (typeof QUOTE_TYPES)[number];

/** The fees of a settlement of the quoted amount, itemized. */
export const QuoteFees = Type.Object(
  {
    service: baseUnits("Fee of the service"),
    gas: baseUnits("Gas of the settlement; 0 if the operator pays it"),
    bridge: baseUnits("Maximum fee of a bridge"),
  },
  {
    $id: "QuoteFees",
    description:
      "Fees deducted from the amount, in base units of the source token. `gas` is an estimate, fixed when the settlement is sent",
  },
);
/** The fees of a settlement of the quoted amount, itemized. */
export type QuoteFees = Static<typeof QuoteFees>;

/** One quote. Numeric amounts are in whole tokens and for display; exact amounts are strings. */
export const Quote = Type.Object(
  {
    type: oneOf(QUOTE_TYPES, "Kind of the route"),
    quoteId: Type.String({ description: "Id of the quote" }),
    effectiveAmountIn: Type.Number({ description: "Amount sent, in whole tokens" }),
    effectiveAmountIn64: baseUnits("Amount sent"),
    expectedAmountOut: Type.Number({ description: "Expected output, in whole tokens" }),
    expectedAmountOutBaseUnits: baseUnits("Expected output"),
    minAmountOut: Type.Number({ description: "Minimum output, in whole tokens" }),
    minReceived: Type.Number({ description: "Minimum output after all fees, in whole tokens" }),
    minReceivedBaseUnits: baseUnits("Minimum output after all fees"),
    price: Type.Number({ description: "Destination tokens per source token" }),
    priceImpact: Type.Number({ description: "Price impact in percent" }),
    slippageBps: Type.Number({ minimum: 0, description: "Slippage applied, in basis points" }),
    gasDrop: Type.Number({ minimum: 0, description: "Native coin dropped, in whole coins" }),
    bridgeFee: Type.Number({
      minimum: 0,
      description: "Fees deducted from the output, in whole destination tokens",
    }),
    protocolBps: Type.Number({ minimum: 0, description: "Fee of the service, in basis points" }),
    fees: Type.Optional(QuoteFees),
    minDeposit: Type.Optional(
      Type.String({
        pattern: "^\\d+(\\.\\d+)?$",
        description:
          "Minimum deposit of the source token, in whole tokens; absent if there is none",
        examples: ["0.5"],
      }),
    ),
    belowMinimum: Type.Optional(
      Type.Boolean({
        description:
          "True if the amount is below `minDeposit`: it would not be settled, and the quote has no deposit address",
      }),
    ),
    referrerBps: Type.Number({ minimum: 0, description: "Fee of the referrer, in basis points" }),
    eta: Type.Number({ minimum: 0, description: "Expected time to delivery, in minutes" }),
    etaSeconds: Type.Number({ minimum: 0, description: "Expected time to delivery, in seconds" }),
    clientEta: Type.String({ description: "Expected time to delivery, as text for people" }),
    deadline64: Type.String({
      pattern: "^\\d+$",
      description: "Expiry of the quote, Unix time in seconds, a decimal string",
    }),
    fromToken: Type.Object(tokenFields, { description: "The token that is sent" }),
    fromChain: Type.String({ description: "Name of the source chain" }),
    toToken: Type.Object(tokenFields, { description: "The token that is delivered" }),
    toChain: Type.String({ description: "Name of the destination chain" }),
    payDepositAddress: nullable(
      address("The deposit address"),
      "The deposit address on the source chain; null if the quote is not eligible",
    ),
    payIntegratorId: uuid("Id of the integrator"),
    payUserId: userId("User of the address, zero if none was sent"),
    payDepositCommitment: Type.Optional(PayDepositCommitment),
  },
  { $id: "Quote", description: "One quote" },
);
/** One quote. */
export type Quote = Static<typeof Quote>;

/** Response of the quote service. */
export const QuoteResponse = Type.Object(
  {
    quotes: Type.Array(Quote, { description: "The fastest and the best quote, or all of them" }),
    minimumSdkVersion: Type.Unsafe<[number, number, number]>(
      Type.Array(Type.Integer({ minimum: 0 }), {
        minItems: 3,
        maxItems: 3,
        description: "Oldest supported client version: major, minor, patch",
        examples: [[7, 0, 0]],
      }),
    ),
  },
  { $id: "QuoteResponse", description: "Quotes for a request" },
);
/** Response of the quote service. */
export type QuoteResponse = Static<typeof QuoteResponse>;

/**
 * The body of every error response of the quote service. Clients of the published interface read the top level,
 * clients of the rest of the interface the error object.
 */
export const QuoteErrorResponse = Type.Object(
  {
    error: ErrorObject,
    code: ErrorObject.properties.code,
    statusCode: Type.Integer({ minimum: 400, maximum: 599, description: "The HTTP status" }),
    message: ErrorObject.properties.message,
    msg: ErrorObject.properties.message,
  },
  {
    $id: "QuoteErrorResponse",
    description: "The body of every error response of the quote service",
  },
);
/** The body of every error response of the quote service. */
export type QuoteErrorResponse = Static<typeof QuoteErrorResponse>;
