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
  /** The maximum that the contracts and the refund authority's 72 hours allow. */
  payoutWindowSeconds: 43_200,
  httpPrices: true,
  logLevel: "info",
} as const;

/** Circle's service for main networks, from https://developers.circle.com/cctp. Test networks use another host. */
export const CIRCLE_API_URL = "https://iris-api.circle.com";

const strict = { additionalProperties: false };

function createListener(defaultPort?: number) {
  return Type.Object(
    {
      host: setting(
        Type.Optional(Type.String({ minLength: 1, description: "an address to listen on" })),
        "The address to listen on.",
        { default: DEFAULTS.host },
      ),
      port: setting(
        Type.Integer({ minimum: 0, maximum: 65535, description: "a TCP port, 0 for any" }),
        "The port to listen on.",
        defaultPort === undefined ? {} : { defaultText: `${defaultPort}, without the object` },
      ),
    },
    { ...strict, description: "an object with a port, and a host or none" },
  );
}

function createRateLimit(name: keyof typeof DEFAULTS.rateLimits, documentation: string) {
  return setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: "requests per minute" }),
    ),
    documentation,
    { default: DEFAULTS.rateLimits[name] },
  );
}

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
  api: setting(Type.Optional(createListener(DEFAULTS.apiPort)), "REST and the stream."),
  quote: setting(Type.Optional(createListener(DEFAULTS.quotePort)), "The quote service."),
  telemetry: setting(
    Type.Optional(createListener()),
    "Metrics and health ([operations.md](operations.md)). They have no key: keep them off the internet.",
    { defaultText: "not served" },
  ),
  trustedProxies: setting(
    Type.Optional(
      Type.Array(Type.String({ pattern: "^[0-9a-fA-F.:]+(/\\d{1,3})?$" }), {
        description: "a list of addresses or ranges, such as 10.0.0.0/8",
      }),
    ),
    "Proxies in front of the service, whose `X-Forwarded-For` names the caller. Behind a proxy that is not listed all callers are one address, and the wrong keys of one lock out all.",
    { default: [] },
  ),
  corsOrigins: setting(
    Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://[^/\\s]+$" }), {
        description: "a list of origins, such as https://pay.example",
      }),
    ),
    "Origins whose pages may call REST and quotes from a browser. The stream needs none.",
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
            "Requests with a wrong key from one address. Beyond it no key from there is checked.",
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
    "Requests per minute. Each process counts for itself; an IPv6 network of 64 bits is one address.",
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
    "Sockets of the stream that may be open at once. Each process counts for itself.",
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
          "The unix socket of the settler's signer, where that is a process of its own ([keys.md](keys.md)).",
          { defaultText: "the role opens its keys itself" },
        ),
        attestor: setting(SocketPath, "The same of the attestor's signer.", {
          defaultText: "the role opens its key itself",
        }),
        vaults: setting(
          SocketPath,
          "The unix socket at which the settler's signer derives vaults of Solana and signs nothing, for a quoter that is a process without the settler. Needs `signers.settler`.",
          { defaultText: "such a quoter issues no addresses on Solana" },
        ),
      },
      { ...strict, description: "the sockets settler, attestor and vaults" },
    ),
  ),
  feeBps: setting(
    Bps,
    "The service's fee, taken out of the payout, never above the cap of an address.",
  ),
  gas: setting(
    Type.Optional(Type.Enum(GAS_POLICIES, { description: `one of ${GAS_POLICIES.join(", ")}` })),
    "Who pays for the gas of settlements where an integrator has no policy of its own: the operator (`sponsored`), or the deposit under its cap (`charged`, [fees.md](fees.md)).",
    { default: DEFAULTS.gas },
  ),
  maxFeeBps: setting(
    Type.Optional(Bps),
    "The cap on fees in the addresses of an integrator that sets none of its own.",
    { default: DEFAULTS.maxFeeBps },
  ),
  maxSlippageBps: setting(
    Type.Optional(Bps),
    "The cap on slippage in the addresses of an integrator that sets none of its own.",
    { default: DEFAULTS.maxSlippageBps },
  ),
  payoutWindowSeconds: setting(
    Type.Optional(
      Type.Integer({ minimum: 10, maximum: 43_200, description: "seconds, 10 to 43200" }),
    ),
    "How long after its lock a delivery may be paid. Then the lock goes back to its deposit address.",
    { default: DEFAULTS.payoutWindowSeconds },
  ),
  cctp: Type.Optional(
    Type.Object(
      {
        apiUrl: setting(
          Url,
          "Circle's attestation service, which attests burns (of test networks `https://iris-api-sandbox.circle.com`). It is asked at most ten times a second, and nothing that it says counts without the chains.",
          {
            defaultText: `\`${CIRCLE_API_URL}\` where every chain with \`cctp\` has that of its preset, else required with \`FAST_MCTP\``,
          },
        ),
      },
      { ...strict, description: "an object with apiUrl" },
    ),
  ),
  attestor: Type.Object(
    {
      key: setting(KeyRef, "Key: the second of the two keys."),
      rpcUrls: setting(
        Type.Record(Type.String({ pattern: "^(\\d+|[a-z]+)$" }), AttestorNodes, {
          ...strict,
          description: "the attestor's own node per bridge chain id, or name of a chain",
        }),
        'The attestor\'s own nodes, by bridge chain id or name of the chain (`"base"`): a URL, or a list of which more than half must agree.',
      ),
    },
    strict,
  ),
  deployment: setting(
    Type.Optional(Deployment),
    "The accounts that the contracts were made for: the [addresses of contracts](#contracts) follow from them.",
    { defaultText: "none: `contracts` and `contract` name every address" },
  ),
  contracts: setting(
    Type.Optional(WrittenContracts),
    "Those of the contracts `factory`, `escrow` and `delivery` that all chains share.",
    { defaultText: "those that follow from `deployment`" },
  ),
  httpPrices: setting(
    Type.Optional(Flag),
    "Whether tokens of presets have [HTTP prices](presets.md) beside their feeds.",
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
        "The enabled [routes](#routes) in order of preference: the next is taken where one cannot.",
        { default: definitions.flatMap(({ kind, isDefault }) => (isDefault ? { kind } : [])) },
      ),
      logLevel: setting(
        Type.Optional(Type.Enum(LOG_LEVELS, { description: `one of ${LOG_LEVELS.join(", ")}` })),
        "The least level that is logged.",
        { default: DEFAULTS.logLevel },
      ),
    },
    strict,
  );
}

export type ConfigFile = Static<ReturnType<typeof createConfigFile>>;
