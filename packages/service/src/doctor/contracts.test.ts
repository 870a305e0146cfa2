import { describe, expect, test } from "vitest";
import {
  COLD_ATTESTOR,
  CHAIN,
  createDoctorDeps,
  nodesFor,
  ABLE,
  createStrictInspector,
  LANES,
  USDC,
} from "../../test/support/doctor-doubles.ts";
import type { ChainInspector, Governance, SwapBridgePair } from "../chains/inspector.ts";
import type { Config, RouteConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { examine } from "./examine.ts";
import type { DoctorDeps } from "./facts.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const THERE = { ...CHAIN, chainId: 30, name: "base", evmChainId: 8_453 };
const HERE = { ...CHAIN, evmChainId: 1 };
const ROUTE = toEvmAddress(`0x${"7".repeat(40)}`);
const OWNER = toEvmAddress(`0x${"b0".repeat(20)}`);
const GUARDIAN = toEvmAddress(`0x${"b1".repeat(20)}`);
const TREASURY = toEvmAddress(`0x${"b2".repeat(20)}`);
const STRANGER = toEvmAddress(`0x${"b3".repeat(20)}`);
const HASH = toHex32(`0x${"aa".repeat(32)}`);
const NOW_S = 1_800_000_000n;
const GOVERNANCE: Governance = {
  owner: OWNER,
  guardian: GUARDIAN,
  delaySeconds: 604_800n,
  isSealed: true,
  isPaused: false,
};

const routes: readonly RouteConfig[] = [
  configuredRoute({ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: ROUTE }),
  configuredRoute({
    kind: "SWIFT",
    chainId: 2,
    token: USDC,
    destChain: 30,
    priced: false,
    destToken: USDC,
    contract: ROUTE,
  }),
];

/** Returns a double of the node of one of two public chains: correct, except for the overrides. */
function createNode(chain: typeof HERE, given: Partial<ChainInspector>): ChainInspector {
  const { factory, escrow, delivery } = chain.contracts;
  const { deployer, identityOf } = createDoctorDeps({}).factory;
  return createStrictInspector({
    ...ABLE,
    getTimestamp: async (number) => NOW_S - (1_000n - number) * 12n,
    getEvmChainId: async () => chain.evmChainId,
    getHead: async (at) => ({
      number: at === "final" ? 900n : 1_000n,
      hash: HASH,
      parentHash: HASH,
      timestamp: NOW_S,
    }),
    getBlockHash: async () => HASH,
    getCoinBalance: async () => 10n ** 18n,
    getTransactionCount: async () => 3,
    suggestFees: async () => ({ gasPriceMax: 10n ** 9n, tipMax: 1n }),
    readSurcharge: async () => 0n,
    hasCode: async () => true,
    isContract: async () => false,
    getCodeHash: async (address) => (address === deployer.address ? deployer.codeHash : HASH),
    isOfBuild: async () => true,
    isImplementationOf: async () => true,
    getBalance: async () => 1n,
    getTokenDecimals: async () => 6,
    getTokenSymbol: async () => "USDC",
    getGovernance: async () => GOVERNANCE,
    getFactoryIdentity: async () => identityOf(factory),
    getContractTerms: async () => ({ factory, bridgeId: chain.chainId }),
    getTreasury: async () => TREASURY,
    getSecurityContact: async () => "security@example.org",
    getPayoutWindow: async () => 43_200,
    getThreshold: async () => 1,
    getUncollected: async () => 0n,
    getEscrowEvmChainId: async () => BigInt(chain.evmChainId),
    getTransferTerms: async () => ({
      evmChainId: BigInt(chain.evmChainId),
      bridgeId: chain.chainId,
      factory,
      token: USDC,
      feeRecipient: TREASURY,
    }),
    getEscrowPair: async () => ({
      evmChainId: BigInt(chain.evmChainId),
      sourceChain: chain.chainId,
      sourceToken: USDC,
      sourceDecimals: 6,
      escrow,
      destChain: 30,
      destToken: padAddress(USDC),
      destDecimals: 6,
      delivery: padAddress(delivery),
    }),
    isRoute: async () => true,
    isRelayer: async (_, relayer) => relayer === LANES.settle || relayer === LANES.claim,
    isAttestor: async () => true,
    isSettler: async (_, settler) => settler === LANES.deliver,
    getDailyCap: async () => 1n,
    hasAveragedPrice: async () => true,
    getCctpTransmitter: async () => STRANGER,
    getCctpDomain: async () => 0,
    ...given,
  });
}

/** Returns the findings when chain 2 has the given overrides. */
async function findProblems(
  given: Partial<ChainInspector>,
  config: Partial<Config> = {},
  others: Partial<DoctorDeps> = {},
) {
  const deps = createDoctorDeps({
    config: { routes, chains: [HERE, THERE], ...config },
    nowMs: Number(NOW_S) * 1_000,
  });
  const results = await examine({
    ...deps,
    listRouteSets: async () => [],
    getKnownNonces: async () => ({ next: 3, first: 0 }),
    listBreaches: async () => [],
    listOverdueClaims: async () => [],
    listUnexpectedChanges: async () => [],
    getNewestBackup: async () => ({
      backup: null,
      archived: new Date(deps.clock.now()).toISOString(),
    }),
    ...others,
    nodesOf(chainId) {
      const node = chainId === 2 ? createNode(HERE, given) : createNode(THERE, {});
      return nodesFor(node);
    },
    readDatabase: async () => ({
      majorVersion: 17,
      durability: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
      connectionsMax: 100,
      clockAheadMs: 0,
      missingMigrations: [],
      heldRoles: [],
      attestorRights: null,
    }),
    listRefundAuthorities: async () => [STRANGER],
    listIntegrators: async () => [],
  });
  return results.filter(({ status }) => status === "problem" || status === "warning");
}

const governed = (change: Partial<Governance>): Partial<ChainInspector> => ({
  getGovernance: async (contract) =>
    contract === HERE.contracts.factory ? { ...GOVERNANCE, ...change } : GOVERNANCE,
});

describe("the contracts on public chains", () => {
  test("have no findings when they are correct", async () => {
    expect(await findProblems({})).toEqual([]);
  });

  test("say where a treasury may not move what an inventory needs [T310]", async () => {
    const token = { ...CHAIN.tokens[0], inventoryMin: 1n, inventoryTarget: 9n };
    const chain = {
      ...HERE,
      contracts: { ...HERE.contracts, treasury: TREASURY },
      tokens: [{ ...HERE.tokens[0], ...token }],
    } as typeof HERE;
    const nothing = { perDay: 0n, readyAt: 0n };
    const found = (given: Partial<ChainInspector>) =>
      findProblems(given, { chains: [chain, THERE] });
    const listed = {
      isMover: async () => true,
      getDirection: async () => ({ perDay: 5n, pending: nothing }),
    };
    expect(await found(listed)).toEqual([]);
    const unlisted = {
      isMover: async () => false,
      getDirection: async () => ({ perDay: 0n, pending: nothing }),
    };
    expect(await found(unlisted)).toMatchObject([
      { id: "key.listed", item: expect.stringMatching(/at the treasury$/), status: "problem" },
      { id: "treasury.direction", item: "USDC to ethereum", status: "warning" },
    ]);
  });

  test("are a warning without inventory to deliver", async () => {
    const back: RouteConfig = configuredRoute({
      kind: "SWIFT",
      chainId: 30,
      token: USDC,
      destChain: 2,
      priced: false,
      destToken: USDC,
      contract: ROUTE,
    });
    const found = await findProblems({ getBalance: async () => 0n }, { routes: [...routes, back] });
    expect(found.filter(({ id }) => id === "delivery.inventory")).toMatchObject([
      { subject: "chain 2 (ethereum)", item: "USDC", status: "warning", found: "0 USDC" },
    ]);
  });

  test.each<[string, Partial<ChainInspector>, object]>([
    [
      "another deterministic deployer",
      { getCodeHash: async () => HASH },
      { id: "contract.deployer", found: `code hash ${HASH}` },
    ],
    [
      "a factory that deploys other wallets",
      {
        getFactoryIdentity: async () => ({ implementation: STRANGER, initCodeHash: HASH }),
      },
      { id: "factory.identity", found: `implementation ${STRANGER}, initCodeHash ${HASH}` },
    ],
    [
      "other code behind the wallets",
      { isImplementationOf: async () => false },
      { id: "factory.implementation" },
    ],
    ["a factory that is not sealed", governed({ isSealed: false }), { id: "contract.sealed" }],
    [
      "a delay of less than seven days",
      governed({ delaySeconds: 604_799n }),
      { id: "contract.delay", found: "604799 s" },
    ],
    [
      "an owner that is its own guardian",
      governed({ guardian: OWNER }),
      { id: "contract.owner", item: "factory" },
    ],
    [
      "an attestor that the factory does not list",
      { isAttestor: async (_, account) => account === COLD_ATTESTOR },
      { id: "key.listed", item: "attestor" },
    ],
    [
      "a settler that the delivery contract does not list",
      { isSettler: async () => false },
      { id: "key.listed", item: "deliver" },
    ],
    [
      "contracts of another bridge id",
      {
        getContractTerms: async () => ({
          factory: HERE.contracts.factory,
          bridgeId: 30,
        }),
      },
      { id: "contract.terms", found: "escrow.bridgeId 30, delivery.bridgeId 30" },
    ],
    [
      "a factory without a contact for reports of vulnerabilities",
      { getSecurityContact: async () => "" },
      { id: "contract.security-contact", found: "none", status: "warning" },
    ],
    [
      "a claim that the treasury refused",
      { getUncollected: async () => 1_500_000n },
      { id: "escrow.uncollected", found: "1.5 USDC", status: "warning" },
    ],
    [
      "another payout window",
      { getPayoutWindow: async () => 60 },
      { id: "contract.terms", found: "delivery.payoutWindow 60" },
    ],
    [
      "a factory with another threshold",
      { getThreshold: async () => 2 },
      { id: "contract.threshold", found: "2", expected: "1" },
    ],
    [
      "a treasury of address zero",
      { getTreasury: async () => NATIVE_TOKEN },
      { id: "contract.treasury", expected: "a treasury" },
    ],
    [
      "a refund authority that is a contract on one chain only",
      { isContract: async (address) => address === STRANGER },
      {
        id: "authority.code",
        item: "refund authorities",
        found: `${STRANGER} has no code on chain 30 (base)`,
      },
    ],
    [
      "an owner that is a contract on one chain only",
      { isContract: async (address) => address === OWNER },
      { id: "authority.code", item: "owners" },
    ],
  ])("reports %s, and nothing else", async (_name, given, expected) => {
    expect(await findProblems(given)).toMatchObject([{ status: "problem", ...expected }]);
  });

  test("warns of a token without a readable symbol", async () => {
    const getTokenSymbol = async () => {
      throw new OperatingError("RPC_UNAVAILABLE", "No usable answer.");
    };
    expect(await findProblems({ getTokenSymbol })).toMatchObject([
      { id: "token.symbol", status: "warning", found: "no readable symbol" },
    ]);
  });

  test("reports a factory deployed with other values on one chain [T21]", async () => {
    const { deployer } = createDoctorDeps({}).factory;
    const other = toHex32(`0x${"bb".repeat(32)}`);
    const getCodeHash: ChainInspector["getCodeHash"] = async (address) =>
      address === deployer.address ? deployer.codeHash : other;
    expect(await findProblems({ getCodeHash })).toMatchObject([
      { id: "factory.code", status: "problem", found: `${other}, ${HASH}` },
    ]);
  });

  test("reports a factory at another address on one chain [T21]", async () => {
    const contracts = { ...THERE.contracts, factory: STRANGER };
    const problems = await findProblems({}, { chains: [HERE, { ...THERE, contracts }] });
    expect(problems[problems.length - 1]).toMatchObject({
      id: "factory.address",
      status: "problem",
      found: `${HERE.contracts.factory}, ${STRANGER}`,
    });
  });
});

describe("a pool swap route", () => {
  const [router, quoter, weth, UNISWAP, DAI] = ["a1", "a2", "a3", "a4", "a5"].map((byte) =>
    toEvmAddress(`0x${byte.repeat(20)}`),
  );
  if (!router || !quoter || !weth || !UNISWAP || !DAI) throw new Error("five addresses");
  const [usdc] = HERE.tokens;
  if (!usdc) throw new Error("a listed token");
  const dai = { ...usdc, symbol: "DAI", address: DAI, decimals: 6 };
  const swap = {
    tokenOut: DAI,
    poolFee: 500,
    maxImpactBps: 100,
    slippageBps: 50,
    limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
  };
  const config: Partial<Config> = {
    chains: [{ ...HERE, tokens: [usdc, dai], uniswapV3: { router, quoter, weth } }, THERE],
    routes: [
      configuredRoute({ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: ROUTE, swap }),
    ],
  };
  const terms = {
    evmChainId: 1n,
    bridgeId: 2,
    factory: HERE.contracts.factory,
    router,
    weth,
    tokenIn: USDC,
    decimalsIn: 6,
    tokenOut: DAI,
    decimalsOut: 6,
    poolFee: 500,
    feeRecipient: TREASURY,
    limits: { window: 1_800, toleranceBps: 300, perDay: 10n ** 12n },
  };
  const inOrder: Partial<ChainInspector> = {
    isOfBuild: async (_, contract) => contract !== "transferRoute",
    getTokenSymbol: async (token) => (token === DAI ? "DAI" : "USDC"),
    getSwapTerms: async () => terms,
    getSwapRouterTerms: async () => ({ factory: UNISWAP, weth }),
    findPool: async (_, { tokens, fee }) =>
      tokens.includes(USDC) && tokens.includes(DAI) && fee === 500 ? STRANGER : null,
  };
  const usd = 10n ** 18n;
  const prices: DoctorDeps["prices"] = {
    readReport: async () => ({ result: { kind: "price", usd }, sources: [] }),
    readUsd: async () => usd,
  };
  const findHere = (given: Partial<ChainInspector>) =>
    findProblems({ ...inOrder, ...given }, config, { prices });

  test("has no findings when it is correct", async () => {
    expect(await findHere({})).toEqual([]);
  });

  test.each<[string, Partial<ChainInspector>, string]>([
    [
      "another token",
      { getSwapTerms: async () => ({ ...terms, tokenOut: USDC }) },
      `tokenOut ${USDC}`,
    ],
    [
      "another factory's attestors",
      { getSwapTerms: async () => ({ ...terms, factory: STRANGER }) },
      `factory ${STRANGER}`,
    ],
    [
      "another router",
      { getSwapTerms: async () => ({ ...terms, router: STRANGER }) },
      `router ${STRANGER}`,
    ],
    [
      "other decimals",
      { getSwapTerms: async () => ({ ...terms, decimalsIn: 18 }) },
      "decimalsIn 18",
    ],
    [
      "a quoter of another factory",
      {
        getSwapRouterTerms: async (asked) => ({
          factory: asked === quoter ? STRANGER : UNISWAP,
          weth,
        }),
      },
      `factory of the quoter ${STRANGER}`,
    ],
    ["no pool", { findPool: async () => null }, "pool none"],
    [
      "another averaging time",
      { getSwapTerms: async () => ({ ...terms, limits: { ...terms.limits, window: 900 } }) },
      "averagingSeconds 900",
    ],
    [
      "another tolerance",
      { getSwapTerms: async () => ({ ...terms, limits: { ...terms.limits, toleranceBps: 301 } }) },
      "toleranceBps 301",
    ],
    [
      "another first cap",
      { getSwapTerms: async () => ({ ...terms, limits: { ...terms.limits, perDay: 7n } }) },
      "dailyCap 7",
    ],
    [
      "a pool that forgets too early",
      { hasAveragedPrice: async () => false },
      "history of the pool shorter than averagingSeconds",
    ],
    ["a daily cap of zero", { getDailyCap: async () => 0n }, "daily cap of now zero"],
  ])("reports %s", async (_, given, found) => {
    expect(await findHere(given)).toMatchObject([
      { id: "route.terms", item: "MONO_CHAIN USDC of chain 2 to DAI of chain 2", found },
    ]);
  });

  test("reports the code of another kind of route", async () => {
    const isOfBuild: ChainInspector["isOfBuild"] = async (_, contract) => contract !== "swapRoute";
    expect(await findHere({ isOfBuild })).toMatchObject([
      {
        id: "contract.code",
        status: "problem",
        item: "MONO_CHAIN USDC of chain 2 to DAI of chain 2",
      },
    ]);
  });
});

describe("a route with a pool swap before the bridge", () => {
  const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
  const [router, quoter, weth] = [addressOf("a1"), addressOf("a2"), addressOf("a3")];
  const [UNISWAP, DAI] = [addressOf("a4"), addressOf("a5")];
  const [usdc] = HERE.tokens;
  if (!usdc) throw new Error("a listed token");
  const dai = { ...usdc, symbol: "DAI", address: DAI, decimals: 18 };
  const cctp = (domain: number) => ({ domain, messenger: STRANGER, transmitter: STRANGER });
  const swap = {
    tokenOut: USDC,
    poolFee: 500,
    maxImpactBps: 100,
    slippageBps: 50,
    limits: { windowS: 1_800, toleranceBps: 300, perDayUnits: "1000000" },
  };
  const destToken = THERE.tokens[0]?.address ?? USDC;
  const config: Partial<Config> = {
    chains: [
      { ...HERE, cctp: cctp(0), tokens: [usdc, dai], uniswapV3: { router, quoter, weth } },
      { ...THERE, cctp: cctp(6) },
    ],
    routes: [
      configuredRoute({
        kind: "FAST_MCTP",
        chainId: 2,
        token: DAI,
        destChain: THERE.chainId,
        destToken,
        contract: ROUTE,
        swap,
      }),
    ],
  };
  const terms: SwapBridgePair = {
    evmChainId: 1n,
    factory: HERE.contracts.factory,
    router,
    weth,
    tokenIn: DAI,
    decimalsIn: 18,
    tokenOut: USDC,
    decimalsOut: 6,
    poolFee: 500,
    limits: { window: 1_800, toleranceBps: 300, perDay: 10n ** 24n },
    messenger: STRANGER,
    destChain: THERE.chainId,
    destToken: padAddress(destToken),
    destDomain: 6,
  };
  /** Returns the findings about the route and its code. */
  async function findHere(given: Partial<ChainInspector>) {
    const usd = 10n ** 18n;
    const found = await findProblems(
      {
        getTokenSymbol: async (token) => (token === DAI ? "DAI" : "USDC"),
        getTokenDecimals: async (token) => (token === DAI ? 18 : 6),
        getSwapBridgePair: async () => terms,
        getSwapRouterTerms: async () => ({ factory: UNISWAP, weth }),
        findPool: async (_, { tokens, fee }) =>
          tokens.includes(USDC) && tokens.includes(DAI) && fee === 500 ? STRANGER : null,
        ...given,
      },
      config,
      {
        prices: {
          readReport: async () => ({ result: { kind: "price", usd }, sources: [] }),
          readUsd: async () => usd,
        },
      },
    );
    return found.filter(({ item = "" }) => item.startsWith("FAST_MCTP"));
  }
  const ITEM = `FAST_MCTP DAI of chain 2 to USDC of chain ${THERE.chainId}`;

  test.each<[string, Partial<SwapBridgePair>, string]>([
    ["another token", { tokenIn: USDC }, `tokenIn ${USDC}`],
    ["another token to burn", { tokenOut: DAI }, `tokenOut ${DAI}`],
    ["another factory's attestors", { factory: STRANGER }, `factory ${STRANGER}`],
    ["another pool", { poolFee: 3_000 }, "poolFee 3000"],
    ["another messenger", { messenger: UNISWAP }, `messenger ${UNISWAP}`],
    ["another destination", { destDomain: 7 }, "destDomain 7"],
    ["another token there", { destToken: padAddress(DAI) }, `destToken ${padAddress(DAI)}`],
  ])("reports a contract for %s", async (_, change, found) => {
    const given = { getSwapBridgePair: async () => ({ ...terms, ...change }) };
    const wrong = (await findHere(given)).filter(({ id }) => id === "route.terms");
    expect(wrong).toMatchObject([{ status: "problem", item: ITEM, found }]);
  });

  test("has no findings when it is correct, and accepts the code of no other route", async () => {
    const ofRoute = async (isOfBuild: ChainInspector["isOfBuild"]) =>
      (await findHere({ isOfBuild })).filter(({ id }) => /^(route|contract)[.]/.test(id));
    expect(await ofRoute(async () => true)).toEqual([]);
    expect(await ofRoute(async (_, contract) => contract !== "swapCctpRoute")).toMatchObject([
      { id: "contract.code", status: "problem", item: ITEM },
    ]);
  });
});
