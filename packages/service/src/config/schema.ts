/** The configuration file, as written. `docs/configuration.md` describes each setting. */
import { type Static, Type } from "typebox";
import { PRESETS } from "./presets/index.ts";

export const EvmAddressText = Type.String({
  pattern: "^0x[0-9a-fA-F]{40}$",
  description: "0x and 40 hex digits",
});
const Url = Type.String({ pattern: "^https?://", description: "an http or https URL" });
const Urls = Type.Array(Url, { minItems: 1, maxItems: 16, description: "a list of 1 to 16 URLs" });
export const BridgeId = Type.Integer({
  minimum: 1,
  maximum: 65535,
  description: "a bridge chain id",
});
const Port = Type.Integer({ minimum: 0, maximum: 65535, description: "a TCP port, 0 for any" });
const Bps = Type.Integer({ minimum: 0, maximum: 10_000, description: "basis points, 0 to 10000" });

/** Levels of the log, from the most to the least. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

/** Who pays for the gas of a settlement: the operator, or the deposit. */
export const GAS_POLICIES = ["sponsored", "charged"] as const;

const PerMinute = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1_000_000, description: "requests per minute" }),
);

const SocketCap = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100_000, description: "a number of sockets, 1 to 100000" }),
);

const SocketPath = Type.String({ minLength: 1, description: "the path of a unix socket" });

/** Where a secret is found: never in the file itself. */
export const SecretRef = Type.Union(
  [
    Type.Object({ env: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    Type.Object({ file: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ],
  { description: '{ "env": NAME } or { "file": PATH }' },
);

const retired = Type.Optional(
  Type.Boolean({ description: "true for a lane that ends what it began, and begins nothing" }),
);

/** Where a signing key is found. */
export const KeyRef = Type.Union(
  [
    Type.Object({ env: Type.String({ minLength: 1 }), retired }, { additionalProperties: false }),
    Type.Object({ file: Type.String({ minLength: 1 }), retired }, { additionalProperties: false }),
    Type.Object(
      { keystore: Type.String({ minLength: 1 }), retired },
      { additionalProperties: false },
    ),
    Type.Object(
      { kms: Type.String({ minLength: 1 }), endpoint: Type.Optional(Url), retired },
      { additionalProperties: false },
    ),
  ],
  {
    description: '{ "keystore": PATH }, { "kms": ARN }, { "env": NAME } or { "file": PATH }',
  },
);

const LaneKeys = Type.Union([KeyRef, Type.Array(KeyRef, { minItems: 1, maxItems: 16 })], {
  description: "a key, or a list of at most 16",
});

const Listener = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, description: "an address to listen on" })),
    port: Port,
  },
  { additionalProperties: false, description: "an object with a port, and a host or none" },
);

const MaxAgeSeconds = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 604_800, description: "seconds, 1 to 604800" }),
);
const JsonPointer = Type.String({
  pattern: "^(/([^~/]|~[01])*)+$",
  maxLength: 256,
  description: "a JSON pointer, such as /data/amount",
});

/** A price out of the JSON that an HTTP API answers. */
const HttpPrice = Type.Object(
  {
    url: Url,
    pointer: JsonPointer,
    timestampPointer: Type.Optional(JsonPointer),
    scale: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 36, description: "a number of decimals, 0 to 36" }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]+$" }), SecretRef, {
        additionalProperties: false,
        description: "secrets by the name of their header",
      }),
    ),
    maxAgeSeconds: MaxAgeSeconds,
  },
  { additionalProperties: false, description: "an object with url and pointer" },
);

