/** The program, and the smallest configuration that its commands take. No node is asked. */
import { join } from "node:path";

export const PROGRAM = join(import.meta.dirname, "../../bin/sluice.js");

const keyOf = (digit: string) => `0x${digit.repeat(64)}`;
/** The environment variables that the configuration names. */
export const SECRETS = {
  PEPPER: "canary-pepper-of-some-length",
  ATTESTOR: keyOf("a"),
  DEPLOY: keyOf("b"),
  SETTLE: keyOf("c"),
  DELIVER: keyOf("d"),
};

/** A node that does not answer. */
export const NO_NODE = "http://127.0.0.1:1";
export const SOME_ADDRESS = `0x${"1".repeat(40)}`;

/** An EVM chain without tokens. */
export const EVM_CHAIN = {
  chainId: 30,
  evmChainId: 900030,
  rpcUrl: NO_NODE,
  startBlock: 0,
  contracts: { factory: SOME_ADDRESS, escrow: SOME_ADDRESS, delivery: SOME_ADDRESS },
  tokens: [],
  lanes: { deploy: { env: "DEPLOY" }, settle: { env: "SETTLE" }, deliver: { env: "DELIVER" } },
};
