/** The configuration file, as written. `docs/configuration.md` describes each setting. */
import { type Static, Type } from "typebox";

const Address = Type.String({
  pattern: "^0x[0-9a-fA-F]{40}$",
  description: "0x and 40 hex digits",
});
const Url = Type.String({ pattern: "^https?://", description: "an http or https URL" });
const BridgeId = Type.Integer({ minimum: 1, maximum: 65535, description: "a bridge chain id" });
const Port = Type.Integer({ minimum: 0, maximum: 65535, description: "a TCP port, 0 for any" });
const Bps = Type.Integer({ minimum: 0, maximum: 10_000, description: "basis points, 0 to 10000" });

/** Where a secret is found: never in the file itself. */
export const SecretRef = Type.Union(
  [
    Type.Object({ env: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    Type.Object({ file: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ],
  { description: '{ "env": NAME } or { "file": PATH }' },
);

const Listener = Type.Object(
  { host: Type.Optional(Type.String()), port: Port },
  { additionalProperties: false },
);

const Token = Type.Object(
  {
    symbol: Type.String({ minLength: 1, maxLength: 16 }),
    address: Address,
    decimals: Type.Integer({ minimum: 0, maximum: 77 }),
    minDeposit: Type.Optional(
      Type.String({ pattern: "^\\d+(\\.\\d+)?$", description: "a plain decimal in whole units" }),
    ),
  },
  { additionalProperties: false },
);

const Chain = Type.Object(
  {
    chainId: BridgeId,
    evmChainId: Type.Integer({ minimum: 1 }),
    rpcUrl: Url,
    startBlock: Type.Integer({ minimum: 0, description: "the first block to scan" }),
    pollIntervalMs: Type.Optional(Type.Integer({ minimum: 50, maximum: 60_000 })),
    deliveryConfirmations: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    contracts: Type.Object(
      { factory: Address, escrow: Address, delivery: Address },
      { additionalProperties: false },
    ),
    tokens: Type.Array(Token),
    lanes: Type.Object(
      { deploy: SecretRef, settle: SecretRef, deliver: SecretRef },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);

const Route = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("MONO_CHAIN"),
      chainId: BridgeId,
      token: Address,
      contract: Address,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal("SWIFT"),
      chainId: BridgeId,
      token: Address,
      destChain: BridgeId,
      destToken: Address,
      contract: Address,
    },
    { additionalProperties: false },
  ),
]);

export const ConfigFile = Type.Object(
  {
    stateDir: Type.String({ minLength: 1, description: "a folder for the embedded database" }),
    database: Type.Optional(Type.Object({ url: SecretRef }, { additionalProperties: false })),
    api: Listener,
    quote: Listener,
    apiKeyPepper: SecretRef,
    feeBps: Bps,
    maxFeeBps: Type.Optional(Bps),
    maxSlippageBps: Type.Optional(Bps),
    attestor: Type.Object(
      {
        key: SecretRef,
        rpcUrls: Type.Record(Type.String({ pattern: "^\\d+$" }), Url, {
          description: "the attestor's own node per bridge chain id",
        }),
      },
      { additionalProperties: false },
    ),
    chains: Type.Array(Chain, { minItems: 1 }),
    routes: Type.Array(Route),
    logLevel: Type.Optional(
      Type.Union(["trace", "debug", "info", "warn", "error", "silent"].map((l) => Type.Literal(l))),
    ),
  },
  { additionalProperties: false },
);

export type ConfigFile = Static<typeof ConfigFile>;
export type SecretRef = Static<typeof SecretRef>;