/** Where the price of a token comes from. */
export const Price = Type.Object(
  {
    static: Type.Optional(
      Type.String({
        pattern: "^\\d{1,15}(\\.\\d{1,18})?$",
        description: "US dollars per whole unit, a plain decimal",
      }),
    ),
    feeds: Type.Optional(
      Type.Array(
        Type.Union(
          [
            EvmAddressText,
            Type.Object(
              { address: EvmAddressText, maxAgeSeconds: MaxAgeSeconds },
              { additionalProperties: false },
            ),
          ],
          { description: "the address of a feed, or an object with address and maxAgeSeconds" },
        ),
        { minItems: 1, maxItems: 8, description: "1 to 8 price feeds on the chain" },
      ),
    ),
    http: Type.Optional(
      Type.Array(HttpPrice, { minItems: 1, maxItems: 8, description: "1 to 8 HTTP APIs" }),
    ),
    maxAgeSeconds: MaxAgeSeconds,
    maxDeviationBps: Type.Optional(Bps),
  },
  { additionalProperties: false, description: "an object with static, feeds or http" },
);

export const Token = Type.Object(
  {
    symbol: Type.String({ minLength: 1, maxLength: 16, description: "1 to 16 characters" }),
    address: EvmAddressText,
    decimals: Type.Integer({ minimum: 0, maximum: 77, description: "a whole number, 0 to 77" }),
    minDeposit: Type.Optional(
      Type.String({ pattern: "^\\d+(\\.\\d+)?$", description: "a plain decimal in whole units" }),
    ),
    inventoryMin: Type.Optional(
      Type.String({ pattern: "^\\d+(\\.\\d+)?$", description: "a plain decimal in whole units" }),
    ),
    price: Type.Optional(Price),
  },
  { additionalProperties: false },
);

const Contracts = Type.Object(
  { factory: EvmAddressText, escrow: EvmAddressText, delivery: EvmAddressText },
  { additionalProperties: false, description: "the addresses factory, escrow and delivery" },
);

const PresetName = Type.Union(
  PRESETS.map(({ name }) => Type.Literal(name)),
  { description: `one of ${PRESETS.map(({ name }) => name).join(", ")}` },
);

/** What an entry says of its chain, whichever family that is of. */
export const ChainCommon = {
  rpcUrl: Type.Optional(Url),
  rpcUrls: Type.Optional(Urls),
  quorum: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 16, description: "a number of nodes, 1 to 16" }),
  ),
  minDepositUsd: Type.Optional(
    Type.String({
      pattern: "^\\d{1,15}(\\.\\d{1,18})?$",
      description: "US dollars, a plain decimal",
    }),
  ),
  pollIntervalMs: Type.Optional(
    Type.Integer({ minimum: 50, maximum: 60_000, description: "milliseconds, 50 to 60000" }),
  ),
};

