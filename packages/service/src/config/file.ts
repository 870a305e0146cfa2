/** The schema of the configuration file. */
import { type Static, Type } from "typebox";
import { WrittenChain } from "./chains.ts";
import { DatabaseConnections } from "./connections.ts";
import { Deployment } from "./deployment.ts";
import { WrittenContracts } from "./evm-chain.ts";
import { KeyRef } from "./keys.ts";
import { RequestsAtOnce } from "./limits.ts";
import { AttestorNodes } from "./nodes.ts";
import { Refunds } from "./refunds.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { WrittenRoute } from "./route-schema.ts";
import { SecretRef } from "./secrets.ts";
import { Bps, EvmAddressText, Flag, setting, Url } from "./values.ts";
import { Webhooks } from "./webhooks.ts";

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
  rateLimits: {
    perKey: 600,
    perAddress: 300,
    wrongKeyPerAddress: 60,
    requestIndexPerKey: 60,
    newAddressesPerKey: 1_000,
    nodeRequestsPerKey: 1_200,
  },
  socketCaps: { perKey: 100, perAddress: 500, connectionsPerAddress: 1_000 },
  quotas: { addresses: 1_000_000, openSettlements: 10_000 },
  gas: "sponsored",
  maxFeeBps: 50,
  maxSlippageBps: 100,
  rateToleranceBps: 200,
  screeningTimeoutSeconds: 5,
  inventoryShares: { addressBps: 5_000, integratorBps: 8_000 },
  attestorThreshold: 1,
  /** The maximum that the contracts and the refund authority's 72 hours allow. */
  payoutWindowSeconds: 43_200,
  httpPrices: true,
  logLevel: "info",
} as const;

/** Circle's services for main and for test networks, from https://developers.circle.com/cctp. */
export const CIRCLE_API_URL = "https://iris-api.circle.com";
export const CIRCLE_TEST_API_URL = "https://iris-api-sandbox.circle.com";

/** An unknown setting is a problem: most are typing errors, which would silently leave a default in force. */
const strict = { additionalProperties: false };

const DatabaseUser = Type.String({
  pattern: "^[a-z_][a-z0-9_]{0,62}$",
  description: "the name of a PostgreSQL user, in lower case",
});

/** Returns the fields of a listener. By default it is reachable from this machine only. */
function listenerFields(defaultPort?: number) {
  return {
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
  };
}

/** Returns the schema of a listener. */
function createListener(defaultPort?: number) {
  return Type.Object(listenerFields(defaultPort), {
    ...strict,
    description: "an object with a port, and a host or none",
  });
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

/** Returns the schema of an integrator's quota. */
function createQuota(name: keyof typeof DEFAULTS.quotas, documentation: string) {
  return setting(
    Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "a whole number" }),
    ),
    documentation,
    { default: DEFAULTS.quotas[name] },
  );
}

