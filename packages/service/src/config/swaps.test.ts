/** Pool swaps in the configuration, on one chain and before the bridge. */
import { listEvmChains } from "./chains.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { loadConfig } from "../roles/config.ts";

const addressOf = (digit: number) => `0x${String(digit).repeat(40)}`;
const ENV = {
  PEPPER: "a-pepper-of-some-length",
  ATTESTOR: `0x${"a".repeat(64)}`,
  DEPLOY: `0x${"b".repeat(64)}`,
  SETTLE: `0x${"c".repeat(64)}`,
  DELIVER: `0x${"d".repeat(64)}`,
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(file: object) {
  const path = join(folder, "sluice.json");
  writeFileSync(path, JSON.stringify(file));
  return loadConfig({ path, env: ENV });
}

/** A complete configuration without pool swaps. */
function createFile() {
  const chain = (chainId: number, evmChainId: number, token: number) => ({
    chainId,
    evmChainId,
    rpcUrl: "http://127.0.0.1:8545",
    startBlock: 0,
    contracts: { factory: addressOf(1), escrow: addressOf(2), delivery: addressOf(3) },
    tokens: [{ symbol: "USDC", address: addressOf(token), decimals: 6 }],
    lanes: { deploy: { env: "DEPLOY" }, settle: { env: "SETTLE" }, deliver: { env: "DELIVER" } },
  });
  const stays = { kind: "MONO_CHAIN", chainId: 2, token: addressOf(4), contract: addressOf(6) };
  return {
    stateDir: "state",
    api: { port: 0 },
    quote: { port: 0 },
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { 2: "http://127.0.0.1:1", 30: "http://127.0.0.1:2" },
    },
    chains: [chain(2, 900002, 4), chain(30, 900030, 5)],
    routes: [stays, { ...stays, chainId: 30, token: addressOf(5) }],
  };
}