/** A chain with everything that it needs. What the file leaves to a preset has been filled in. */
export const Chain = Type.Object(
  {
    preset: Type.Optional(PresetName),
    chainId: BridgeId,
    evmChainId: Type.Integer({ minimum: 1, description: "an EIP-155 chain id" }),
    ...ChainCommon,
    startBlock: Type.Integer({ minimum: 0, description: "the first block to scan" }),
    balanceCheckIntervalMs: Type.Optional(
      Type.Integer({ minimum: 50, maximum: 3_600_000, description: "milliseconds, 50 to 3600000" }),
    ),
    traces: Type.Optional(Type.Boolean({ description: "true or false" })),
    deliveryConfirmations: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: "a number of blocks, 1 to 1000" }),
    ),
    contracts: Contracts,
    cctp: Type.Optional(
      Type.Object(
        {
          domain: Type.Integer({
            minimum: 0,
            maximum: 4_294_967_295,
            description: "Circle's id of the chain, a whole number",
          }),
          messenger: EvmAddressText,
          transmitter: EvmAddressText,
        },
        {
          additionalProperties: false,
          description: "an object with domain, messenger and transmitter",
        },
      ),
    ),
    uniswapV3: Type.Optional(
      Type.Object(
        { router: EvmAddressText, quoter: Type.Optional(EvmAddressText), weth: EvmAddressText },
        {
          additionalProperties: false,
          description: "the addresses router and weth, and quoter where something is swapped",
        },
      ),
    ),
    tokens: Type.Array(Token, { description: "a list of tokens" }),
    lanes: Type.Object(
      { deploy: LaneKeys, settle: LaneKeys, deliver: LaneKeys },
      { additionalProperties: false, description: "the keys deploy, settle and deliver" },
    ),
    dailyGasBudget: Type.Optional(
      Type.String({
        pattern: "^\\d{1,15}(\\.\\d{1,18})?$",
        description: "whole native coins, a plain decimal",
      }),
    ),
    transactionSurcharge: Type.Optional(
      Type.String({
        pattern: "^\\d{1,15}(\\.\\d{1,18})?$",
        description: "whole native coins, a plain decimal",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Several chains may share contracts, so a chain may name some of them, or none. */
const SomeContracts = Type.Object(
  {
    factory: Type.Optional(EvmAddressText),
    escrow: Type.Optional(EvmAddressText),
    delivery: Type.Optional(EvmAddressText),
  },
  { additionalProperties: false, description: "the addresses factory, escrow and delivery" },
);

/** A chain as the file has it: complete, or a preset and what it cannot know or what is to be otherwise. */
export const WrittenChain = Type.Object(
  {
    ...Type.Partial(Chain).properties,
    contracts: Type.Optional(SomeContracts),
    tokens: Type.Optional(
      Type.Array(
        Type.Union(
          [
            Type.String({ minLength: 1, maxLength: 16 }),
            Type.Object(
              { ...Type.Partial(Token).properties, symbol: Token.properties.symbol },
              { additionalProperties: false },
            ),
          ],
          { description: "a token, or the symbol of one of the preset" },
        ),
        { description: "a list of tokens" },
      ),
    ),
  },
  { additionalProperties: false },
);

/** Whom the contracts were made for: with the code of this build their addresses follow from it. */
const Deployment = Type.Object(
  {
    owner: EvmAddressText,
    guardian: EvmAddressText,
    treasury: EvmAddressText,
    feeRecipient: Type.Optional(EvmAddressText),
    delaySeconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 31_536_000, description: "seconds, 0 to 31536000" }),
    ),
  },
  { additionalProperties: false, description: "an object with owner, guardian and treasury" },
);

/** A chain of the file, as routes name it. */
const ChainName = Type.Union([BridgeId, Type.String({ minLength: 1, maxLength: 32 })], {
  description: "a bridge chain id, or the name of a chain",
});
const TokenName = Type.String({
  minLength: 1,
  maxLength: 44,
  description: "0x and 40 hex digits, or the symbol of a token of the chain, or native",
});
const ChainNames = Type.Array(ChainName, {
  minItems: 1,
  description: "a list of chains, by bridge chain id or name",
});
const TokenNames = Type.Array(Type.String({ minLength: 1, maxLength: 16 }), {
  minItems: 1,
  description: "a list of symbols",
});

/**
 * What one route says, and what a group of routes says instead: which of the two an entry is, and whether it is whole, is
 * told by `routes.ts`.
 */
const RoutePlace = {
  chainId: Type.Optional(ChainName),
  token: Type.Optional(TokenName),
  contract: Type.Optional(EvmAddressText),
  chains: Type.Optional(ChainNames),
};
const RoutePair = {
  ...RoutePlace,
  destChain: Type.Optional(ChainName),
  destToken: Type.Optional(TokenName),
};

/** Of a route that swaps. */
const Pool = {
  poolFee: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999_999,
      description: "the fee of a pool in hundredths of a basis point, 1 to 999999",
    }),
  ),
  maxImpactBps: Type.Optional(Bps),
  slippageBps: Type.Optional(Bps),
};

const Route = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("MONO_CHAIN"),
      ...RoutePlace,
      destToken: Type.Optional(TokenName),
      ...Pool,
      tokens: Type.Optional(TokenNames),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal("SWIFT"),
      ...RoutePair,
      priced: Type.Optional(Type.Boolean({ description: "true or false" })),
      tokens: Type.Optional(TokenNames),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal("FAST_MCTP"),
      ...RoutePair,
      bridgeToken: Type.Optional(TokenName),
      ...Pool,
    },
    { additionalProperties: false },
  ),
]);