/** Returns the schema of a share of an inventory. */
function createShare(name: keyof typeof DEFAULTS.inventoryShares, documentation: string) {
  return setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: "basis points, 1 to 10000" }),
    ),
    documentation,
    { default: DEFAULTS.inventoryShares[name] },
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
  tracing: setting(
    Type.Optional(
      Type.Object(
        {
          url: setting(Url, "The collector's endpoint for traces, `http://HOST:4318/v1/traces`."),
          token: setting(
            Type.Optional(SecretRef),
            "Secret: sent as a bearer token to the collector.",
            { defaultText: "none" },
          ),
        },
        { ...strict, description: "an object with url" },
      ),
    ),
    "Where [traces](operations.md#traces) are sent, by OpenTelemetry's protocol over HTTP.",
    { defaultText: "traces are not made" },
  ),
  publicUrls: setting(
    Type.Optional(
      Type.Object(
        {
          api: setting(Type.Optional(Url), "Base URL of REST and the stream.", {
            defaultText: "the listener's",
          }),
          quote: setting(Type.Optional(Url), "Base URL of quotes.", {
            defaultText: "the listener's",
          }),
        },
        { ...strict, description: "an object with api or quote" },
      ),
    ),
    "The URLs by which clients reach the service, which `GET /openapi.json` and `GET /asyncapi.json` name.",
  ),
  console: setting(
    Type.Optional(
      Type.Object(
        {
          ...listenerFields(),
          origin: setting(
            Type.Optional(
              Type.String({
                pattern: "^(https://[a-z0-9.-]+|http://localhost)(:\\d{1,5})?$",
                description:
                  "an https origin, such as https://console.example, or http://localhost:PORT",
              }),
            ),
            "The origin under which browsers reach the console, through a proxy that ends TLS. Passkeys belong to its host: another one needs new passkeys.",
            { defaultText: "`http://localhost` with the port" },
          ),
          identityProvider: setting(
            Type.Optional(
              Type.Object(
                {
                  issuer: setting(
                    Type.String({
                      pattern:
                        "^(https://[^\\s?#]+|http://(localhost|127\\.0\\.0\\.1)(:\\d{1,5})?(/[^\\s?#]*)?)$",
                      description: "an https URL, or one of http://localhost",
                    }),
                    "The issuer, below which the provider publishes `/.well-known/openid-configuration`.",
                  ),
                  clientId: setting(
                    Type.String({ minLength: 1, maxLength: 200, description: "a text" }),
                    "The client's id at the provider. Its redirect URI is the console's origin with `/api/session/identity/callback`.",
                  ),
                  clientSecret: setting(
                    Type.Optional(SecretRef),
                    "Secret: the client's secret at the provider.",
                    { defaultText: "none: a public client, which PKCE protects" },
                  ),
                },
                { ...strict, description: "an object with an issuer and a clientId" },
              ),
            ),
            "An identity provider (OpenID Connect) by which operators sign in who were invited with their e-mail address. Such a session looks; what changes something needs a passkey all the same.",
            { defaultText: "none: passkeys alone" },
          ),
        },
        {
          ...strict,
          description:
            "an object with a port, and a host, an origin and an identityProvider or none",
        },
      ),
    ),
    "The operators' console ([console.md](console.md)), which the role `api` serves on a listener of its own.",
    { defaultText: "not served" },
  ),
  telemetryHosts: setting(
    Type.Optional(
      Type.Array(Type.String({ pattern: "^[A-Za-z0-9.-]+$" }), {
        description: "a list of host names, such as sluice.internal.example",
      }),
    ),
    "Names with dots by which metrics and health may be asked. Addresses and names without dots always may; requests with another `Host` are refused, since a stranger's page may use a name that resolves to this machine.",
    { default: [] },
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
  payPage: setting(
    Type.Optional(
      Type.Object(
        {
          frameAncestors: setting(
            Type.Optional(
              Type.Array(
                Type.String({ pattern: "^(https?://[A-Za-z0-9.*-]+(:\\d{1,5})?|'self')$" }),
                {
                  maxItems: 50,
                  description: "a list of origins, such as https://shop.example",
                },
              ),
            ),
            "Origins whose pages may show the pay page in a frame (`frame-ancestors`). Without one no page may, so that no page can hide it under its own buttons.",
            { default: [] },
          ),
        },
        { ...strict, description: "an object with frameAncestors" },
      ),
    ),
    "The pay page ([pay-page.md](pay-page.md)).",
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
            "Requests with a wrong key from one address. Above the limit, no key from that address is checked, except those that were valid from there in the last hour.",
          ),
          requestIndexPerKey: createRateLimit(
            "requestIndexPerKey",
            "Calls of `POST /request-index` with one API key.",
          ),
          newAddressesPerKey: createRateLimit(
            "newAddressesPerKey",
            "Deposit addresses that one API key issues, by quotes or `POST /addresses`. Each is watched permanently; quotes that return an issued one do not count, `POST /addresses` counts every address of a call.",
          ),
          nodeRequestsPerKey: createRateLimit(
            "nodeRequestsPerKey",
            "Requests to the nodes that quotes and calls of `POST /request-index` with one API key cause. Answers that need no node are free; each node of a quorum counts.",
          ),
        },
        {
          ...strict,
          description:
            "an object with perKey, perAddress, wrongKeyPerAddress, requestIndexPerKey, newAddressesPerKey or nodeRequestsPerKey",
        },
      ),
    ),
    "Limits in requests per minute. Each process counts separately unless `shareRateLimits` is set; an IPv6 /64 network counts as one address.",
  ),
  quotas: setting(
    Type.Optional(
      Type.Object(
        {
          addresses: createQuota("addresses", "Deposit addresses of an integrator."),
          openSettlements: createQuota(
            "openSettlements",
            "Settlements of an integrator on one source chain that have not ended. Further deposits are recorded and wait.",
          ),
        },
        { ...strict, description: "an object with addresses or openSettlements" },
      ),
    ),
    "The most that an integrator may have. `sluice integrator set` sets others for one integrator.",
  ),
  socketCaps: setting(
    Type.Optional(
      Type.Object(
        {
          perKey: createSocketCap("perKey", "Sockets with one API key."),
          perAddress: createSocketCap("perAddress", "Sockets from one address."),
          connectionsPerAddress: createSocketCap(
            "connectionsPerAddress",
            "Connections of any kind from one address to the API, and to quotes; further ones are closed. Those of trusted proxies are not counted, and all together stay 200 below the descriptors that the process may open.",
          ),
        },
        { ...strict, description: "an object with perKey, perAddress or connectionsPerAddress" },
      ),
    ),
    "Limits on simultaneously open sockets of the stream. Each process counts separately.",
  ),
  shareRateLimits: setting(
    Type.Optional(Flag),
    "Whether several processes of the API, or of quotes, count `rateLimits` together, in the database. It costs a statement per request of a key that was valid from its address in the last hour, and two of another. Each process learns of a refusal by a statement of its own, and needs none until the window ends.",
    { default: false },
  ),
  requestsAtOnce: setting(
    Type.Optional(RequestsAtOnce),
    "How many requests of one key are served at the same time. Each process counts separately.",
  ),
  databaseConnections: setting(
    Type.Optional(DatabaseConnections),
    "The most database connections of each role, so that requests cannot take those of money. A process opens those of its roles, `shared` and one more, and does not start if PostgreSQL allows fewer.",
  ),
  webhooks: setting(
    Type.Optional(Webhooks),
    "Where webhooks may be sent ([webhooks.md](webhooks.md)).",
  ),
  apiKeyPepper: setting(
    SecretRef,
    "Secret: the key of the keyed hash under which API keys are stored, and of the encryption of webhooks' secrets. At least 16 characters.",
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
  screening: Type.Optional(
    Type.Object(
      {
        url: setting(
          Type.Optional(Url),
          "Your service that is asked, by `POST`, before a deposit is swept ([operations.md](operations.md#screening)). Redirects are not followed.",
          { defaultText: "only `denied` decides" },
        ),
        token: setting(
          Type.Optional(SecretRef),
          "Secret: sent to the service as `Authorization: Bearer`.",
          { defaultText: "none" },
        ),
        timeoutSeconds: setting(
          Type.Optional(Type.Integer({ minimum: 1, maximum: 60, description: "seconds, 1 to 60" })),
          "The longest wait for an answer. Without one the deposit waits and is asked about again.",
          { default: DEFAULTS.screeningTimeoutSeconds },
        ),
        denied: setting(
          Type.Optional(
            Type.Array(Type.String({ minLength: 1 }), {
              description: "a list of addresses",
            }),
          ),
          "Senders whose deposits are held without asking the service.",
          { default: [] },
        ),
      },
      { ...strict, description: "an object with url or denied" },
    ),
  ),
  refunds: setting(
    Type.Optional(Refunds),
    "Refunds of deposits on EVM chains that the attestors sign, so that the service can make them ([keys.md](keys.md#refunds-by-policy)). Each attestor uses its own configuration; the settler asks for no others.",
    { defaultText: "none: only the refund authority itself refunds" },
  ),
  rateToleranceBps: setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_000, description: "basis points, 1 to 2000" }),
    ),
    "The most by which the settler's rate may differ from an attestor's own, in basis points; each attestor uses its own configuration. A settlement whose rate differs more waits as `PRICE_UNAVAILABLE`.",
    { default: DEFAULTS.rateToleranceBps },
  ),
  inventoryShares: setting(
    Type.Optional(
      Type.Object(
        {
          addressBps: createShare(
            "addressBps",
            "The most that the deposits of one address reserve.",
          ),
          integratorBps: createShare(
            "integratorBps",
            "The most that the deposits of one integrator reserve, and that they take of the daily cap of a token, where there is another one.",
          ),
        },
        { ...strict, description: "shares of each inventory" },
      ),
    ),
    "Shares of each inventory (a token in `Delivery`) that may be reserved. A deposit above them waits, or takes the pair's next route. A lock whose recipient turns against its payout holds its reservation for the whole payout window, so nobody should reserve everything.",
  ),
  payoutWindowSeconds: setting(
    Type.Optional(
      Type.Integer({ minimum: 10, maximum: 43_200, description: "seconds, 10 to 43200" }),
    ),
    "The payout window: the time after a lock in which its delivery may be paid. Afterwards an unpaid lock returns to its deposit address. It is built into the `Delivery` contracts, which refuse later payouts: all of them need this value.",
    { default: DEFAULTS.payoutWindowSeconds },
  ),
  cctp: Type.Optional(
    Type.Object(
      {
        apiUrl: setting(
          Url,
          "Circle's attestation service (for test networks `https://iris-api-sandbox.circle.com`). Each process sends at most ten requests a second. Its answers are verified against the chains.",
          {
            defaultText: `\`${CIRCLE_API_URL}\`, or \`${CIRCLE_TEST_API_URL}\` for test networks, if \`cctp\` of every chain comes from its preset; else required with \`FAST_MCTP\``,
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
        Type.Optional(DatabaseUser),
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
  attestors: setting(
    Type.Optional(
      Type.Object(
        {
          threshold: setting(
            Type.Optional(
              Type.Integer({ minimum: 1, maximum: 7, description: "a number from 1 to 7" }),
            ),
            "The number of attestors that must sign. The factories must have the same threshold.",
            { default: DEFAULTS.attestorThreshold },
          ),
          accounts: setting(
            Type.Optional(
              Type.Array(EvmAddressText, {
                minItems: 1,
                maxItems: 20,
                description: "the addresses of 1 to 20 attestors",
              }),
            ),
            "The addresses of all attestors. The settler counts signatures of no others.",
            { defaultText: "any one attestor; required with a `threshold` above 1" },
          ),
          cold: setting(
            Type.Optional(
              Type.Array(EvmAddressText, {
                maxItems: 20,
                description: "the addresses of at most 20 attestors",
              }),
            ),
            "The addresses of attestors that the contracts list and whose keys are kept offline. One of them takes over when an attestor's key is lost: a new attestor could sign only after the owner's delay ([keys.md](keys.md#a-cold-attestor)).",
            { default: [] },
          ),
          databaseUsers: setting(
            Type.Optional(
              Type.Array(DatabaseUser, {
                description: "names of PostgreSQL users, in lower case",
              }),
            ),
            "The PostgreSQL users of the attestors' machines, one each. `sluice migrate` grants them their rights, and `attestor.databaseUser` besides.",
            { default: [] },
          ),
        },
        { ...strict, description: "an object with threshold, accounts, cold and databaseUsers" },
      ),
    ),
    "All attestors of the installation, if there are several ([keys.md](keys.md#several-attestors)).",
    { defaultText: "one attestor" },
  ),
  deployment: setting(
    Type.Optional(Deployment),
    "The constructor arguments of the contracts. The [addresses of the contracts](#contracts) are computed from them.",
    { defaultText: "none: `contracts` and `contract` name every address" },
  ),
  contracts: setting(
    Type.Optional(WrittenContracts),
    "The addresses of those contracts `factory`, `escrow`, `delivery` and `treasury` that are the same on all chains.",
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
