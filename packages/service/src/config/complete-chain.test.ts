/** Configurations built from presets: inherited settings, overrides and refusals. */
import { type ChainConfig, listEvmChains, listLaneKeys } from "./chains.ts";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { loadConfig } from "../roles/config.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const OTHER = "0x00000000000000000000000000000000000000aa";
const TREASURY = "0x00000000000000000000000000000000000000ab";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-presets-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = {
  SLUICE_DATABASE_URL: "postgres://sluice:secret@db.example/sluice",
  SLUICE_API_KEY_PEPPER: "a-pepper-of-some-length",
  SLUICE_KEYSTORE_PASSPHRASE: "a passphrase",
};

/** Loads the production example as an auditor, with changes to its second chain, base. */
function load(chain: object, changes: object = {}) {
  const file: { chains: readonly object[] } = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  const [ethereum, base] = file.chains;
  const path = join(folder, "sluice.json");
  const chains = [ethereum, { ...base, ...chain }];
  writeFileSync(path, JSON.stringify({ ...file, chains, ...changes }));
  return loadConfig({ path, env, roles: ["auditor"] });
}

const loadBase = (chain: object, changes: object = {}) => listEvmChains(load(chain, changes))[1];
/** Returns an HTTP source with default settings that reads the price at a pointer. */
const plain = (pointer: string) => ({
  pointer: pointer.split("/"),
  headers: new Map(),
  timestampPointer: undefined,
  scale: 0,
  maxAgeMs: 3_600_000,
});
const symbolsOf = (chain: ChainConfig | undefined) => chain?.tokens.map(({ symbol }) => symbol);

