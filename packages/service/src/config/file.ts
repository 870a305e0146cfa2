/** The schema of the configuration file. */
import { type Static, Type } from "typebox";
import { WrittenChain } from "./chains.ts";
import { Deployment } from "./deployment.ts";
import { WrittenContracts } from "./evm-chain.ts";
import { KeyRef } from "./keys.ts";
import { AttestorNodes } from "./nodes.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { WrittenRoute } from "./route-schema.ts";
import { SecretRef } from "./secrets.ts";
import { Bps, Flag, setting, Url } from "./values.ts";

/** Log levels, from the most verbose to none. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

/** Payer of the gas of a settlement: the operator, or the deposit up to its committed cap. */
export const GAS_POLICIES = ["sponsored", "charged"] as const;
export type GasPolicy = (typeof GAS_POLICIES)[number];

/** Default values of settings. */
export const DEFAULTS = {
  host: "127.0.0.1",
  apiPort: 8080,
  quotePort: 8081,
  rateLimits: { perKey: 600, perAddress: 300, wrongKeyPerAddress: 60, requestIndexPerKey: 60 },
  socketCaps: { perKey: 100, perAddress: 500 },
  gas: "sponsored",
  maxFeeBps: 50,
  maxSlippageBps: 100,
  rateToleranceBps: 200,
  /** The maximum that the contracts and the refund authority's 72 hours allow. */
  payoutWindowSeconds: 43_200,
  httpPrices: true,
  logLevel: "info",
} as const;

/** Circle's service for main networks, from https://developers.circle.com/cctp. Test networks use another host. */
export const CIRCLE_API_URL = "https://iris-api.circle.com";

/** An unknown setting is a problem: most are typing errors, which would silently leave a default in force. */
const strict = { additionalProperties: false };

/** Returns the schema of a listener. By default it is reachable from this machine only. */
function createListener(defaultPort?: number) {
  return Type.Object(
    {
      host: setting(
        Type.Optional(Type.String({ minLength: 1, description: "an address to listen on" })),
        "The address that the listener binds to.",
        { default: DEFAULTS.host },
      ),
      port: setting(
        Type.Integer({ minimum: 0, maximum: 65535, description: "a TCP port, 0 for any" }),
        "The port of the listener.",
        defaultPort === undefined ? {} : { defaultText: `${defaultPort}, without the object` },
      ),
    },
    { ...strict, description: "an object with a port, and a host or none" },
  );
}

/** Returns the schema of a rate limit, in requests per minute. */
function createRateLimit(name: keyof typeof DEFAULTS.rateLimits, documentation: string) {
  return setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: "requests per minute" }),
    ),
    documentation,
    { default: DEFAULTS.rateLimits[name] },
  );
}

/** Returns the schema of a limit on open sockets. */
function createSocketCap(name: keyof typeof DEFAULTS.socketCaps, documentation: string) {
  return setting(
    Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: "a number of sockets, 1 to 100000",
      }),
    ),
    documentation,
    { default: DEFAULTS.socketCaps[name] },
  );
}

/** A unix socket: its file permissions decide who may ask for signatures. */
const SocketPath = Type.Optional(
  Type.String({ minLength: 1, description: "the path of a unix socket" }),
);

