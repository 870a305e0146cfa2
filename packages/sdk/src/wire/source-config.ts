/** Automatically detected tokens and their minimums: `GET /source-config`. */
import { Type, type Static } from "typebox";
import { CHAIN_KINDS } from "./chain.ts";
import { bridgeChainId, oneOf } from "./fields.ts";

/** Standards of a source token. */
export const TOKEN_STANDARDS = ["native", "erc20", "spl"] as const;
/** The standard of a source token. */
export type TokenStandard = (typeof TOKEN_STANDARDS)[number];

/** A token that is detected and settled automatically. */
export const SourceToken = Type.Object(
  {
    address: Type.String({
      minLength: 1,
      description:
        "Contract or mint. The native coin is the zero address on EVM chains and 11111111111111111111111111111111 on Solana",
    }),
    symbol: Type.Optional(
      Type.String({
        description: "Symbol, if known; a native coin has the chain's name in upper case",
      }),
    ),
    standard: oneOf(TOKEN_STANDARDS, "Standard of the token"),
    minDeposit: Type.Optional(
      Type.String({
        pattern: "^\\d+(\\.\\d+)?$",
        description: "Minimum deposit that is settled, in whole tokens; absent if there is none",
        examples: ["0.5"],
      }),
    ),
    decimals: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: "Decimals, to compare minDeposit with a balance in base units",
      }),
    ),
  },
  { $id: "SourceToken", description: "A token that is detected automatically" },
);
/** A token that is detected and settled automatically. */
export type SourceToken = Static<typeof SourceToken>;

/** A chain whose deposits are detected. */
export const SourceChain = Type.Object(
  {
    chainId: bridgeChainId("The source chain"),
    name: Type.String({ description: "Name of the chain in lower case" }),
    kind: oneOf(CHAIN_KINDS, "Family of the chain"),
    tokens: Type.Array(SourceToken, { description: "Tokens detected on this chain" }),
  },
  { $id: "SourceChain", description: "A chain whose deposits are detected" },
);
/** A chain whose deposits are detected. */
export type SourceChain = Static<typeof SourceChain>;

/** Response of `GET /source-config`. */
export const SourceConfig = Type.Object(
  { chains: Type.Array(SourceChain, { description: "Chains with a running scanner" }) },
  { $id: "SourceConfig", description: "Chains and tokens that are detected automatically" },
);
/** Response of `GET /source-config`. */
export type SourceConfig = Static<typeof SourceConfig>;