describe("the production example", () => {
  test("loads unchanged, with every key in a keystore", () => {
    const config = loadConfig({ path: EXAMPLE, env });
    const { attestor, databaseUrl } = config;
    expect(
      listEvmChains(config).map(({ preset, chainId, evmChainId }) => [
        preset?.name,
        chainId,
        evmChainId,
      ]),
    ).toEqual([
      ["ethereum", 2, 1],
      ["base", 30, 8453],
    ]);
    const keys = [...listLaneKeys(config), attestor.key];
    expect(keys.map(({ source }) => source.kind)).toEqual(Array(9).fill("keystore"));
    expect(databaseUrl?.reveal()).toBe(env.SLUICE_DATABASE_URL);
  });

  test("has no optional settings except $schema, database, keystorePassphrase and attestors", () => {
    const file = JSON.parse(readFileSync(EXAMPLE, "utf8"));
    const refused = (name: string, changes: object, chain: object = {}) =>
      problemsOf(() => load(chain, changes)).length > 0 ? [] : [name];
    const ofFile = Object.keys(file).flatMap((name) => refused(name, { [name]: undefined }));
    expect(ofFile.toSorted()).toEqual(["$schema", "attestors", "database", "keystorePassphrase"]);
    const ofChain = Object.keys(file.chains[1]).flatMap((name) =>
      refused(name, {}, { [name]: undefined }),
    );
    expect(ofChain).toEqual([]);
  });

  test("takes omitted settings from its presets", () => {
    const [ethereum, base] = load({}).chains;
    expect(base).toMatchObject({
      minDepositUsd: 10n ** 18n,
      pollIntervalMs: 1_000,
      deliveryConfirmations: 5,
      gasPriceMax: 50_000_000_000n,
      cctp: {
        domain: 6,
        messenger: toEvmAddress("0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d"),
        transmitter: toEvmAddress("0x81D40F21F12A8F0E3252Bccb954D722d4c464B64"),
      },
      uniswapV3: {
        router: toEvmAddress("0x2626664c2603336E57B271c5C0b26F421741e481"),
        weth: toEvmAddress("0x4200000000000000000000000000000000000006"),
      },
    });
    expect(base?.tokens).toContainEqual({
      symbol: "USDC",
      address: toEvmAddress(USDC_ON_BASE),
      decimals: 6,
      minDeposit: 1_000_000n,
      minDepositUnits: "1",
      inventoryMin: undefined,
      inventoryTarget: undefined,
      price: {
        fixed: undefined,
        feeds: [
          {
            address: toEvmAddress("0x7e860098F58bBFC8648a4311b374B1D669a2bc6B"),
            maxAgeMs: 90_000_000,
          },
        ],
        http: [
          {
            url: "https://api.kraken.com/0/public/Ticker?pair=USDCUSD",
            ...plain("result/USDCUSD/c/0"),
          },
          { url: "https://www.bitstamp.net/api/v2/ticker/usdcusd/", ...plain("last") },
        ],
        maxDeviationBps: 200,
      },
    });
    expect(symbolsOf(base)).toEqual(["BASE", "WETH", "USDC", "USDT"]);
    expect(symbolsOf(ethereum)).toEqual(["ETHEREUM", "WETH", "USDC", "USDT"]);
  });

  test("derives a treasury contract with one address on all chains unless an account is named", () => {
    const config = load({}, { deployment: { owner: OTHER, guardian: TREASURY } });
    const [ethereum, base] = listEvmChains(config);
    expect(config.deployment?.treasury).toBe(base?.contracts.treasury);
    expect(config.deployment?.feeRecipient).toBe(base?.contracts.treasury);
    expect(ethereum?.contracts.treasury).toBe(base?.contracts.treasury);
    const own = loadBase({ contracts: { treasury: OTHER } });
    expect(own?.contracts.treasury).toBe(OTHER);
  });

  test("refuses a target of the inventory that nothing could refill, or below its minimum", () => {
    const withTarget = (more: object, deployment?: object) => () =>
      load(
        { tokens: [{ symbol: "USDC", inventoryTarget: "1000", ...more }] },
        deployment && { deployment },
      );
    const derived = { owner: OTHER, guardian: TREASURY };
    expect(problemsOf(withTarget({ inventoryMin: "10" }))).toEqual([
      "chains[1].tokens.USDC.inventoryTarget: expected contracts.treasury, or a deployment without treasury: the contract refills it",
    ]);
    expect(problemsOf(withTarget({}, derived))).toEqual([
      "chains[1].tokens.USDC.inventoryTarget: expected inventoryMin, and not less than it",
    ]);
    expect(problemsOf(withTarget({ inventoryMin: "1001" }, derived))).toEqual([
      "chains[1].tokens.USDC.inventoryTarget: expected inventoryMin, and not less than it",
    ]);
    const config = withTarget({ inventoryMin: "10" }, derived)();
    expect(config.chains[1]?.tokens[0]?.inventoryTarget).toBe(1_000_000_000n);
  });

  test("refuses a delay that the contracts refuse, except where all chains are local test chains", () => {
    const delayed = (delaySeconds: number) => ({
      deployment: { owner: OTHER, guardian: TREASURY, treasury: TREASURY, delaySeconds },
    });
    expect(problemsOf(() => load({}, delayed(604_799)))).toEqual([
      "deployment.delaySeconds: expected at least 604800 (7 days), the contracts refuse 604799",
    ]);
    expect(load({}, delayed(604_800)).deployment?.delaySeconds).toBe(604_800);
  });

  test("derives one factory for all chains, and an escrow and a delivery for each chain", () => {
    const config = load({});
    const [ethereum, base] = listEvmChains(config);
    expect(config.deployment?.delaySeconds).toBe(604_800);
    expect(base?.contracts.factory).toBe(ethereum?.contracts.factory);
    const all = listEvmChains(config).flatMap(({ contracts }) => Object.values(contracts));
    expect(new Set(all.filter((address) => address !== undefined)).size).toBe(5);
    expect(base?.contracts.treasury).toBeUndefined();
    const given = loadBase({ contracts: { escrow: OTHER } });
    expect(given?.contracts).toEqual({ ...base?.contracts, escrow: OTHER });
    // The escrow is derived from the factory, so another factory moves it.
    const moved = loadBase({}, { contracts: { factory: OTHER } });
    expect(moved?.contracts.factory).toBe(OTHER);
    expect(moved?.contracts.escrow).not.toBe(base?.contracts.escrow);
  });

  test("listens on the loopback by default, and uses Circle's own service", () => {
    expect(load({})).toMatchObject({
      api: { host: "127.0.0.1", port: 8080 },
      quote: { host: "127.0.0.1", port: 8081 },
      telemetry: undefined,
      cctp: { apiUrl: "https://iris-api.circle.com" },
    });
    const apiUrl = "https://iris.example";
    expect(load({}, { cctp: { apiUrl } }).cctp).toEqual({ apiUrl });
  });
});

