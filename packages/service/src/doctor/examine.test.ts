import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHAIN, createDoctorDeps, SOLANA_CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import { NATIVE_SOL, toEvmAddress } from "../core/hex.ts";
import { listChecks } from "./examine.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const contract = toEvmAddress(`0x${"7".repeat(40)}`);
const page = readFileSync(join(import.meta.dirname, "../../../../docs/doctor.md"), "utf8");

/** One chain as source and destination, so that every kind of check is present. */
const evm = {
  ...CHAIN,
  cctp: { domain: 0, messenger: contract, transmitter: contract },
  uniswapV3: { router: contract, weth: contract },
  contracts: { ...CHAIN.contracts, treasury: contract },
  tokens: CHAIN.tokens.map((token) => ({
    ...token,
    inventoryTarget: 1n,
    price: {
      fixed: 1n,
      feeds: [
        { address: contract, maxAgeMs: 1 },
        { address: contract, maxAgeMs: 1 },
      ],
      http: [],
      maxDeviationBps: 1,
    },
  })),
};
const [node] = evm.nodes.all;
const pushing = { all: [{ ...node, wsUrl: "ws://127.0.0.1:1" }], quorum: 1 } as const;
const streaming = { all: [{ ...node, grpcUrl: "http://127.0.0.1:1" }], quorum: 1 } as const;
const earlyPayouts = {
  exposure: 1n,
  tiers: [{ after: "safe", upTo: 1n }],
  exceptions: [],
  acceptedLosses: [],
} as const;
const checks = listChecks(
  createDoctorDeps({
    live: { readAlerting: async () => null },
    vaultSources: [{ setting: "signers.vaults", vouches: async () => true }],
    attestations: { getFees: () => Promise.reject(new Error("nothing is queried")) },
    config: {
      chains: [
        { ...evm, nodes: pushing, traces: true, earlyPayouts },
        { ...SOLANA_CHAIN, nodes: streaming },
      ],
      routes: [
        configuredRoute({
          kind: "SWIFT",
          chainId: 2,
          token: USDC,
          destChain: 1,
          priced: true,
          destToken: NATIVE_SOL,
          contract,
        }),
        configuredRoute({ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract }),
        configuredRoute({
          kind: "FAST_MCTP",
          chainId: 2,
          token: USDC,
          destChain: 2,
          destToken: USDC,
          contract,
        }),
        configuredRoute({
          kind: "SWIFT",
          chainId: 2,
          token: USDC,
          destChain: 2,
          priced: true,
          destToken: USDC,
          contract,
        }),
      ],
    },
  }),
).flat();

test("docs/doctor.md has exactly one row for each check", () => {
  const rows = [...page.matchAll(/^\| `([a-z]+\.[a-z-]+)`/gm)].map((match) => match[1] ?? "");
  expect(rows.toSorted()).toEqual([...new Set(checks.map(({ id }) => id))].toSorted());
});

test("names every check differently", () => {
  const names = checks.map(({ id, subject, item }) => JSON.stringify([id, subject, item]));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("lists needed checks before, or in a group that does not wait for this one", () => {
  const early = checks.filter((check, index) =>
    check.needs.some((need) => checks.indexOf(need) > index || !checks.includes(need)),
  );
  expect(early).toEqual([]);
});
