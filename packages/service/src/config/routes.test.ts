/** Routes of the file: by symbol, by chain name, in groups, and by default. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import type { Config } from "./config.ts";
import { loadConfig } from "../roles/config.ts";
import type { RouteConfig } from "./route-config.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const OTHER = "0x00000000000000000000000000000000000000aa";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-routes-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Loads the production example with changes, and with BSC as a third chain on request. */
function load(changes: object, withBsc = false): Config {
  const file: { chains: readonly object[]; attestor: { rpcUrls: object } } = JSON.parse(
    readFileSync(EXAMPLE, "utf8"),
  );
  const lanes = { deploy: { env: "D" }, settle: { env: "S" }, deliver: { env: "L" } };
  const bsc = { preset: "bsc", rpcUrl: "https://bsc.example", startBlock: 1, lanes };
  const chains = withBsc ? [...file.chains, bsc] : file.chains;
  const rpcUrls = { ...file.attestor.rpcUrls, ...(withBsc && { bsc: "https://bsc.example" }) };
  const path = join(folder, "sluice.json");
  const attestor = { ...file.attestor, rpcUrls };
  writeFileSync(path, JSON.stringify({ ...file, chains, attestor, ...changes }));
  const env = { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" };
  return loadConfig({ path, env, roles: ["auditor"] });
}

/** Describes each route, such as `SWIFT USDC@ethereum USDC@base`. */
function describeRoutes(config: Config): readonly string[] {
  const nameOf = (chainId: number, token: string) => {
    const chain = config.chains.find((known) => known.chainId === chainId);
    return `${chain?.tokens.find(({ address }) => address === token)?.symbol}@${chain?.name}`;
  };
  return config.routes.map((route) =>
    route.destChain === route.chainId
      ? `${route.kind} ${nameOf(route.chainId, route.token)}`
      : `${route.kind} ${nameOf(route.chainId, route.token)} ${nameOf(route.destChain, route.destToken)}`,
  );
}

const routesOf = (routes: readonly object[], withBsc = false) =>
  describeRoutes(load({ routes }, withBsc));
const contractsOf = (routes: readonly RouteConfig[]) => routes.map(({ contract }) => contract);

describe("a file without routes", () => {
  test("settles every token on its own chain, and USDC through the bridge", () => {
    const config = load({});
    expect(describeRoutes(config)).toEqual([
      "MONO_CHAIN ETHEREUM@ethereum",
      "MONO_CHAIN WETH@ethereum",
      "MONO_CHAIN USDC@ethereum",
      "MONO_CHAIN USDT@ethereum",
      "MONO_CHAIN BASE@base",
      "MONO_CHAIN WETH@base",
      "MONO_CHAIN USDC@base",
      "MONO_CHAIN USDT@base",
      "FAST_MCTP USDC@ethereum USDC@base",
      "FAST_MCTP USDC@base USDC@ethereum",
    ]);
    expect(new Set(contractsOf(config.routes)).size).toBe(10);
    expect(contractsOf(config.routes)).not.toContain(NATIVE_TOKEN);
  });

  test("has no bridge routes for a chain without cctp", () => {
    const bridged = describeRoutes(load({}, true)).filter((route) => route.startsWith("FAST"));
    expect(bridged).toEqual([
      "FAST_MCTP USDC@ethereum USDC@base",
      "FAST_MCTP USDC@base USDC@ethereum",
    ]);
  });

  test("is refused without a deployment from which to derive the contracts", () => {
    const contracts = { factory: OTHER, escrow: OTHER, delivery: OTHER };
    expect(problemsOf(() => load({ deployment: undefined, contracts }))).toEqual([
      "routes: expected deployment, from which contracts follow, or routes that name theirs",
    ]);
  });
});

describe("a route", () => {
  test("names chains by id or name, and tokens by address, symbol or native", () => {
    const [first, second, third] = load({
      routes: [
        { kind: "SWIFT", chainId: "base", token: "USDC", destChain: 2, destToken: "USDT" },
        { kind: "MONO_CHAIN", chainId: 30, token: "native", contract: OTHER },
        { kind: "MONO_CHAIN", chainId: "base", token: "USDC" },
      ],
    }).routes;
    expect(first).toMatchObject({
      kind: "SWIFT",
      chainId: 30,
      token: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
      destChain: 2,
      destToken: "0xdac17f958d2ee523a2206206994597c13d831ec7",
      pricedIn: null,
    });
    expect(second).toEqual({
      kind: "MONO_CHAIN",
      chainId: 30,
      token: NATIVE_TOKEN,
      destChain: 30,
      destToken: NATIVE_TOKEN,
      contract: OTHER,
      pricedIn: null,
      fromInventory: false,
      swap: null,
    });
    expect(third?.contract).toMatch(/^0x[0-9a-f]{40}$/);
  });

  test("has another contract when it is priced", () => {
    const pair = {
      kind: "SWIFT",
      chainId: "base",
      token: "USDC",
      destChain: "ethereum",
      destToken: "USDC",
    };
    const [same] = contractsOf(load({ routes: [pair] }).routes);
    const [priced] = contractsOf(load({ routes: [{ ...pair, priced: true }] }).routes);
    expect(priced).not.toBe(same);
  });

  test("names its destination token when it swaps in a pool", () => {
    const swap = { kind: "MONO_CHAIN", chainId: "base", token: "native", destToken: "USDC" };
    const chains = JSON.parse(readFileSync(EXAMPLE, "utf8")).chains;
    chains[1].uniswapV3 = { router: OTHER, quoter: OTHER, weth: OTHER };
    const [route, stays] = load({
      chains,
      routes: [
        { ...swap, poolFee: 500, dailyCap: "5" },
        { kind: "MONO_CHAIN", chains: ["base"], tokens: ["native"] },
      ],
    }).routes;
    expect(route).toMatchObject({
      token: NATIVE_TOKEN,
      swap: { tokenOut: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", poolFee: 500 },
    });
    expect(stays).toMatchObject({ swap: null });
    expect(stays?.contract).not.toBe(route?.contract);
    const group = { kind: "MONO_CHAIN", poolFee: 500 };
    expect(problemsOf(() => load({ routes: [group] }))).toEqual([
      "routes[0].poolFee: expected nothing, a route without destToken does not swap",
    ]);
  });

  const usdc = { kind: "MONO_CHAIN", chainId: "base", token: "USDC" };
  test.each<[string, object, string]>([
    [
      "an unconfigured chain name",
      { ...usdc, chainId: "polygon" },
      "routes[0].chainId: expected a bridge chain id, or the name of a configured chain (ethereum, base)",
    ],
    [
      "an unconfigured chain id",
      { ...usdc, chainId: 5 },
      "routes[0].chainId: expected a configured chain",
    ],
    [
      "no source chain",
      { ...usdc, chainId: undefined },
      "routes[0].chainId: expected a bridge chain id, or the name of a configured chain (ethereum, base), it is missing",
    ],
    [
      "a symbol that the chain does not list",
      { ...usdc, token: "DAI" },
      "routes[0].token: expected 0x and 40 hex digits, or one of BASE, WETH, USDC, USDT, native",
    ],
    [
      "no destination token",
      { ...usdc, kind: "FAST_MCTP", destChain: "ethereum" },
      "routes[0].destToken: expected 0x and 40 hex digits, or one of ETHEREUM, WETH, USDC, USDT, native, it is missing",
    ],
    [
      "a setting of groups",
      { ...usdc, tokens: ["USDT"] },
      "routes[0].tokens: expected nothing beside one route",
    ],
    [
      "a malformed contract address",
      { ...usdc, contract: "0x1" },
      "routes[0].contract: expected 0x and 40 hex digits",
    ],
  ])("is refused with %s", (_, route, problem) => {
    expect(problemsOf(() => load({ routes: [route] }))).toEqual([problem]);
  });

  test("is refused when its contract is neither named nor derived from a deployment", () => {
    const contracts = { factory: OTHER, escrow: OTHER, delivery: OTHER };
    expect(problemsOf(() => load({ deployment: undefined, contracts, routes: [usdc] }))).toEqual([
      "routes[0].contract: expected 0x and 40 hex digits, or deployment, from which it follows",
    ]);
  });

  test("is refused when two tokens of the chain share its symbol", () => {
    const chains = JSON.parse(readFileSync(EXAMPLE, "utf8")).chains;
    const second = { symbol: "USDC", address: OTHER, decimals: 6 };
    chains[1].tokens = ["USDC", second];
    expect(problemsOf(() => load({ chains, routes: [usdc] }))).toEqual([
      "routes[0].token: expected an address, more than one token of the chain has the symbol",
    ]);
  });
});

describe("a group of routes", () => {
  test("contains every pair of chains that list the token", () => {
    expect(routesOf([{ kind: "SWIFT", tokens: ["USDC", "USDT"] }])).toEqual([
      "SWIFT USDC@ethereum USDC@base",
      "SWIFT USDT@ethereum USDT@base",
      "SWIFT USDC@base USDC@ethereum",
      "SWIFT USDT@base USDT@ethereum",
    ]);
    expect(routesOf([{ kind: "SWIFT", tokens: ["USDC"] }], true)).toHaveLength(6);
    expect(routesOf([{ kind: "MONO_CHAIN", tokens: ["native", "USDC"] }])).toEqual([
      "MONO_CHAIN ETHEREUM@ethereum",
      "MONO_CHAIN USDC@ethereum",
      "MONO_CHAIN BASE@base",
      "MONO_CHAIN USDC@base",
    ]);
    expect(routesOf([{ kind: "FAST_MCTP" }], true)).toHaveLength(2);
  });

  test("can be limited to some chains", () => {
    const swift = { kind: "SWIFT", tokens: ["USDC"], chains: ["ethereum", 30] };
    expect(routesOf([swift], true)).toHaveLength(2);
    expect(routesOf([{ kind: "MONO_CHAIN", tokens: ["USDC"], chains: ["bsc"] }], true)).toEqual([
      "MONO_CHAIN USDC@bsc",
    ]);
  });

  test("leaves out a route that has its own entry, even a later one", () => {
    const config = load({
      routes: [
        { kind: "MONO_CHAIN", tokens: ["USDC"] },
        { kind: "MONO_CHAIN", chainId: "base", token: "USDC", contract: OTHER },
      ],
    });
    expect(describeRoutes(config)).toEqual(["MONO_CHAIN USDC@ethereum", "MONO_CHAIN USDC@base"]);
    expect(config.routes[1]?.contract).toBe(OTHER);
  });

  test.each<[string, object, string]>([
    [
      "no tokens for SWIFT",
      { kind: "SWIFT" },
      "routes[0].tokens: expected a list of symbols, got nothing",
    ],
    [
      "native as a token of SWIFT",
      { kind: "SWIFT", tokens: ["native"] },
      "routes[0].tokens[0]: expected a symbol, because native coins of two chains may be different assets",
    ],
    [
      "priced",
      { kind: "SWIFT", tokens: ["USDC"], priced: true },
      "routes[0].priced: expected nothing in a group, because each symbol is one asset",
    ],
    [
      "a token of SWIFT that only one chain lists",
      { kind: "SWIFT", tokens: ["USDC", "BASE"] },
      "routes[0].tokens[1]: expected a token that two of its chains list",
    ],
    [
      "a token that no chain lists",
      { kind: "MONO_CHAIN", tokens: ["DAI"] },
      "routes[0].tokens[0]: expected a token of one of its chains, or native",
    ],
    [
      "an unconfigured chain",
      { kind: "MONO_CHAIN", chains: ["base", 5] },
      "routes[0].chains[1]: expected a configured chain",
    ],
    [
      "only one chain for the bridge",
      { kind: "FAST_MCTP", chains: ["base"] },
      "routes[0]: expected two chains with cctp and USDC",
    ],
    [
      "tokens for FAST_MCTP",
      { kind: "FAST_MCTP", tokens: ["USDC"] },
      "routes[0].tokens: expected no such setting",
    ],
  ])("is refused with %s", (_, group, problem) => {
    expect(problemsOf(() => load({ routes: [group] }))).toEqual([problem]);
  });

  test("is refused when another group contains the same route", () => {
    const group = { kind: "MONO_CHAIN", tokens: ["USDC"] };
    expect(problemsOf(() => load({ routes: [group, group] }))).toEqual([
      "routes[1]: expected each route once, it is there twice",
    ]);
  });
});
