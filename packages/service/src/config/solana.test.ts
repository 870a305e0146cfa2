import { listSolanaChains } from "./chains.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { type Address, NATIVE_SOL, toAddress } from "../core/hex.ts";
import { loadConfig } from "../roles/config.ts";
import { solana as preset, solanaDevnet } from "./presets/index.ts";
import { createNodesConfig } from "../../test/support/nodes.ts";

const evmAddress = (digit: number) => `0x${String(digit).repeat(40)}`;
const key = (digit: string) => `0x${digit.repeat(64)}`;

const ENV = {
  PEPPER: "canary-pepper-of-some-length",
  ATTESTOR: key("a"),
  DEPLOY: key("b"),
  SETTLE: key("c"),
  DELIVER: key("d"),
  SEED: key("e"),
};

/** Addresses that are valid public keys. */
const [BINDING, ESCROW, DELIVERY, SETTLE, DELIVER, TREASURY] = [
  "0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  "0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
  "0xfc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
  "0x8abd160edf0fdd25d9d1705d3c5b24930a90f6eb32aa3e94b27112cc79e77be2",
  "0x636bdb884baee9fb98f9b38c293207e7d1c8184948848ff1ff9942e96108ab1d",
  `0x58${"66".repeat(31)}`,
].map(toAddress);
const MINT = read("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v");

function read(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return address;
}

const show = (address: Address | undefined) => toBase58(address ?? NATIVE_SOL);

function createSolana() {
  return {
    chainId: 1,
    rpcUrl: "http://127.0.0.1:8899",
    genesisHash: show(TREASURY),
    startSlot: 7,
    contracts: {
      binding: show(BINDING),
      escrow: show(ESCROW),
      delivery: show(DELIVERY),
      settle: show(SETTLE),
      deliver: show(DELIVER),
      treasury: show(TREASURY),
    },
    tokens: [
      { symbol: "SOLANA", address: "native", decimals: 9, minDeposit: "0.02" },
      { symbol: "USDC", address: show(MINT), decimals: 6, minDeposit: "0.5", inventoryMin: "10" },
    ],
    seed: { env: "SEED" },
    attestors: [evmAddress(8)],
    dailyCaps: { USDC: "50000.5" },
  };
}

/** A file with Solana and an EVM chain: USDC from inventory both ways, and SOL within Solana. */
function createFile(changes: object = {}, routes: readonly object[] = ROUTES) {
  return {
    stateDir: "state",
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: { solana: "http://127.0.0.1:1", 2: "http://127.0.0.1:2" },
    },
    chains: [
      { ...createSolana(), ...changes },
      {
        chainId: 2,
        evmChainId: 900002,
        rpcUrl: "http://127.0.0.1:8545",
        startBlock: 0,
        contracts: { factory: evmAddress(1), escrow: evmAddress(2), delivery: evmAddress(3) },
        tokens: [{ symbol: "USDC", address: evmAddress(4), decimals: 6 }],
        lanes: {
          deploy: { env: "DEPLOY" },
          settle: { env: "SETTLE" },
          deliver: { env: "DELIVER" },
        },
      },
    ],
    routes,
  };
}