describe("a pool swap on one chain", () => {
  const price = { static: "1" };
  const uniswapV3 = { router: addressOf(7), quoter: addressOf(8), weth: addressOf(9) };

  /** A complete file with pool swaps of USDC to the native coin and back; each test changes a copy. */
  function createSwaps() {
    const file = createFile();
    const [ethereum, base] = file.chains;
    if (!ethereum || !base) throw new Error("the file has two chains");
    const native = { symbol: "ETHEREUM", address: addressOf(0), decimals: 18, price };
    const tokens = [...ethereum.tokens.map((token) => ({ ...token, price })), native];
    const swap = {
      kind: "MONO_CHAIN",
      chainId: 2,
      contract: addressOf(6),
      poolFee: 500,
      dailyCap: "5",
    };
    const there = { ...swap, token: addressOf(4), destToken: addressOf(0) };
    const back = { ...swap, token: addressOf(0), destToken: addressOf(4), maxImpactBps: 30 };
    return {
      ...file,
      chains: [{ ...ethereum, tokens, uniswapV3 }, base],
      routes: [...file.routes, there, { ...back, slippageBps: 20 }],
    };
  }

  test("is read with defaults", () => {
    const config = load(createSwaps());
    const { routes } = config;
    const chains = listEvmChains(config);
    expect(chains[0]?.uniswapV3).toEqual(uniswapV3);
    expect(chains[1]?.uniswapV3).toBeUndefined();
    expect(routes.slice(2)).toMatchObject([
      {
        swap: {
          tokenOut: addressOf(0),
          poolFee: 500,
          maxImpactBps: 100,
          slippageBps: 50,
          limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "5" },
        },
      },
      { swap: { tokenOut: addressOf(4), poolFee: 500, maxImpactBps: 30, slippageBps: 20 } },
    ]);
  });

  test.each<[string, (file: ReturnType<typeof createSwaps>) => unknown, string]>([
    [
      "no pool fee",
      ({ routes }) => Reflect.deleteProperty(routes[2] ?? {}, "poolFee"),
      "routes[2].poolFee: expected the fee of the pool, because destToken is given",
    ],
    [
      "no daily cap",
      ({ routes }) => Reflect.deleteProperty(routes[2] ?? {}, "dailyCap"),
      "routes[2].dailyCap: expected the daily cap of the swaps, because destToken is given",
    ],
    [
      "a daily cap with too many decimals",
      ({ routes }) => Object.assign(routes[2] ?? {}, { dailyCap: "0.0000001" }),
      'routes[2].dailyCap: expected less than 2^112 base units and at most 6 decimals, got "0.0000001"',
    ],
    [
      "a pool fee without destToken",
      ({ routes }) => Object.assign(routes[0] ?? {}, { poolFee: 500 }),
      "routes[0].poolFee: expected nothing, a route without destToken does not swap",
    ],
    [
      "maxImpactBps without destToken",
      ({ routes }) => Object.assign(routes[0] ?? {}, { maxImpactBps: 1 }),
      "routes[0].maxImpactBps: expected nothing, a route without destToken does not swap",
    ],
    [
      "an unlisted destToken",
      ({ routes }) => Object.assign(routes[2] ?? {}, { destToken: addressOf(5) }),
      "routes[2].destToken: expected a listed token of chain 2",
    ],
    [
      "the deposited token as destToken",
      ({ routes }) => Object.assign(routes[3] ?? {}, { destToken: addressOf(0) }),
      "routes[3].destToken: expected a token other than the deposited one or its wrapped form",
    ],
    [
      "the zero address as quoter",
      ({ chains }) =>
        Object.assign(chains[0] ?? {}, { uniswapV3: { ...uniswapV3, quoter: addressOf(0) } }),
      "chains[0].uniswapV3.quoter: expected a contract, not the zero address",
    ],
    [
      "the same route twice",
      ({ routes }) => routes.push(...routes.slice(3)),
      "routes[4]: expected each route once, it is there twice",
    ],
  ])("is refused with %s", (_, change, problem) => {
    const file = createSwaps();
    change(file);
    expect(problemsOf(() => load(file))).toEqual([problem]);
  });

  test("is refused between the native coin and its wrapped form", () => {
    const file = createSwaps();
    const [ethereum] = file.chains;
    Object.assign(ethereum ?? {}, { uniswapV3: { ...uniswapV3, weth: addressOf(4) } });
    expect(problemsOf(() => load(file))).toEqual(
      [2, 3].map(
        (route) =>
          `routes[${route}].destToken: expected a token other than the deposited one or its wrapped form`,
      ),
    );
  });

  test.each([
    ["the Uniswap contracts of its chain", undefined],
    ["the quoter of its chain", { router: addressOf(7), weth: addressOf(9) }],
  ])("needs %s, and a price of both tokens", (_, contracts) => {
    const file = createSwaps();
    Object.assign(file.chains[0] ?? {}, { uniswapV3: contracts });
    Reflect.deleteProperty(file.chains[0]?.tokens[0] ?? {}, "price");
    expect(problemsOf(() => load(file))).toEqual(
      [2, 3].flatMap((route) => [
        `chains[0].uniswapV3: expected router, quoter and weth, because routes[${route}] swaps there`,
        `routes[${route}].destToken: expected a price of the token USDC of chain 2`,
      ]),
    );
  });
});