describe("test networks", () => {
  const TESTNET = join(import.meta.dirname, "../../../../docs/examples/testnet.json");

  test("take the places of their chains, with contracts, explorers and Circle's service of their own", () => {
    const config = loadConfig({ path: TESTNET, env });
    expect(
      listEvmChains(config).map(({ name, chainId, evmChainId, explorerTxUrl }) => [
        name,
        chainId,
        evmChainId,
        explorerTxUrl,
      ]),
    ).toEqual([
      ["ethereum", 2, 11155111, "https://sepolia.etherscan.io/tx/"],
      ["base", 30, 84532, "https://sepolia.basescan.org/tx/"],
    ]);
    expect(config.cctp).toEqual({ apiUrl: "https://iris-api-sandbox.circle.com" });
    const production = listEvmChains(loadConfig({ path: EXAMPLE, env }));
    const ours = listEvmChains(config);
    for (const [index, { contracts, cctp, tokens }] of ours.entries()) {
      const main = production[index];
      // An address that is issued for one network is none of the other's.
      expect(contracts.escrow).not.toBe(main?.contracts.escrow);
      expect(cctp?.domain).toBe(main?.cctp?.domain);
      expect(cctp?.messenger).not.toBe(main?.cctp?.messenger);
      expect(symbolsOf({ ...main, tokens } as ChainConfig)).toEqual([
        main?.name.toUpperCase(),
        "WETH",
        "USDC",
      ]);
    }
  });

  test("do not stand beside main networks", () => {
    const problem =
      "chains: expected main networks (ethereum) or test networks (base-sepolia), not both";
    expect(problemsOf(() => load({ preset: "base-sepolia" }))).toContain(problem);
  });
});

describe("the URL of Circle's service is required", () => {
  const missing =
    "cctp: expected an object with apiUrl, because a route of the kind FAST_MCTP needs it";
  const bridge = { domain: 6, messenger: OTHER, transmitter: OTHER };
  const ids = { preset: undefined, chainId: 30, evmChainId: 84532 };
  const tokens = [{ symbol: "USDC", address: USDC_ON_BASE, decimals: 6 }];
  test.each<[string, object]>([
    ["for a bridge with other contracts", { cctp: bridge }],
    ["for a chain without a preset", { ...ids, tokens, cctp: bridge }],
  ])("%s", (_, chain) => {
    expect(problemsOf(() => load(chain))).toEqual([missing]);
    expect(load(chain, { routes: [] }).cctp).toBeUndefined();
  });
});

describe("HTTP price sources", () => {
  const httpOf = (chain: ChainConfig | undefined) =>
    chain?.tokens.map(({ symbol, price }) => [symbol, price?.feeds.length, price?.http.length]);

  test("are added to each feed of a preset, two per token", () => {
    expect(httpOf(loadBase({}))).toEqual([
      ["BASE", 1, 2],
      ["WETH", 1, 2],
      ["USDC", 1, 2],
      ["USDT", 1, 2],
    ]);
  });

  test("are not added to a token with its own price, or when httpPrices is false", () => {
    const price = { static: "1" };
    const own = loadBase({ tokens: [{ symbol: "USDC", price }, "BASE"] });
    expect(own?.tokens[0]?.price).toMatchObject({ fixed: 10n ** 18n, feeds: [], http: [] });
    expect(httpOf(own)?.[1]).toEqual(["BASE", 1, 2]);
    expect(httpOf(loadBase({ tokens: ["USDC"] }, { httpPrices: false }))).toEqual([["USDC", 1, 0]]);
  });
});

