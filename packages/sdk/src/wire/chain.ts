/** Chains as `GET /chains` lists them: every destination and explorer target, not only those that are scanned. */
import { Type, type Static } from "typebox";
import { bridgeChainId, oneOf } from "./fields.ts";

/** Chain families. */
export const CHAIN_KINDS = ["evm", "svm"] as const;
/** A chain family: EVM or Solana. */
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
  { $id: "Chain", description: "A chain known to the service" },
);
/** A chain known to the service. */
export type Chain = Static<typeof Chain>;

/** Response of `GET /chains`. */
export const ChainList = Type.Array(Chain, {
  $id: "ChainList",
  description: "Every known chain",
});
/** Response of `GET /chains`. */
export type ChainList = Static<typeof ChainList>;