/** Every setting except those that depend on the kinds of routes. */
export const SETTINGS = {
  $schema: setting(
    Type.Optional(Type.String({ minLength: 1, description: "the path or URL of the JSON schema" })),
    "The JSON schema of this file, `packages/service/sluice.schema.json`, with which editors complete and check it. The service does not read it.",
    { defaultText: "none" },
  ),
  stateDir: setting(
    Type.String({ minLength: 1, description: "a folder for the embedded database" }),
    "The folder of the embedded PostgreSQL and of the signers' journals.",
  ),
  database: Type.Optional(
    Type.Object(
      {
        url: setting(SecretRef, "Secret: the URL of your own PostgreSQL.", {
          defaultText: "the embedded one",
        }),
      },
      { ...strict, description: "an object with a url" },
    ),
  ),
  api: setting(
    Type.Optional(createListener(DEFAULTS.apiPort)),
    "The listener of REST and the stream.",
  ),
  quote: setting(
    Type.Optional(createListener(DEFAULTS.quotePort)),
    "The listener of the quote service.",
  ),
  telemetry: setting(
    Type.Optional(createListener()),
    "The listener of metrics and health ([operations.md](operations.md)). It requires no key: never expose it to the internet.",
    { defaultText: "not served" },
  ),
  trustedProxies: setting(
    Type.Optional(
      Type.Array(Type.String({ pattern: "^[0-9a-fA-F.:]+(/\\d{1,3})?$" }), {
        description: "a list of addresses or ranges, such as 10.0.0.0/8",
      }),
    ),
    "Proxies in front of the service, whose `X-Forwarded-For` names the caller. Behind a proxy that is not listed, all callers share one address, so one caller with wrong keys blocks all of them.",
    { default: [] },
  ),
  corsOrigins: setting(
    Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://[^/\\s]+$" }), {
        description: "a list of origins, such as https://pay.example",
      }),
    ),
    "Origins whose pages may call REST and quotes from a browser. The stream accepts every origin.",
    { default: [] },
  ),
  rateLimits: setting(
    Type.Optional(
      Type.Object(
        {
          perKey: createRateLimit("perKey", "Requests with one API key."),
          perAddress: createRateLimit(
            "perAddress",
            "Requests without a key, and handshakes of the stream, from one address.",
          ),
          wrongKeyPerAddress: createRateLimit(
            "wrongKeyPerAddress",
            "Requests with a wrong key from one address. Above the limit, no key from that address is checked.",
          ),
          requestIndexPerKey: createRateLimit(
            "requestIndexPerKey",
            "Calls of `POST /request-index` with one API key.",
          ),
        },
        {
          ...strict,
          description:
            "an object with perKey, perAddress, wrongKeyPerAddress or requestIndexPerKey",
        },
      ),
    ),
    "Limits in requests per minute. Each process counts separately; an IPv6 /64 network counts as one address.",
  ),
  socketCaps: setting(
    Type.Optional(
      Type.Object(
        {
          perKey: createSocketCap("perKey", "Sockets with one API key."),
          perAddress: createSocketCap("perAddress", "Sockets from one address."),
        },
        { ...strict, description: "an object with perKey or perAddress" },
      ),
    ),
    "Limits on simultaneously open sockets of the stream. Each process counts separately.",
  ),
  apiKeyPepper: setting(
    SecretRef,
    "Secret: the key of the keyed hash under which API keys are stored. At least 16 characters.",
  ),
  keystorePassphrase: setting(
    Type.Optional(SecretRef),
    "Secret: the passphrase of the keystores.",
    { defaultText: "asked at the terminal" },
  ),
  signers: Type.Optional(
    Type.Object(
      {
        settler: setting(
          SocketPath,
          "The unix socket of the settler's signer, if it runs as a separate process ([keys.md](keys.md)).",
          { defaultText: "the role opens its keys itself" },
        ),
        attestor: setting(
          SocketPath,
          "The unix socket of the attestor's signer, if it runs as a separate process.",
          {
            defaultText: "the role opens its key itself",
          },
        ),
        vaults: setting(
          SocketPath,
          "A second unix socket of the settler's signer, for a quoter in a process without the settler. There it derives vaults on Solana and signs only their bindings. Requires `signers.settler`.",
          { defaultText: "a quoter without the settler issues no addresses on Solana" },
        ),
      },
      { ...strict, description: "the sockets settler, attestor and vaults" },
    ),
  ),
  feeBps: setting(
    Bps,
    "The service's fee, deducted from the payout. It never exceeds the cap committed in the address.",
  ),
  gas: setting(
    Type.Optional(Type.Enum(GAS_POLICIES, { description: `one of ${GAS_POLICIES.join(", ")}` })),
    "The payer of the gas of settlements, for integrators without a policy of their own: the operator (`sponsored`), or the deposit within its fee cap (`charged`). See [fees.md](fees.md).",
    { default: DEFAULTS.gas },
  ),
  maxFeeBps: setting(
    Type.Optional(Bps),
    "The fee cap committed in new addresses, for integrators without a cap of their own.",
    { default: DEFAULTS.maxFeeBps },
  ),
  maxSlippageBps: setting(
    Type.Optional(Bps),
    "The slippage cap committed in new addresses, for integrators without a cap of their own.",
    { default: DEFAULTS.maxSlippageBps },
  ),
  rateToleranceBps: setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_000, description: "basis points, 1 to 2000" }),
    ),
    "The most by which the rate that the attestor signs may differ from the service's own, in basis points. A settlement whose rate differs more waits as `PRICE_UNAVAILABLE`.",
    { default: DEFAULTS.rateToleranceBps },
  ),
  payoutWindowSeconds: setting(
    Type.Optional(
      Type.Integer({ minimum: 10, maximum: 43_200, description: "seconds, 10 to 43200" }),
    ),
    "The payout window: the time after a lock in which its delivery may be paid. Afterwards an unpaid lock returns to its deposit address.",
    { default: DEFAULTS.payoutWindowSeconds },
  ),
  cctp: Type.Optional(
    Type.Object(
      {
        apiUrl: setting(
          Url,
          "Circle's attestation service (for test networks `https://iris-api-sandbox.circle.com`). Each process sends at most ten requests a second. Its answers are verified against the chains.",
          {
            defaultText: `\`${CIRCLE_API_URL}\` if \`cctp\` of every chain comes from its preset; else required with \`FAST_MCTP\``,
          },
        ),
      },
      { ...strict, description: "an object with apiUrl" },
    ),
  ),
  attestor: Type.Object(
    {
      key: setting(
        KeyRef,
        "Key: the attestor's signing key, the second of the two keys. It must differ from every lane key.",
      ),
      databaseUser: setting(
        Type.Optional(
          Type.String({
            pattern: "^[a-z_][a-z0-9_]{0,62}$",
            description: "the name of a PostgreSQL user, in lower case",
          }),
        ),
        "The PostgreSQL user with which the attestor's machine connects to your own PostgreSQL. Create it with a password; `sluice migrate`, run as the owner of the tables, then lets it answer requests for attestations and nothing else ([keys.md](keys.md#the-attestors-machine)).",
        { defaultText: "the attestor connects as the owner of the tables" },
      ),
      rpcUrls: setting(
        Type.Record(Type.String({ pattern: "^(\\d+|[a-z]+)$" }), AttestorNodes, {
          ...strict,
          description: "the attestor's own node per bridge chain id, or name of a chain",
        }),
        'The attestor\'s own nodes, by bridge chain id or name of the chain (`"base"`): a URL, or a list of URLs, more than half of which must agree.',
      ),
    },
    strict,
  ),
  deployment: setting(
    Type.Optional(Deployment),
    "The constructor arguments of the contracts. The [addresses of the contracts](#contracts) are computed from them.",
    { defaultText: "none: `contracts` and `contract` name every address" },
  ),
  contracts: setting(
    Type.Optional(WrittenContracts),
    "The addresses of those contracts `factory`, `escrow` and `delivery` that are the same on all chains.",
    { defaultText: "the addresses computed from `deployment`" },
  ),
  httpPrices: setting(
    Type.Optional(Flag),
    "Whether tokens of presets have [HTTP prices](presets.md) in addition to their feeds.",
    { default: DEFAULTS.httpPrices },
  ),
  chains: setting(
    Type.Array(WrittenChain, {
      minItems: 1,
      description: "a list of at least one chain",
    }),
    "The chains: [EVM chains](#evm-chains) and [Solana](#solana).",
  ),
};

/** Creates the schema of the file with the given kinds of routes. */
export function createConfigFile(definitions: readonly RouteDefinition[]) {
  const entry = Type.Unsafe<WrittenRoute>(Type.Union(definitions.map(({ schema }) => schema)));
  return Type.Object(
    {
      ...SETTINGS,
      routes: setting(
        Type.Optional(Type.Array(entry, { description: "a list of routes" })),
        "The enabled [routes](#routes) in order of preference. If a route cannot take a deposit, the next one of its pair is tried.",
        { default: definitions.flatMap(({ kind, isDefault }) => (isDefault ? { kind } : [])) },
      ),
      logLevel: setting(
        Type.Optional(Type.Enum(LOG_LEVELS, { description: `one of ${LOG_LEVELS.join(", ")}` })),
        "The lowest level that is logged.",
        { default: DEFAULTS.logLevel },
      ),
    },
    strict,
  );
}

/** The file as written, after its schema was checked; secrets are references. */
export type ConfigFile = Static<ReturnType<typeof createConfigFile>>;
