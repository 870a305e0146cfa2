/** The quote service: `POST /v3/quote` with a JSON body, or `GET` with the same fields in the query. */
import { Type, type Static } from "typebox";
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

/** The largest slippage that a request may ask for, in basis points. */
export const SLIPPAGE_BPS_MAX = 500;

/** A switch: a boolean in a body, `true` or `false` as text in a query. */
function flag(description: string) {
  return Type.Union([Type.Boolean(), Type.Literal("true"), Type.Literal("false")], { description });
}

/** A number, or its text in a query, in the form that languages print it. */
function numeric(description: string) {
  const text = Type.String({ maxLength: 100, pattern: "^\\d+(\\.\\d+)?([eE][+-]?\\d{1,3})?$" });
  return Type.Union([Type.Number({ minimum: 0 }), text], { description });
}

/**
 * A request for quotes, as clients send it. Fields that are not named here are ignored. One of `amountIn64` and
 * `amountIn` is needed; that, and values that depend on the chain, are checked by the service. It also takes null and
 * empty text for what is absent, switches in any case or as 1 and 0, and rounds `slippageBps` to a whole number.
 */
export const QuoteRequest = Type.Object(
  {
    amountIn64: Type.Optional(baseUnits("Amount to send")),
    amountIn: Type.Optional(
      numeric(
        "Amount to send in whole tokens, rounded to the token's decimals; amountIn64 goes first",
      ),
    ),
    fromChain: Type.String({ minLength: 1, description: "Name of the source chain" }),
    fromToken: Type.String({
      minLength: 1,
      description: "Source token; the zero address and `native` are the native coin of any chain",
    }),
    toChain: Type.String({ minLength: 1, description: "Name of the destination chain" }),
    toToken: Type.String({
      minLength: 1,
      description:
        "Destination token; the zero address and `native` are the native coin of any chain",
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
      Type.String({ description: "Where funds settle; needed for a deposit address" }),
    ),
    payDeposit: Type.Optional(flag("Ask for a deposit address")),
    payUserId: Type.Optional(
      Type.String({
        pattern: "^0x0*[0-9a-fA-F]{1,40}$",
        description: "User to bind the address to: 0x and hex digits whose value fits 20 bytes",
      }),
    ),
    swift: Type.Optional(flag("False leaves SWIFT routes out")),
    mctp: Type.Optional(flag("Taken; no route here is MCTP")),
    fastMctp: Type.Optional(flag("False leaves FAST_MCTP routes out")),
    monoChain: Type.Optional(flag("False leaves routes within one chain out")),
    wormhole: Type.Optional(flag("Taken; no route here is of that kind")),
    shuttle: Type.Optional(flag("Taken; no route here is of that kind")),
    gasless: Type.Optional(flag("Taken; deposits are sent by their payer")),
    onlyDirect: Type.Optional(flag("Taken; no route here swaps at the source")),
    fullList: Type.Optional(flag("Return every quote, not only the fastest and the best")),
    gasDrop: Type.Optional(numeric("Taken; the service drops no native coin, and quotes say 0")),
    referrer: Type.Optional(Type.String({ description: "Taken; the service pays no referrer" })),
    referrerBps: Type.Optional(numeric("Taken; the service pays no referrer, and quotes say 0")),
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
      "What to quote. Fields that begin with `pay` may be spelled with `mps`, as clients of the original service do, and " +
      "are answered in that spelling then",
  },
);
/** A request for quotes. */
export type QuoteRequest = Static<typeof QuoteRequest>;

const tokenFields = {
  name: Type.String({ description: "Name of the token" }),
  symbol: Type.String({ description: "Symbol of the token" }),
  contract: address("Contract or mint; zero is the native coin"),
  mint: Type.Optional(Type.String({ description: "Mint on Solana; absent elsewhere" })),
  chainId: Type.Integer({
    minimum: 0,
    description: "EIP-155 id of an EVM chain; 0 where the chain is not EVM",
  }),
  wChainId: bridgeChainId("Chain of the token"),
  decimals: Type.Integer({ minimum: 0, maximum: 255, description: "Decimals of the token" }),
  logoURI: Type.Optional(Type.String({ description: "Address of a picture, where known" })),
  coingeckoId: Type.Optional(Type.String({ description: "Id at CoinGecko, where known" })),
  standard: oneOf(["native", "erc20", "spl", "spl2022"], "Standard of the token"),
  verified: Type.Boolean({ description: "Whether the operator listed the token" }),
};

/** A token of a quote. A quote has two, so they carry no `$id` there: an id may occur once in a schema. */
export const QuoteToken = Type.Object(tokenFields, {
  $id: "QuoteToken",
  description: "A token of a quote",
});
/** A token of a quote. */
export type QuoteToken = Static<typeof QuoteToken>;

/**
 * The preimage of a deposit address, all of it: with these fields anyone computes the address without asking, or checks
 * on Solana who vouches for it.
 * 32-byte fields hold shorter values padded with zeros on the left.
 */
export const PayDepositCommitment = Type.Object(
  {
    domain: Type.Optional(
      Type.String({
        description: "Text whose keccak-256 is the first word",
        examples: ["sluice.deposit.v1"],
      }),
    ),
    version: Type.Integer({ minimum: 1, maximum: 65535, description: "Version of the format" }),
    walletKind: Type.Integer({ minimum: 1, maximum: 65535, description: "Form of the wallet" }),
    integrator: bytes32("UUID of the integrator"),
    userId: bytes32("User id (20 bytes)"),
    destChain: bridgeChainId("Destination chain"),
    destWallet: bytes32("Destination wallet"),
    destToken: bytes32("Destination token, zero for the native coin"),
    refundAuthority: bytes32("Who may take the funds back, or gets them back, on the source chain"),
    maxFeeBps: bps("The most that all fees together may take"),
    maxSlippageBps: bps("The most that a priced conversion may lose on top"),
    factory: address("Factory that deploys the wallet; on Solana the account that signs bindings"),
    implementation: Type.Optional(address("Implementation behind the wallet; absent on Solana")),
    commitment: bytes32("Hash of the fields, the CREATE2 salt"),
    binding: Type.Optional(
      Type.String({
        pattern: "^0x[0-9a-f]{128}$",
        description:
          "Signature of the account that signs bindings over commitment and address, 0x and 128 lower-case hex digits; only on Solana",
      }),
    ),
  },
  { $id: "PayDepositCommitment", description: "What the deposit address promises" },
);
/** The preimage of a deposit address. */
export type PayDepositCommitment = Static<typeof PayDepositCommitment>;

/** Kinds of quotes. `SWIFT`, `MONO_CHAIN` and a direct `FAST_MCTP` are eligible for a deposit address. */
export const QUOTE_TYPES = ["SWIFT", "MONO_CHAIN", "FAST_MCTP", "MCTP", "WH", "SHUTTLE"] as const;
/** The kind of a quote. */
export type QuoteType = (typeof QUOTE_TYPES)[number];

/** What a settlement of the quoted amount takes out of it, part by part. */
export const QuoteFees = Type.Object(
  {
    service: baseUnits("Fee of the service"),
    gas: baseUnits("Gas of the settlement; 0 where the operator pays it"),
    bridge: baseUnits("The most that a bridge keeps"),
  },
  {
    $id: "QuoteFees",
    description:
      "What is taken out of the amount, in base units of the source token; the part for gas is estimated, and fixed when the settlement is sent",
  },
);
/** What a settlement of the quoted amount takes out of it, part by part. */
export type QuoteFees = Static<typeof QuoteFees>;

/** One offer. Amounts that are numbers are in whole tokens and for display; the exact ones are strings. */
export const Quote = Type.Object(
  {
    type: oneOf(QUOTE_TYPES, "Kind of the route"),
    quoteId: Type.String({ description: "Id of the quote" }),
    effectiveAmountIn: Type.Number({ description: "Amount sent, in whole tokens" }),
    effectiveAmountIn64: baseUnits("Amount sent"),
    expectedAmountOut: Type.Number({ description: "Expected output, in whole tokens" }),
    expectedAmountOutBaseUnits: baseUnits("Expected output"),
    minAmountOut: Type.Number({ description: "Least output, in whole tokens" }),
    minReceived: Type.Number({ description: "Least output after every fee, in whole tokens" }),
    minReceivedBaseUnits: baseUnits("Least output after every fee"),
    price: Type.Number({ description: "Destination tokens per source token" }),
    priceImpact: Type.Number({ description: "Price impact in percent" }),
    slippageBps: Type.Number({ minimum: 0, description: "Slippage applied, in basis points" }),
    gasDrop: Type.Number({ minimum: 0, description: "Native coin dropped, in whole coins" }),
    bridgeFee: Type.Number({
      minimum: 0,
      description: "Fee taken out of the payout, in whole destination tokens",
    }),
    protocolBps: Type.Number({ minimum: 0, description: "Fee of the service, in basis points" }),
    fees: Type.Optional(QuoteFees),
    referrerBps: Type.Number({ minimum: 0, description: "Fee of the referrer, in basis points" }),
    eta: Type.Number({ minimum: 0, description: "Expected time to delivery, in minutes" }),
    etaSeconds: Type.Number({ minimum: 0, description: "Expected time to delivery, in seconds" }),
    clientEta: Type.String({ description: "Expected time to delivery, as text for people" }),
    deadline64: Type.String({
      pattern: "^\\d+$",
      description: "When the quote expires, in seconds since 1970, a decimal string",
    }),
    fromToken: Type.Object(tokenFields, { description: "The token that is sent" }),
    fromChain: Type.String({ description: "Name of the source chain" }),
    toToken: Type.Object(tokenFields, { description: "The token that is delivered" }),
    toChain: Type.String({ description: "Name of the destination chain" }),
    payDepositAddress: nullable(
      address("The deposit address"),
      "The deposit address on the source chain; null where the quote is not eligible",
    ),
    payIntegratorId: uuid("Id of the integrator"),
    payUserId: userId("User bound to the address, zero where none was sent"),
    payDepositCommitment: Type.Optional(PayDepositCommitment),
  },
  { $id: "Quote", description: "One offer" },
);
/** One offer. */
export type Quote = Static<typeof Quote>;

/** Answer of the quote service. */
export const QuoteResponse = Type.Object(
  {
    quotes: Type.Array(Quote, { description: "The fastest and the best offer, or all of them" }),
    minimumSdkVersion: Type.Unsafe<[number, number, number]>(
      Type.Array(Type.Integer({ minimum: 0 }), {
        minItems: 3,
        maxItems: 3,
        description: "Oldest client version that is served: major, minor, patch",
        examples: [[7, 0, 0]],
      }),
    ),
  },
  { $id: "QuoteResponse", description: "Offers for a request" },
);
/** Answer of the quote service. */
export type QuoteResponse = Static<typeof QuoteResponse>;

/**
 * The body of every answer of the quote service that is not a success. Its own clients read the top level, clients of
 * the rest of the interface the error object.
 */
export const QuoteErrorResponse = Type.Object(
  {
    error: ErrorObject,
    code: ErrorObject.properties.code,
    statusCode: Type.Integer({ minimum: 400, maximum: 599, description: "The HTTP status" }),
    message: ErrorObject.properties.message,
    msg: ErrorObject.properties.message,
  },
  { $id: "QuoteErrorResponse", description: "The body of every failed request for quotes" },
);
/** The body of every answer of the quote service that is not a success. */
export type QuoteErrorResponse = Static<typeof QuoteErrorResponse>;