describe("a pool swap before the bridge", () => {
  const price = { static: "1" };
  const uniswapV3 = { router: addressOf(7), quoter: addressOf(8), weth: addressOf(9) };
  const DAI = `0x${"da".repeat(20)}`;

  /** A complete file with a route of DAI to USDC on another chain; each test changes a copy. */
  function createBridged() {
    const file = createFile();
    const [ethereum, base] = file.chains;
    if (!ethereum || !base) throw new Error("the file has two chains");
    const cctp = (domain: number) => ({
      domain,
      messenger: addressOf(7),
      transmitter: addressOf(8),
    });
    const dai = { symbol: "DAI", address: DAI, decimals: 18, price };
    const tokens = [...ethereum.tokens.map((token) => ({ ...token, price })), dai];
    const route = {
      kind: "FAST_MCTP",
      chainId: 2,
      token: DAI,
      destChain: 30,
      destToken: addressOf(5),
      contract: addressOf(6),
      bridgeToken: addressOf(4),
      poolFee: 500,
      dailyCap: "5",
    };
    return {
      ...file,
      cctp: { apiUrl: "http://127.0.0.1:3" },
      chains: [
        { ...ethereum, tokens, uniswapV3, cctp: cctp(0) },
        { ...base, cctp: cctp(6) },
      ],
      routes: [route],
    };
  }

  test("is read with defaults, its tokens by address or symbol", () => {
    const named = createBridged();
    Object.assign(named.routes[0] ?? {}, { token: "DAI", bridgeToken: "USDC", destToken: "USDC" });
    for (const file of [createBridged(), named]) {
      expect(load(file).routes).toEqual([
        {
          kind: "FAST_MCTP",
          chainId: 2,
          token: DAI,
          destChain: 30,
          destToken: addressOf(5),
          contract: addressOf(6),
          swap: {
            tokenOut: addressOf(4),
            poolFee: 500,
            maxImpactBps: 100,
            slippageBps: 50,
            limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "5" },
          },
          pricedIn: { chainId: 2, token: addressOf(4) },
          fromInventory: false,
        },
      ]);
    }
  });

  test.each<[string, (file: ReturnType<typeof createBridged>) => unknown, string]>([
    [
      "no pool fee",
      ({ routes }) => Reflect.deleteProperty(routes[0] ?? {}, "poolFee"),
      "routes[0].poolFee: expected the fee of the pool, because bridgeToken is given",
    ],
    [
      "a pool fee without bridgeToken",
      ({ routes }) => {
        Reflect.deleteProperty(routes[0] ?? {}, "bridgeToken");
        Reflect.deleteProperty(routes[0] ?? {}, "dailyCap");
        Object.assign(routes[0] ?? {}, { token: addressOf(4) });
      },
      "routes[0].poolFee: expected nothing, a route without bridgeToken does not swap",
    ],
    [
      "an unlisted bridgeToken",
      ({ routes }) => Object.assign(routes[0] ?? {}, { bridgeToken: addressOf(5) }),
      "routes[0].bridgeToken: expected a listed token of chain 2",
    ],
    [
      "the deposited token as bridgeToken",
      ({ routes }) => Object.assign(routes[0] ?? {}, { token: addressOf(4) }),
      "routes[0].bridgeToken: expected a token other than the deposited one or its wrapped form",
    ],
    [
      "no Uniswap contracts on its chain",
      ({ chains }) => Reflect.deleteProperty(chains[0] ?? {}, "uniswapV3"),
      "chains[0].uniswapV3: expected router, quoter and weth, because routes[0] swaps there",
    ],
    [
      "no price of bridgeToken",
      ({ chains }) => Reflect.deleteProperty(chains[0]?.tokens[0] ?? {}, "price"),
      "routes[0].bridgeToken: expected a price of the token USDC of chain 2",
    ],
    [
      "a destToken with other decimals",
      ({ chains }) => Object.assign(chains[1]?.tokens[0] ?? {}, { decimals: 18 }),
      "routes[0].destToken: expected 6 decimals like bridgeToken, because the bridge mints one base unit per burned unit",
    ],
    [
      "a destination chain without cctp",
      ({ chains }) => Reflect.deleteProperty(chains[1] ?? {}, "cctp"),
      "routes[0].destChain: expected a chain with chains[1].cctp, because the bridge needs it",
    ],
    [
      "no source chain",
      ({ routes }) => Reflect.deleteProperty(routes[0] ?? {}, "chainId"),
      "routes[0].chainId: expected a bridge chain id, or the name of a configured chain (ethereum, base), it is missing",
    ],
  ])("is refused with %s", (_, change, problem) => {
    const file = createBridged();
    change(file);
    expect(problemsOf(() => load(file))).toEqual([problem]);
  });

  test("needs no price of destToken, which is minted one to one", () => {
    expect(load(createBridged()).chains[1]?.tokens[0]?.price).toBeUndefined();
  });

  test("is refused in a group, because a pool has one pair", () => {
    const file = { ...createBridged(), routes: [{ kind: "FAST_MCTP", poolFee: 500 }] };
    expect(problemsOf(() => load(file))).toContain(
      "routes[0].poolFee: expected nothing, a route without bridgeToken does not swap",
    );
  });
});