describe("a chain with a preset", () => {
  test("can override every setting of the preset but its ids", () => {
    const cctp = { domain: 99, messenger: OTHER, transmitter: OTHER };
    const changes = {
      minDepositUsd: "2.5",
      pollIntervalMs: 500,
      deliveryConfirmations: 9,
      gasPriceMaxGwei: "0.5",
      cctp,
      uniswapV3: { router: OTHER, weth: OTHER },
      contracts: { factory: OTHER, escrow: OTHER, delivery: OTHER },
    };
    const chain = loadBase(changes, { routes: [] });
    expect(chain).toMatchObject({
      minDepositUsd: 25n * 10n ** 17n,
      pollIntervalMs: 500,
      deliveryConfirmations: 9,
      gasPriceMax: 500_000_000n,
      cctp,
      uniswapV3: { router: OTHER, weth: OTHER },
      contracts: { factory: OTHER, escrow: OTHER, delivery: OTHER },
    });
    expect(loadBase({ chainId: 30, evmChainId: 8453 })?.chainId).toBe(30);
  });

  test("pays early only with an exposure, by the tiers of the preset or its own", () => {
    const earlyOf = (earlyPayouts?: object, changes?: object) => {
      const chain = loadBase({ earlyPayouts }, changes);
      return chain?.kind === "evm" ? chain.earlyPayouts : null;
    };
    const usd = (amount: bigint) => amount * 10n ** 18n;
    expect(earlyOf()).toBeUndefined();
    expect(earlyOf({ exposureUsd: "5000" })).toEqual({
      exposure: usd(5_000n),
      tiers: [
        { after: 2, upTo: usd(200n) },
        { after: 10, upTo: usd(2_000n) },
      ],
      exceptions: [],
      acceptedLosses: [],
    });
    const own = { exposureUsd: "10.5", tiers: [{ after: 1, upToUsd: "10" }] };
    const id = `0x${"a".repeat(64)}`;
    expect(earlyOf({ ...own, acceptedLosses: [id] })).toMatchObject({
      exposure: usd(21n) / 2n,
      tiers: [{ after: 1, upTo: usd(10n) }],
      acceptedLosses: [id],
    });
    // Two of three must sign: a thief of one key needs one of two others.
    const attestors = {
      threshold: 2,
      accounts: ["5", "6", "7", "8"].map((digit) => `0x${digit.repeat(40)}`),
      cold: [`0x${"8".repeat(40)}`],
    };
    expect(earlyOf({ exposureUsd: "5000" }, { attestors })).toMatchObject({
      exposure: usd(2_500n),
    });
    const exceptions = [
      { token: "USDC", to: "arbitrum", tiers: [{ after: "safe", upToUsd: "10" }] },
      { to: "polygon", tiers: [] },
    ];
    expect(earlyOf({ ...own, exceptions })).toMatchObject({
      exceptions: [
        {
          token: toEvmAddress(USDC_ON_BASE),
          destChain: 23,
          tiers: [{ after: "safe", upTo: usd(10n) }],
        },
        { token: undefined, destChain: 5, tiers: [] },
      ],
    });
  });

  test("lists the tokens that the file names: from the preset, changed, or new", () => {
    const dai = { symbol: "DAI", address: OTHER, decimals: 18 };
    const tokens = ["BASE", { symbol: "USDC", minDeposit: "7", inventoryMin: "100" }, dai];
    const listed = loadBase({ tokens }, { routes: [] })?.tokens;
    expect(listed).toMatchObject([
      { symbol: "BASE", address: NATIVE_TOKEN },
      { symbol: "USDC", address: toEvmAddress(USDC_ON_BASE), minDeposit: 7_000_000n },
      { symbol: "DAI", address: OTHER, price: undefined },
    ]);
    expect(listed?.[1]).toMatchObject({ inventoryMin: 100_000_000n, decimals: 6 });
    expect(listed?.[1]?.price?.feeds).toHaveLength(1);
  });

  test("takes nothing from the preset for another contract with the same symbol", () => {
    const tokens = [{ symbol: "USDC", address: OTHER, decimals: 18 }];
    expect(loadBase({ tokens }, { routes: [] })?.tokens).toMatchObject([
      { symbol: "USDC", address: OTHER, decimals: 18, minDeposit: undefined, price: undefined },
    ]);
  });

  test.each<[string, object, string]>([
    [
      "an unknown preset",
      { preset: "sonic" },
      "chains[1].preset: expected one of ethereum, bsc, polygon, avalanche, arbitrum, optimism, base, linea, unichain, ethereum-sepolia, arbitrum-sepolia, base-sepolia",
    ],
    [
      "tiers that do not rise",
      {
        earlyPayouts: {
          exposureUsd: "5",
          tiers: [
            { after: 2, upToUsd: "1" },
            { after: 3, upToUsd: "1" },
          ],
        },
      },
      "chains[1].earlyPayouts.tiers[1]: expected more blocks, or safe, and more dollars than in the tier before",
    ],
    [
      "a tier after the one for safe blocks",
      {
        earlyPayouts: {
          exposureUsd: "5",
          tiers: [
            { after: "safe", upToUsd: "1" },
            { after: 50, upToUsd: "2" },
          ],
        },
      },
      "chains[1].earlyPayouts.tiers[1]: expected more blocks, or safe, and more dollars than in the tier before",
    ],
    [
      "an exception for a token that the chain does not have",
      { earlyPayouts: { exposureUsd: "5", exceptions: [{ token: "PEPE", tiers: [] }] } },
      "chains[1].earlyPayouts.exceptions[0].token: expected a symbol of this chain's tokens, got PEPE",
    ],
    [
      "an exception for an unknown chain",
      { earlyPayouts: { exposureUsd: "5", exceptions: [{ to: "moon", tiers: [] }] } },
      "chains[1].earlyPayouts.exceptions[0].to: expected the name of a chain, got moon",
    ],
    [
      "an exception for every payout",
      { earlyPayouts: { exposureUsd: "5", exceptions: [{ tiers: [] }] } },
      "chains[1].earlyPayouts.exceptions[0]: expected token, or to, or both",
    ],
    [
      "early payouts without an exposure",
      { earlyPayouts: {} },
      "chains[1].earlyPayouts.exposureUsd: expected US dollars, a plain decimal, it is missing",
    ],
    [
      "another bridge chain id",
      { chainId: 24 },
      "chains[1].chainId: expected 30, as the preset base has, or nothing",
    ],
    [
      "another EVM chain id",
      { evmChainId: 1 },
      "chains[1].evmChainId: expected 8453, as the preset base has, or nothing",
    ],
    [
      "a token that the preset does not have",
      { tokens: ["USDC", "DAI"] },
      "chains[1].tokens[1]: expected a token of the preset base (BASE, WETH, USDC, USDT), or one with an address",
    ],
    [
      "a change to a token that the preset does not have",
      { tokens: ["USDC", { symbol: "DAI", decimals: 18 }] },
      "chains[1].tokens[1]: expected a token of the preset base (BASE, WETH, USDC, USDT), or one with an address",
    ],
    [
      "a new token without decimals",
      { tokens: ["USDC", { symbol: "DAI", address: OTHER }] },
      "chains[1].tokens[1].decimals: expected a whole number, 0 to 77, it is missing",
    ],
    [
      "a number in place of a token",
      { tokens: ["USDC", 7] },
      "chains[1].tokens[1]: expected a token, or the symbol of one of the preset",
    ],
    [
      "the domain of another chain",
      { cctp: { domain: 0, messenger: OTHER, transmitter: OTHER } },
      "chains[1].cctp.domain: expected one of its own, another chain has it too",
    ],
    [
      "CCTP without a transmitter",
      { cctp: { domain: 6, messenger: OTHER } },
      "chains[1].cctp.transmitter: expected 0x and 40 hex digits, it is missing",
    ],
    [
      "the zero address as router",
      { uniswapV3: { router: NATIVE_TOKEN, weth: OTHER } },
      "chains[1].uniswapV3.router: expected a contract, not the zero address",
    ],
    [
      "no first block",
      { startBlock: undefined },
      "chains[1].startBlock: expected the first block to scan, it is missing",
    ],
    [
      "no lane keys",
      { lanes: undefined },
      "chains[1].lanes: expected the keys deploy, settle and deliver, and optionally claim, it is missing",
    ],
    [
      "a wrong checksum",
      { uniswapV3: { router: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", weth: OTHER } },
      "chains[1].uniswapV3.router: expected a right EIP-55 checksum, or lower case",
    ],
  ])("is refused with %s", (_what, change, problem) => {
    expect(problemsOf(() => load(change, { routes: [] }))).toEqual([problem]);
  });

  test("is refused when neither it nor the file names a contract", () => {
    const changes = { deployment: undefined, contracts: { factory: OTHER } };
    expect(problemsOf(() => load({ contracts: {} }, changes))).toEqual(
      [0, 1].flatMap((index) => [
        `chains[${index}].contracts.escrow: expected 0x and 40 hex digits, it is missing`,
        `chains[${index}].contracts.delivery: expected 0x and 40 hex digits, it is missing`,
      ]),
    );
  });

  test("reports its problems together with those of the rest of the file", () => {
    expect(problemsOf(() => load({ tokens: ["DAI"] }, { feeBps: -1 }))).toEqual([
      "feeBps: expected basis points, 0 to 10000",
      "chains[1].tokens[0]: expected a token of the preset base (BASE, WETH, USDC, USDT), or one with an address",
    ]);
  });
});

test("refuses a token given by symbol on a chain without a preset", () => {
  const chain = { preset: undefined, chainId: 30, evmChainId: 8453, tokens: ["USDC"] };
  expect(problemsOf(() => load(chain))).toEqual([
    "chains[1].tokens[0]: expected a token with symbol, address and decimals, since there is no preset",
  ]);
});