export const ConfigFile = Type.Object(
  {
    stateDir: Type.String({ minLength: 1, description: "a folder for the embedded database" }),
    database: Type.Optional(
      Type.Object(
        { url: SecretRef },
        { additionalProperties: false, description: "an object with a url" },
      ),
    ),
    api: Type.Optional(Listener),
    quote: Type.Optional(Listener),
    telemetry: Type.Optional(Listener),
    trustedProxies: Type.Optional(
      Type.Array(Type.String({ pattern: "^[0-9a-fA-F.:]+(/\\d{1,3})?$" }), {
        description: "a list of addresses or ranges, such as 10.0.0.0/8",
      }),
    ),
    corsOrigins: Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://[^/\\s]+$" }), {
        description: "a list of origins, such as https://pay.example",
      }),
    ),
    rateLimits: Type.Optional(
      Type.Object(
        {
          perKey: PerMinute,
          perAddress: PerMinute,
          wrongKeyPerAddress: PerMinute,
          requestIndexPerKey: PerMinute,
        },
        {
          additionalProperties: false,
          description:
            "an object with perKey, perAddress, wrongKeyPerAddress or requestIndexPerKey",
        },
      ),
    ),
    socketCaps: Type.Optional(
      Type.Object(
        { perKey: SocketCap, perAddress: SocketCap },
        { additionalProperties: false, description: "an object with perKey or perAddress" },
      ),
    ),
    apiKeyPepper: SecretRef,
    keystorePassphrase: Type.Optional(SecretRef),
    signers: Type.Optional(
      Type.Object(
        {
          settler: Type.Optional(SocketPath),
          attestor: Type.Optional(SocketPath),
          vaults: Type.Optional(SocketPath),
        },
        { additionalProperties: false, description: "the sockets settler, attestor and vaults" },
      ),
    ),
    feeBps: Bps,
    gas: Type.Optional(
      Type.Union(
        GAS_POLICIES.map((policy) => Type.Literal(policy)),
        { description: `one of ${GAS_POLICIES.join(", ")}` },
      ),
    ),
    maxFeeBps: Type.Optional(Bps),
    maxSlippageBps: Type.Optional(Bps),
    payoutWindowSeconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 43_200, description: "seconds, 10 to 43200" }),
    ),
    cctp: Type.Optional(
      Type.Object(
        { apiUrl: Url },
        { additionalProperties: false, description: "an object with apiUrl" },
      ),
    ),
    attestor: Type.Object(
      {
        key: KeyRef,
        rpcUrls: Type.Record(
          Type.String({ pattern: "^(\\d+|[a-z]+)$" }),
          Type.Union([Url, Urls], { description: "an http or https URL, or a list of 1 to 16" }),
          {
            additionalProperties: false,
            description: "the attestor's own node per bridge chain id, or name of a chain",
          },
        ),
      },
      { additionalProperties: false },
    ),
    deployment: Type.Optional(Deployment),
    contracts: Type.Optional(SomeContracts),
    httpPrices: Type.Optional(Type.Boolean({ description: "true or false" })),
    // Each entry has the schema of its family, by which it is read.
    chains: Type.Array(Type.Object({}, { description: "an object with a chain" }), {
      minItems: 1,
      description: "a list of at least one chain",
    }),
    routes: Type.Optional(Type.Array(Route, { description: "a list of routes" })),
    logLevel: Type.Optional(
      Type.Union(
        LOG_LEVELS.map((level) => Type.Literal(level)),
        { description: `one of ${LOG_LEVELS.join(", ")}` },
      ),
    ),
  },
  { additionalProperties: false },
);

export type ConfigFile = Static<typeof ConfigFile>;
export type ChainFile = Static<typeof Chain>;
export type WrittenChain = Static<typeof WrittenChain>;
export type WrittenDeployment = Static<typeof Deployment>;
export type WrittenRoute = Static<typeof Route>;
export type WrittenContracts = Static<typeof SomeContracts>;
export type Price = Static<typeof Price>;
export type KeyRef = Static<typeof KeyRef>;
export type SecretRef = Static<typeof SecretRef>;