const ROUTES = [
  { kind: "SWIFT", chainId: "solana", token: "USDC", destChain: 2, destToken: "USDC" },
  {
    kind: "SWIFT",
    chainId: 2,
    token: "USDC",
    destChain: 1,
    destToken: show(MINT),
    contract: evmAddress(7),
  },
  { kind: "MONO_CHAIN", chainId: 1, token: "native" },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(file: object, options: Partial<Parameters<typeof loadConfig>[0]> = {}) {
  const path = join(folder, "sluice.json");
  writeFileSync(path, JSON.stringify(file));
  return loadConfig({ path, env: ENV, ...options });
}

describe("Solana in the file", () => {
  test("is read with the settings of every chain and its own", () => {
    const [chain] = load(createFile()).chains;
    expect(chain).toMatchObject({
      chainId: 1,
      name: "solana",
      kind: "svm",
      nodes: createNodesConfig(["http://127.0.0.1:8899"], 1),
      startSlot: 7,
      accounts: { binding: BINDING, escrow: ESCROW, delivery: DELIVERY, treasury: TREASURY },
      tokens: [
        { symbol: "SOLANA", address: NATIVE_SOL, decimals: 9, minDeposit: 20_000_000n },
        {
          symbol: "USDC",
          address: MINT,
          minDeposit: 500_000n,
          minDepositUnits: "0.5",
          inventoryMin: 10_000_000n,
        },
      ],
    });
    expect(chain).toMatchObject({
      genesisHash: TREASURY,
      attestors: [evmAddress(8)],
      dailyCaps: new Map([[MINT, 50_000_500_000n]]),
      priorityFeeMax: 1_000_000n,
      dailyFeeBudget: undefined,
      seed: { setting: "chains[0].seed", retired: false },
    });
  });

  test("uses its escrow and binding as the contracts of routes from it", () => {
    const { routes } = load(createFile());
    const usdc = evmAddress(4);
    expect(routes).toEqual([
      {
        kind: "SWIFT",
        chainId: 1,
        token: MINT,
        destChain: 2,
        destToken: usdc,
        pricedIn: null,
        fromInventory: true,
        contract: ESCROW,
      },
      {
        kind: "SWIFT",
        chainId: 2,
        token: usdc,
        destChain: 1,
        destToken: MINT,
        pricedIn: null,
        fromInventory: true,
        contract: evmAddress(7),
      },
      {
        kind: "MONO_CHAIN",
        chainId: 1,
        token: NATIVE_SOL,
        destChain: 1,
        destToken: NATIVE_SOL,
        pricedIn: null,
        fromInventory: false,
        swap: null,
        contract: BINDING,
      },
    ]);
  });

  test("gives the seed only to the settler's signer", () => {
    const kindOf = (options: Partial<Parameters<typeof loadConfig>[0]>) =>
      listSolanaChains(load(createFile(), options))[0]?.seed.source.kind;
    expect(kindOf({})).toBe("raw");
    expect(kindOf({ keysOf: "settler" })).toBe("raw");
    expect(kindOf({ keysOf: "attestor" })).toBe("elsewhere");
    expect(kindOf({ roles: ["quoter", "api"] })).toBe("elsewhere");
    // A process that does not use the seed does not read it.
    expect(load(createFile(), { roles: [], env: {} }).chains[0]?.name).toBe("solana");
  });

  test.each<[object, string]>([
    [{ seed: undefined }, "chains[0].seed: expected"],
    [{ seed: { env: "NOWHERE" } }, "chains[0].seed: expected the environment variable NOWHERE"],
    [{ seed: { env: "SETTLE" } }, "chains[0].seed: expected a secret that no key uses"],
    [{ seed: { env: "ATTESTOR" } }, "chains[0].seed: expected a secret that no key uses"],
    [
      { seed: { kms: "arn:aws:kms:eu-west-1:123456789012:key/abc" } },
      "chains[0].seed: expected a keystore, env or file: keys are derived from it",
    ],
    [{ seed: { env: "SEED", retired: true } }, "chains[0].seed.retired: expected nothing"],
    [
      { genesisHash: undefined },
      "chains[0].genesisHash: expected 32 bytes in base58, it is missing",
    ],
    [{ genesisHash: evmAddress(1) }, "chains[0].genesisHash: expected 32 bytes in base58"],
    [
      { startSlot: undefined },
      "chains[0].startSlot: expected the first slot to scan, it is missing",
    ],
    [{ startBlock: 1 }, "chains[0].startBlock: expected no such setting"],
    [
      { evmChainId: 5 },
      "chains[0].chainId: expected the bridge chain id of an EVM chain, as evmChainId is given",
    ],
    [{ lanes: {} }, "chains[0].lanes: expected no such setting"],
    [{ preset: "base" }, "chains[0].preset: expected solana or solana-devnet, as chainId is 1"],
    [{ detectAt: "processed" }, "chains[0].detectAt: expected confirmed or finalized"],
    [{ attestors: [] }, "chains[0].attestors: expected the addresses of 1 to 20 attestors"],
    [{ attestors: [show(MINT)] }, "chains[0].attestors[0]: expected 0x and 40 hex digits"],
    [
      { dailyCaps: { EURC: "1" } },
      "chains[0].dailyCaps.EURC: expected the symbol of a listed token",
    ],
    [
      { dailyCaps: { USDC: "0.0000001" } },
      'chains[0].dailyCaps.USDC: expected at most 6 decimals, got "0.0000001"',
    ],
    [
      { dailyCaps: {} },
      "chains[0].dailyCaps: expected a cap of USDC, a route delivers it from inventory",
    ],
    [{ priorityFeeMax: -1 }, "chains[0].priorityFeeMax: expected micro-lamports"],
    [{ dailyFeeBudget: "0.0000000001" }, "chains[0].dailyFeeBudget: expected SOL, a plain decimal"],
    [
      { contracts: { ...createSolana().contracts, escrow: show(BINDING) } },
      "chains[0].contracts.escrow: expected an account of its own",
    ],
    [
      { contracts: { ...createSolana().contracts, treasury: show(NATIVE_SOL) } },
      "chains[0].contracts.treasury: expected an account with a private key (on the ed25519 curve)",
    ],
    [
      { contracts: { ...createSolana().contracts, treasury: evmAddress(1) } },
      "chains[0].contracts.treasury: expected 32 bytes in base58",
    ],
    [
      { contracts: { ...createSolana().contracts, treasury: "z".repeat(44) } },
      "chains[0].contracts.treasury: expected 32 bytes in base58",
    ],
    [
      { rpcUrl: undefined, rpcUrls: ["http://a", { url: "http://b", role: "witness" }] },
      "chains[0].rpcUrls: expected full nodes only, Solana has no witnesses",
    ],
    [
      { rpcUrl: undefined, rpcUrls: [{ url: "http://a", grpcToken: "canary" }] },
      "chains[0].rpcUrls: expected a grpcUrl beside grpcToken",
    ],
    [
      {
        rpcUrl: undefined,
        rpcUrls: [
          { url: "http://a", grpcUrl: "https://canary:443" },
          { url: "http://b", grpcUrl: "https://canary" },
        ],
      },
      "chains[0].rpcUrls[1].grpcUrl: expected a host of this node, another node of the list has it",
    ],
    [
      { rpcUrl: undefined, rpcUrls: [{ url: "http://a", grpcUrl: "http://b" }, "http://b"] },
      "chains[0].rpcUrls[0].grpcUrl: expected a host of this node, another node of the list has it",
    ],
    [
      { rpcUrl: undefined, rpcUrls: [{ url: "http://a", grpcUrl: "grpc://canary" }] },
      "chains[0].rpcUrls[0].grpcUrl: expected an http or https URL of the same provider",
    ],
    [{ rpcUrls: ["http://127.0.0.1:1"] }, "chains[0].rpcUrls: expected either rpcUrl or rpcUrls"],
  ])("is refused with %j (%#)", (changes, problem) => {
    const problems = problemsOf(() => load(createFile(changes)));
    expect(problems).toContainEqual(expect.stringContaining(problem));
  });

  test("alone has streams", () => {
    const file = createFile();
    const rpcUrls = [{ url: "http://a", grpcUrl: "https://canary" }];
    const chains = file.chains.map((chain) =>
      chain.chainId === 1 ? chain : { ...chain, rpcUrl: undefined, rpcUrls },
    );
    expect(problemsOf(() => load({ ...file, chains }))).toContain(
      "chains[1].rpcUrls: expected no grpcUrl, only Solana has streams",
    );
  });

  test.each<[object, string]>([
    [
      { symbol: "SOL", address: "native", decimals: 9 },
      "tokens[0].symbol: expected SOLANA, as the native coin is called",
    ],
    [
      { symbol: "SOLANA", address: show(NATIVE_SOL), decimals: 18 },
      "tokens[0].decimals: expected 9, as the native coin has",
    ],
    [
      { symbol: "X", address: evmAddress(1), decimals: 9 },
      "tokens[0].address: expected a mint, 32 bytes in base58, or native",
    ],
    [
      {
        symbol: "SOLANA",
        address: "native",
        decimals: 9,
        price: { feeds: [evmAddress(1)] },
      },
      "tokens[0].price.feeds: expected nothing, feeds are contracts of EVM chains",
    ],
  ])("is refused with the token %j", (token, problem) => {
    const problems = problemsOf(() => load(createFile({ tokens: [token] }, [])));
    expect(problems).toContain(`chains[0].${problem}`);
  });

  test.each<[object, string]>([
    [
      { ...ROUTES[0], contract: evmAddress(7) },
      "contract: expected nothing, routes from Solana have no contract",
    ],
    [{ ...ROUTES[0], token: evmAddress(4) }, "token: expected 32 bytes in base58, or one of"],
    [{ ...ROUTES[1], destToken: evmAddress(4) }, "destToken: expected 32 bytes in base58, or"],
    [
      { ...ROUTES[2], destToken: "USDC", poolFee: 500, dailyCap: "1" },
      "destToken: expected nothing, no token is swapped on Solana",
    ],
  ])("is refused with the route %j", (route, problem) => {
    const problems = problemsOf(() => load(createFile({}, [route])));
    expect(problems).toContainEqual(expect.stringContaining(`routes[0].${problem}`));
  });

  test.each([
    [0, "chainId"],
    [1, "destChain"],
  ])("is refused with FAST_MCTP in place of route %i, naming %s [T42]", (index, field) => {
    const route = { ...ROUTES[index], kind: "FAST_MCTP" };
    const problems = problemsOf(() => load(createFile({}, [route])));
    const problem = `routes[0].${field}: expected an EVM chain, because the bridge does not support Solana`;
    expect(problems).toContainEqual(expect.stringContaining(problem));
  });

  test.each([
    ["from Solana", 0, "token"],
    ["to Solana", 1, "destToken"],
    ["within Solana", 2, "token"],
  ] as const)("is refused with a route %s for a token with a transfer fee", (_, place, name) => {
    const { tokens } = createSolana();
    const withFee = { program: "token-2022", transferFee: true };
    const charged = tokens.map((token) => ({ ...token, ...withFee }));
    const route = place === 2 ? { ...ROUTES[2], token: show(MINT) } : { ...ROUTES[place] };
    expect(problemsOf(() => load(createFile({ tokens }, [route])))).toEqual([]);
    const problems = problemsOf(() => load(createFile({ tokens: charged }, [route])));
    const problem = `routes[0].${name}: expected a token without a transfer fee`;
    expect(problems).toContainEqual(expect.stringContaining(problem));
    expect(problemsOf(() => load(createFile({ tokens: charged }, [])))).toEqual([]);
  });

  test.each([
    [{}, "finalized"],
    [{ detectAt: "finalized" }, "finalized"],
    [{ detectAt: "confirmed" }, "confirmed"],
  ])("with %j shows deposits at the commitment level %s", (changes, level) => {
    expect(listSolanaChains(load(createFile(changes)))[0]?.detectAt).toBe(level);
  });

  test("is refused without an EVM chain, whose wallet addresses name deliveries", () => {
    const file = createFile({}, [ROUTES[2] ?? {}]);
    const [solana] = file.chains;
    const rpcUrls = { solana: "http://127.0.0.1:1" };
    const alone = { ...file, chains: [solana], attestor: { ...file.attestor, rpcUrls } };
    expect(problemsOf(() => load(alone))).toEqual([
      "chains: expected an EVM chain beside Solana: deliveries are named by the wallet of its factory",
    ]);
  });
});

test("the production example with Solana loads without secrets", () => {
  const path = join(import.meta.dirname, "../../../../docs/examples/production-solana.json");
  const env = { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" };
  const config = loadConfig({ path, env, roles: ["auditor"] });
  const { chains, routes, attestor } = config;
  expect(chains.map(({ kind }) => kind)).toEqual(["evm", "evm", "svm"]);
  expect(chains[2]?.nodes).toMatchObject({ quorum: 2, all: { length: 3 } });
  expect([...attestor.nodes.keys()].toSorted((one, other) => one - other)).toEqual([1, 2, 30]);
  const named = (kind: string) =>
    routes
      .filter((route) => route.kind === kind && route.chainId === 1)
      .map(({ contract }) => contract);
  const { escrow, binding } = listSolanaChains(config)[0]?.accounts ?? {};
  expect(named("MONO_CHAIN")).toEqual(Array(5).fill(binding));
  expect(named("SWIFT")).toEqual([escrow, escrow]);
  expect(named("FAST_MCTP")).toEqual([]);
  // Routes to Solana have their contracts on the source chain.
  const toSolana = routes.flatMap((route) =>
    route.kind === "SWIFT" && route.destChain === 1 ? [route.contract] : [],
  );
  expect(new Set(toSolana).size).toBe(2);
});

describe("the preset of Solana", () => {
  const given = {
    chainId: undefined,
    genesisHash: undefined,
    tokens: undefined,
    preset: "solana",
  };

  test("provides tokens, terms and the genesis hash of the public network", () => {
    const [chain] = listSolanaChains(load(createFile(given)));
    expect(chain?.tokens.map(({ symbol }) => symbol)).toEqual(
      preset.tokens.map(({ symbol }) => symbol),
    );
    expect(chain?.minDepositUsd).toBe(2n * 10n ** 18n);
    expect(chain?.genesisHash).toBe(read(preset.genesis.hash));
    for (const token of chain?.tokens ?? []) expect(token.price?.http).toHaveLength(2);
    const silent = load({ ...createFile(given), httpPrices: false });
    expect(silent.chains[0]?.tokens.flatMap(({ price }) => price ?? [])).toEqual([]);
  });

  test("has a sibling for Devnet, with its genesis hash and USDC, which no explorer shows", () => {
    const [chain] = listSolanaChains(
      load({ ...createFile({ ...given, preset: "solana-devnet" }), routes: [] }),
    );
    expect(chain?.tokens.map(({ symbol }) => symbol)).toEqual(["SOLANA", "WSOL", "USDC"]);
    expect(chain?.genesisHash).toBe(read(solanaDevnet.genesis.hash));
    expect([chain?.name, chain?.explorerTxUrl]).toEqual(["solana", ""]);
    const [main] = listSolanaChains(load(createFile(given)));
    expect(main?.explorerTxUrl).toBe("https://solscan.io/tx/");
    expect(chain?.tokens[2]?.address).not.toBe(main?.tokens[2]?.address);
  });

  test("is overridden by the file, token by token", () => {
    const tokens = ["SOLANA", { symbol: "USDC", minDeposit: "5" }];
    const [chain] = load(createFile({ ...given, tokens, minDepositUsd: "9" })).chains;
    expect(chain?.tokens.map(({ minDeposit }) => minDeposit)).toEqual([20_000_000n, 5_000_000n]);
    expect(chain?.minDepositUsd).toBe(9n * 10n ** 18n);
  });

  test.each<[object, string]>([
    [{ chainId: 2 }, "chains[0].chainId: expected 1, as the preset solana has, or nothing"],
    [
      { tokens: ["EURC"] },
      "chains[0].tokens[0]: expected a token of the preset solana (SOLANA, WSOL, USDC, USDT, WETH), or one with an address",
    ],
  ])("is refused with %j", (changes, problem) => {
    expect(problemsOf(() => load(createFile({ ...given, ...changes })))).toContain(problem);
  });

  test("lists each mint once, in canonical base58, with sources", () => {
    const mints = preset.tokens.filter(({ address }) => address !== "native");
    const addresses = mints.map(({ address }) => read(address));
    expect(new Set(addresses).size).toBe(4);
    for (const { source, comparedWith } of [...preset.tokens, preset.genesis, preset.cctp]) {
      expect(source).toMatch(/^https:\/\//);
      expect(comparedWith.length).toBeGreaterThan(0);
    }
  });
});
