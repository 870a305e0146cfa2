/** The configuration file, as written. */
import { type Static, Type } from "typebox";
import { WrittenChain } from "./chains.ts";
import { Deployment } from "./deployment.ts";
import { WrittenContracts } from "./evm-chain.ts";
import { KeyRef } from "./keys.ts";
import { AttestorNodes } from "./nodes.ts";
import { WrittenRoute } from "./route-schema.ts";
import { SecretRef } from "./secrets.ts";
import { Bps, Flag, Url } from "./values.ts";

/** Levels of the log, from the most to the least. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

/** Who pays for the gas of a settlement: the operator, or the deposit under its committed cap. */
export const GAS_POLICIES = ["sponsored", "charged"] as const;
export type GasPolicy = (typeof GAS_POLICIES)[number];

const strict = { additionalProperties: false };

const Listener = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, description: "an address to listen on" })),
    port: Type.Integer({ minimum: 0, maximum: 65535, description: "a TCP port, 0 for any" }),
  },
  { ...strict, description: "an object with a port, and a host or none" },
);

const PerMinute = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1_000_000, description: "requests per minute" }),
);

const SocketCap = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100_000, description: "a number of sockets, 1 to 100000" }),
);

const SocketPath = Type.Optional(
  Type.String({ minLength: 1, description: "the path of a unix socket" }),
);

export const ConfigFile = Type.Object(
  {
    stateDir: Type.String({ minLength: 1, description: "a folder for the embedded database" }),
    database: Type.Optional(
      Type.Object({ url: SecretRef }, { ...strict, description: "an object with a url" }),
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
          ...strict,
          description:
            "an object with perKey, perAddress, wrongKeyPerAddress or requestIndexPerKey",
        },
      ),
    ),
    socketCaps: Type.Optional(
      Type.Object(
        { perKey: SocketCap, perAddress: SocketCap },
        { ...strict, description: "an object with perKey or perAddress" },
      ),
    ),
    apiKeyPepper: SecretRef,
    keystorePassphrase: Type.Optional(SecretRef),
    signers: Type.Optional(
      Type.Object(
        { settler: SocketPath, attestor: SocketPath, vaults: SocketPath },
        { ...strict, description: "the sockets settler, attestor and vaults" },
      ),
    ),
    feeBps: Bps,
    gas: Type.Optional(
      Type.Enum(GAS_POLICIES, { description: `one of ${GAS_POLICIES.join(", ")}` }),
    ),
    maxFeeBps: Type.Optional(Bps),
    maxSlippageBps: Type.Optional(Bps),
    payoutWindowSeconds: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 43_200, description: "seconds, 10 to 43200" }),
    ),
    cctp: Type.Optional(
      Type.Object({ apiUrl: Url }, { ...strict, description: "an object with apiUrl" }),
    ),
    attestor: Type.Object(
      {
        key: KeyRef,
        rpcUrls: Type.Record(Type.String({ pattern: "^(\\d+|[a-z]+)$" }), AttestorNodes, {
          ...strict,
          description: "the attestor's own node per bridge chain id, or name of a chain",
        }),
      },
      strict,
    ),
    deployment: Type.Optional(Deployment),
    contracts: Type.Optional(WrittenContracts),
    httpPrices: Type.Optional(Flag),
    chains: Type.Array(WrittenChain, {
      minItems: 1,
      description: "a list of at least one chain",
    }),
    routes: Type.Optional(Type.Array(WrittenRoute, { description: "a list of routes" })),
    logLevel: Type.Optional(
      Type.Enum(LOG_LEVELS, { description: `one of ${LOG_LEVELS.join(", ")}` }),
    ),
  },
  strict,
);

export type ConfigFile = Static<typeof ConfigFile>;
