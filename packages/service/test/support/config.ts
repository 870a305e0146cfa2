import { ConfigError } from "../../src/config/index.ts";

export const addressOf = (digit: number) => `0x${String(digit).repeat(40)}`;
const keyOf = (digit: string) => `0x${digit.repeat(64)}`;

/** The secrets of the configuration below. */
export const CONFIG_ENV = {
  PEPPER: "canary-pepper-of-some-length",
  ATTESTOR: keyOf("a"),
  DEPLOY: keyOf("b"),
  SETTLE: keyOf("c"),
  DELIVER: keyOf("d"),
};

/** A complete configuration; each test changes a copy. */
export function createConfigFile() {
  const chain = (chainId: number, evmChainId: number, token: number) => ({
    chainId,
    evmChainId,
    rpcUrl: "http://127.0.0.1:8545/canary-rpc-key",
    startBlock: 0,
    contracts: { factory: addressOf(1), escrow: addressOf(2), delivery: addressOf(3) },
    tokens: [{ symbol: "USDC", address: addressOf(token), decimals: 6, minDeposit: "0.50" }],
    lanes: { deploy: { env: "DEPLOY" }, settle: { env: "SETTLE" }, deliver: { env: "DELIVER" } },
  });
  return {
    stateDir: "state",
    api: { port: 8080 },
    quote: { host: "::1", port: 0 },
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { 2: "http://127.0.0.1:1", 30: "http://127.0.0.1:2" },
    },
    chains: [chain(2, 900002, 4), chain(30, 900030, 5)],
    routes: [
      { kind: "MONO_CHAIN", chainId: 2, token: addressOf(4), contract: addressOf(6) },
      {
        kind: "SWIFT",
        chainId: 2,
        token: addressOf(4),
        destChain: 30,
        destToken: addressOf(5),
        contract: addressOf(7),
      },
    ],
  };
}

/** Returns the problems of a configuration, one per line; none for a valid one. */
export function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
