/** Chains as `GET /chains` lists them: every destination and explorer target, not only those that are watched. */
import { Type, type Static } from "typebox";
import { bridgeChainId, oneOf } from "./fields.ts";

/** Families of chains. */
export const CHAIN_KINDS = ["evm", "svm"] as const;
/** A family of chains: EVM or Solana. */
export type ChainKind = (typeof CHAIN_KINDS)[number];

/** Item of `GET /chains`. */
export const Chain = Type.Object(
  {
    chainId: bridgeChainId("The chain"),
    name: Type.String({ description: "Name of the chain in lower case", examples: ["base"] }),
    explorerTxUrl: Type.String({
      description: "Prefix of a block explorer's transaction page; append the hash",
    }),
    kind: oneOf(CHAIN_KINDS, "Family of the chain"),
  },
  { $id: "Chain", description: "A chain the service can name" },
);
/** A chain the service can name. */
export type Chain = Static<typeof Chain>;

/** Answer of `GET /chains`. */
export const ChainList = Type.Array(Chain, {
  $id: "ChainList",
  description: "Every known chain",
});
/** Answer of `GET /chains`. */
export type ChainList = Static<typeof ChainList>;
