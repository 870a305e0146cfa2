import { listEvmChains } from "./chains.ts";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  addressOf,
  CONFIG_ENV as ENV,
  createConfigFile as createFile,
  problemsOf,
} from "../../test/support/config.ts";
import { loadConfig } from "../roles/config.ts";
import { createNodeConfig, createNodesConfig } from "../../test/support/nodes.ts";

let folder: string;

const PLACES = '{ "env": NAME }, { "file": PATH } or { "credential": NAME }';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
  mkdirSync(join(folder, "secrets"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function loadText(text: string, env: Record<string, string | undefined> = {}) {
  const path = join(folder, "sluice.json");
  writeFileSync(path, text);
  return loadConfig({ path, env: { ...ENV, ...env } });
}

const load = (file: object, env: Record<string, string | undefined> = {}) =>
  loadText(JSON.stringify(file), env);

/** Returns the complete file with another value at a path such as `chains.1.rpcUrl`; undefined deletes it. */
function withValue(path: string, value: unknown): object {
  const file = createFile();
  const names = path.split(".");
  const last = names.pop() ?? "";
  let at: unknown = file;
  for (const name of names) at = Reflect.get(Object(at), name);
  if (value === undefined) Reflect.deleteProperty(Object(at), last);
  else Reflect.set(Object(at), last, value);
  return file;
}

describe("loadConfig", () => {
  test("reads the file with defaults, canonical addresses and base units", () => {
    const config = load(withValue("chains.0.contracts.factory", `0x${"AB".repeat(20)}`));
    expect(config).toMatchObject({
      stateDir: join(folder, "state"),
      databaseUrl: undefined,
      api: { host: "127.0.0.1", port: 8080 },
      quote: { host: "::1", port: 0 },
      telemetry: undefined,
      feeBps: 10,
      maxFeeBps: 50,
      maxSlippageBps: 100,
      gas: "sponsored",
      rateLimits: { perKey: 600, perAddress: 300, nodeRequestsPerKey: 1_200 },
      socketCaps: { perKey: 100, perAddress: 500, connectionsPerAddress: 1_000 },
      quotas: { addresses: 1_000_000, openSettlements: 10_000 },
      logLevel: "info",
      crashAt: undefined,
    });
    expect(config.chains[0]).toMatchObject({
      chainId: 2,
      name: "ethereum",
      pollIntervalMs: 1_000,
      balanceCheckIntervalMs: 45_000,
      traces: false,
      deliveryConfirmations: 1,
      transactionSurcharge: 0n,
      contracts: { factory: `0x${"ab".repeat(20)}` },
      tokens: [{ minDeposit: 500_000n, minDepositUnits: "0.50", inventoryMin: undefined }],
    });
    expect(config.apiKeyPepper.reveal()).toBe(ENV.PEPPER);
    expect(config.chains[0]?.nodes).toEqual({
      all: [createNodeConfig("http://127.0.0.1:8545/canary-rpc-key")],
      quorum: 1,
    });
    expect(config.attestor.nodes).toEqual(
      new Map([
        [2, createNodesConfig(["http://127.0.0.1:1"], 1)],
        [30, createNodesConfig(["http://127.0.0.1:2"], 1)],
      ]),
    );
  });

  test("prefers the environment over the file", () => {
    const config = load(createFile(), {
      DATABASE_URL: "postgres://user:secret@host/db",
      SLUICE_API_PORT: "1",
      SLUICE_QUOTE_PORT: "2",
      SLUICE_TELEMETRY_PORT: "3",
      SLUICE_LOG_LEVEL: "debug",
      SLUICE_CRASH_AT: "deliver.sent",
    });
    expect(config.databaseUrl?.reveal()).toBe("postgres://user:secret@host/db");
    expect(config).toMatchObject({
      api: { port: 1 },
      quote: { port: 2 },
      // The file has no `telemetry`: the variable alone opens the listener, on the loopback.
      telemetry: { host: "127.0.0.1", port: 3 },
      logLevel: "debug",
      crashAt: "deliver.sent",
    });
  });

  test("serves metrics on the loopback by default", () => {
    const at = (telemetry: object) => load(withValue("telemetry", telemetry)).telemetry;
    expect(at({ port: 9 })).toEqual({ host: "127.0.0.1", port: 9 });
    expect(at({ host: "10.0.0.1", port: 9 })).toEqual({ host: "10.0.0.1", port: 9 });
  });

  test("returns a configuration that never prints a secret", () => {
    const config = load(createFile(), { DATABASE_URL: "postgres://user:canary@host/db" });
    const json = JSON.stringify(config, (_, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    const printed = `${inspect(config, { depth: 9 })}${json}`;
    for (const secret of [...Object.values(ENV), "canary@host"]) {
      expect(printed).not.toContain(secret);
    }
  });

  test.each<[string, unknown, string]>([
    ["stateDir", undefined, "stateDir: expected a folder for the embedded database, it is missing"],
    ["stateDir", 1, "stateDir: expected a folder for the embedded database"],
    ["api", { port: -1 }, "api.port: expected a TCP port, 0 for any"],
    ["api", "8080", "api: expected an object with a port, and a host or none"],
    ["feeBps", "10", "feeBps: expected basis points, 0 to 10000"],
    ["feeBps", 51, "feeBps: expected at most maxFeeBps (50), got 51"],
    ["color", "red", "color: expected no such setting"],
    ["apiKeyPepper", "canary", `apiKeyPepper: expected ${PLACES}`],
    ["apiKeyPepper", { env: "NO" }, "apiKeyPepper: expected the environment variable NO to be set"],
    ["apiKeyPepper", { env: "SHORT" }, "apiKeyPepper: expected at least 16 characters"],
    [
      "attestor.key",
      { env: "PEPPER" },
      "attestor.key: expected a private key, 0x and 64 hex digits",
    ],
    [
      "attestor.key",
      { env: "SETTLE" },
      "attestor.key: expected a key that no lane uses: it is the second of two keys",
    ],
    ["attestor.rpcUrls.x", "http://a", "attestor.rpcUrls.x: expected a configured chain"],
    [
      "attestor.rpcUrls.30",
      "ws://a",
      "attestor.rpcUrls.30: expected an http or https URL, an object with a url, or a list of 1 to 16",
    ],
    ["attestor.rpcUrls.30", undefined, "attestor.rpcUrls: expected a node for chain 30"],
    ["attestor.rpcUrls.4", "http://a", "attestor.rpcUrls.4: expected a configured chain"],
    ["chains", [], "chains: expected a list of at least one chain"],
    ["chains.1.rpcUrl", "canary", "chains[1].rpcUrl: expected an http or https URL"],
    [
      "chains.1.rpcUrl",
      undefined,
      "chains[1].rpcUrl: expected an http or https URL, it is missing",
    ],
    [
      "chains.1.evmChainId",
      900002,
      "chains[1].evmChainId: expected one of its own, another chain has it too",
    ],
    [
      "chains.1.tokens.1",
      { symbol: "ETH", address: addressOf(0), decimals: 18 },
      "chains[1].tokens[1].symbol: expected BASE, as the native coin is called",
    ],
    [
      "chains.1.tokens.1",
      { symbol: "BASE", address: addressOf(0), decimals: 9 },
      "chains[1].tokens[1].decimals: expected 18, as the native coin has",
    ],
    ["chains.1.traces", "yes", "chains[1].traces: expected true or false"],
    [
      "chains.1.balanceCheckIntervalMs",
      1,
      "chains[1].balanceCheckIntervalMs: expected milliseconds, 50 to 3600000",
    ],
    [
      "chains.1.tokens.0.address",
      "0x1",
      "chains[1].tokens[0].address: expected 0x and 40 hex digits",
    ],
    [
      "chains.1.tokens.0.minDeposit",
      "1e6",
      "chains[1].tokens[0].minDeposit: expected a plain decimal in whole units",
    ],
    [
      "chains.1.tokens.0.minDeposit",
      "0.0000001",
      'chains[1].tokens[0].minDeposit: expected at most 6 decimals, got "0.0000001"',
    ],
    [
      "chains.1.tokens.0.inventoryMin",
      "0.0000001",
      'chains[1].tokens[0].inventoryMin: expected at most 6 decimals, got "0.0000001"',
    ],
    [
      "chains.1.contracts.escrow",
      addressOf(0),
      "chains[1].contracts.escrow: expected a contract, not the zero address",
    ],
    [
      "chains.1.contracts.escrow",
      "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "chains[1].contracts.escrow: expected a right EIP-55 checksum, or lower case",
    ],
    [
      "chains.1.lanes.settle",
      { env: "DEPLOY" },
      "chains[1].lanes.settle: expected a key that no other lane uses",
    ],
    ["chains.1.pollIntervalMs", 1, "chains[1].pollIntervalMs: expected milliseconds, 50 to 60000"],
    ["routes.0.kind", "OTHER", 'routes[0].kind: expected "MONO_CHAIN" or "SWIFT" or "FAST_MCTP"'],
    [
      "routes.1.destToken",
      undefined,
      "routes[1].destToken: expected 0x and 40 hex digits, or one of USDC, native, it is missing",
    ],
    [
      "routes.1.destToken",
      addressOf(9),
      "routes[1].destToken: expected a listed token of chain 30",
    ],
    ["gas", "free", "gas: expected one of sponsored, charged"],
    ["routes.1.destChain", 4, "routes[1].destChain: expected a configured chain"],
    ["logLevel", "loud", "logLevel: expected one of trace, debug, info, warn, error, silent"],
    [
      "database",
      { url: { env: "NO" } },
      "database.url: expected the environment variable NO to be set",
    ],
    [
      "database",
      { url: { env: "PEPPER" } },
      "database.url: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE",
    ],
  ])("reports exactly one problem for %s = %j", (path, value, problem) => {
    const problems = problemsOf(() => load(withValue(path, value), { SHORT: "canary" }));
    expect(problems).toEqual([problem]);
  });

  test.each<[unknown, string[]]>([
    [
      1,
      [
        "chains[1].chainId: expected the bridge chain id of an EVM chain, as evmChainId is given: Ethereum is 2, and 1 is Solana",
      ],
    ],
    [9999, ["chains[1].chainId: expected a bridge chain id of the registry, got 9999"]],
    [2, ["chains[1].chainId: expected each chain once, 2 is there twice"]],
  ])("reports the wrong bridge chain id %j", (chainId, expected) => {
    const problems = problemsOf(() => load(withValue("chains.1.chainId", chainId)));
    expect(problems).toEqual(expect.arrayContaining(expected));
  });

  test("requires prices of the deposited token and the native coins when gas is charged", () => {
    const file = { ...createFile(), gas: "charged" };
    expect(problemsOf(() => load(file))).toEqual([
      `gas: expected a price of the token ${addressOf(4)} of chain 2`,
      "gas: expected a price of the native coin of chain 2, listed as a token",
      "gas: expected a price of the native coin of chain 30, listed as a token",
    ]);
    const price = { static: "1" };
    const coin = (symbol: string) => ({ symbol, address: addressOf(0), decimals: 18, price });
    const chains = file.chains.map((chain, index) => ({
      ...chain,
      transactionSurcharge: "0.00002",
      tokens: [
        { ...chain.tokens[0], ...(index === 0 && { price }) },
        coin(index === 0 ? "ETHEREUM" : "BASE"),
      ],
    }));
    const config = load({ ...file, chains });
    expect(config.gas).toBe("charged");
    expect(listEvmChains(config)[1]?.transactionSurcharge).toBe(20_000n * 10n ** 9n);
  });

  test("reports every problem at once", () => {
    const file = { ...createFile(), api: { port: "x" }, feeBps: -1, apiKeyPepper: undefined };
    expect(problemsOf(() => load(file))).toEqual([
      "api.port: expected a TCP port, 0 for any",
      `apiKeyPepper: expected ${PLACES}, it is missing`,
      "feeBps: expected basis points, 0 to 10000",
    ]);
    const env = { PEPPER: undefined, ATTESTOR: undefined, SLUICE_API_PORT: "x" };
    expect(problemsOf(() => load(createFile(), env))).toEqual([
      "SLUICE_API_PORT: expected a TCP port, 0 for any",
      "apiKeyPepper: expected the environment variable PEPPER to be set",
      "attestor.key: expected the environment variable ATTESTOR to be set",
    ]);
  });

  test.each([
    ["SLUICE_QUOTE_PORT", "70000"],
    ["SLUICE_TELEMETRY_PORT", "1.5"],
    ["SLUICE_API_PORT", "80a"],
    ["SLUICE_LOG_LEVEL", "loud"],
    ["DATABASE_URL", "mysql://canary"],
  ])("reports the invalid environment variable %s=%s", (name, value) => {
    const problems = problemsOf(() => load(createFile(), { [name]: value }));
    expect(problems).toEqual([expect.stringMatching(`^${name}: expected `)]);
  });

  test.each([
    ['{ "stateDir": "canary", }', /sluice\.json: expected JSON/],
    ["{ canary }", /sluice\.json: expected JSON/],
    ["[]", /^the file: expected /],
  ])("refuses the text %s without repeating it", (text, expected) => {
    const problems = problemsOf(() => loadText(text));
    expect(problems.join("\n")).toMatch(expected);
    expect(problems.join("\n")).not.toContain("canary");
  });

  test("reports a missing configuration file and a missing secret file", () => {
    const path = join(folder, "absent.json");
    expect(problemsOf(() => loadConfig({ path, env: {} }))).toEqual([
      `--config: expected a readable configuration file at ${path} (ENOENT)`,
    ]);
    expect(problemsOf(() => load(withValue("apiKeyPepper", { file: "none" })))).toEqual([
      `apiKeyPepper: expected a readable file at ${join(folder, "none")}`,
    ]);
  });

  test("repeats no secret, node URL or other value that may be secret in a problem", () => {
    for (const path of [
      "attestor.key",
      "apiKeyPepper",
      "chains.0.rpcUrl",
      "chains.0.lanes.deploy",
    ]) {
      for (const value of ["canary", { env: "CANARY" }, { canary: 1 }, ["canary"]]) {
        const problems = problemsOf(() => load(withValue(path, value), { CANARY: "canary" }));
        expect(problems.join("\n")).not.toContain("canary");
      }
    }
  });
});

describe("the nodes of a chain", () => {
  const listed = (count: number) =>
    Array.from({ length: count }, (_, index) => `https://node-${index}.example/canary`);

  /** Returns the complete file with other nodes for its first chain. */
  function withNodes(nodes: object): object {
    const file = createFile();
    const chains = file.chains.map(({ rpcUrl, ...chain }, index) =>
      index === 0 ? { ...chain, ...nodes } : { ...chain, rpcUrl },
    );
    return { ...file, chains };
  }

  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])("have a majority as default quorum: of %i nodes, %i must agree", (count, quorum) => {
    const urls = listed(count);
    const nodes = { all: urls.map(createNodeConfig), quorum };
    expect(load(withNodes({ rpcUrls: urls })).chains[0]?.nodes).toEqual(nodes);
    const file = withValue("attestor.rpcUrls.2", urls);
    expect(load(file).attestor.nodes.get(2)).toEqual(nodes);
  });

  test("can have limits, a WebSocket and a use of their own", () => {
    const node = {
      url: "https://node.example/canary",
      wsUrl: "wss://node.example/canary",
      requestsPerSecond: 25,
      requestsPerDay: 100_000,
      role: "witness",
    };
    const bare = { url: "https://other.example" };
    const [first, second] = load(withNodes({ rpcUrls: [node, bare] })).chains[0]?.nodes.all ?? [];
    expect([first, second]).toEqual([
      { ...createNodeConfig(node.url), ...node },
      createNodeConfig(bare.url),
    ]);
    const file = withValue("attestor.rpcUrls.2", { url: "https://a.example", requestsPerDay: 5 });
    expect(load(file).attestor.nodes.get(2)?.all).toMatchObject([{ requestsPerDay: 5 }]);
  });

  test("can have a quorum of all nodes", () => {
    const config = load(withNodes({ rpcUrls: listed(3), quorum: 3 }));
    expect(config.chains[0]?.nodes.quorum).toBe(3);
  });

  const ownHost = "expected a host of its own, an earlier node of the list has it too";

  test.each<[string, object, string]>([
    ["no setting", {}, "chains[0].rpcUrl: expected an http or https URL, it is missing"],
    [
      "an empty list",
      { rpcUrls: [] },
      "chains[0].rpcUrls: expected a list of 1 to 16 URLs or objects with a url",
    ],
    [
      "a WebSocket URL",
      { rpcUrls: ["ws://a", "http://b"] },
      "chains[0].rpcUrls[0]: expected an http or https URL, or an object with a url",
    ],
    [
      "a URL without a host",
      { rpcUrls: ["http://a", "http://"] },
      "chains[0].rpcUrls[1]: expected an http or https URL",
    ],
    [
      "an object without a URL",
      { rpcUrls: [{ requestsPerSecond: 5 }] },
      "chains[0].rpcUrls[0].url: expected an http or https URL, it is missing",
    ],
    [
      "a WebSocket over HTTP",
      { rpcUrls: [{ url: "https://a", wsUrl: "https://canary" }] },
      "chains[0].rpcUrls[0].wsUrl: expected a ws or wss URL of the same provider",
    ],
    [
      "a budget of nothing",
      { rpcUrls: ["http://a", { url: "http://b", requestsPerDay: 0 }] },
      "chains[0].rpcUrls[1].requestsPerDay: expected a number of requests, at least 1",
    ],
    [
      "another use",
      { rpcUrls: [{ url: "http://a", role: "canary" }] },
      "chains[0].rpcUrls[0].role: expected one of full, witness",
    ],
    [
      "both rpcUrl and rpcUrls",
      { rpcUrl: "http://a", rpcUrls: ["http://b", "http://c"] },
      "chains[0].rpcUrls: expected either rpcUrl or rpcUrls",
    ],
    [
      "the same URL twice",
      { rpcUrls: ["http://a", "http://a"] },
      `chains[0].rpcUrls[1]: ${ownHost}`,
    ],
    [
      "two URLs of one host",
      { rpcUrls: ["https://a.example/one", "https://b.example", "https://A.example:443/two"] },
      `chains[0].rpcUrls[2]: ${ownHost}`,
    ],
    [
      "a quorum above the number of nodes",
      { rpcUrls: listed(3), quorum: 4 },
      "chains[0].quorum: expected at most 3, the number of nodes",
    ],
    [
      "a quorum of two for one URL",
      { rpcUrl: "http://a", quorum: 2 },
      "chains[0].quorum: expected at most 1, the number of nodes",
    ],
    [
      "a quorum of half the nodes",
      { rpcUrls: listed(4), quorum: 2 },
      "chains[0].quorum: expected at least 3, more than half of the nodes",
    ],
    [
      "a quorum of zero",
      { rpcUrls: listed(3), quorum: 0 },
      "chains[0].quorum: expected a number of nodes, 1 to 16",
    ],
  ])("are refused with %s", (_what, nodes, problem) => {
    const problems = problemsOf(() => load(withNodes(nodes)));
    expect(problems).toEqual([problem]);
    expect(problems.join()).not.toContain("canary");
  });

  test("of the attestor follow the same rules", () => {
    const file = withValue("attestor.rpcUrls.30", ["http://a/1", "http://a/2"]);
    expect(problemsOf(() => load(file))).toEqual([`attestor.rpcUrls.30[1]: ${ownHost}`]);
  });
});

describe("the price of a token", () => {
  const API = { url: "https://prices.example/a?b=c", pointer: "/a~1b/m~0n/0" };
  const AT = "chains[0].tokens[0].price";
  const withPrice = (price: unknown) => withValue("chains.0.tokens.0.price", price);

  test("has sources with their own maximum age, and default bounds", () => {
    writeFileSync(join(folder, "secrets/prices"), "canary-price-key\n");
    const config = load(
      withPrice({
        static: "1.05",
        feeds: [addressOf(8), { address: addressOf(9), maxAgeSeconds: 90_000 }],
        http: [
          API,
          {
            url: "http://127.0.0.1:8081",
            pointer: "/",
            timestampPointer: "/at",
            scale: 8,
            headers: { "x-key": { file: "secrets/prices" } },
            maxAgeSeconds: 30,
          },
        ],
      }),
    );
    const price = config.chains[0]?.tokens[0]?.price;
    expect(price).toEqual({
      fixed: 1_050_000_000_000_000_000n,
      feeds: [
        { address: addressOf(8), maxAgeMs: 3_600_000 },
        { address: addressOf(9), maxAgeMs: 90_000_000 },
      ],
      http: [
        {
          url: API.url,
          headers: new Map(),
          pointer: ["a/b", "m~n", "0"],
          timestampPointer: undefined,
          scale: 0,
          maxAgeMs: 3_600_000,
        },
        {
          url: "http://127.0.0.1:8081",
          headers: expect.any(Map),
          pointer: [""],
          timestampPointer: ["at"],
          scale: 8,
          maxAgeMs: 30_000,
        },
      ],
      maxDeviationBps: 200,
    });
    expect(price?.http[1]?.headers.get("x-key")?.reveal()).toBe("canary-price-key");
    expect(inspect(price, { depth: null }) + String(price?.http[1]?.headers)).not.toContain(
      "canary",
    );
  });

  test("applies its bounds to the sources that have none of their own", () => {
    const bounds = { maxAgeSeconds: 60, maxDeviationBps: 50 };
    const own = { address: addressOf(9), maxAgeSeconds: 61 };
    const config = load(withPrice({ ...bounds, feeds: [addressOf(8), own], http: [API] }));
    expect(config.chains[0]?.tokens[0]?.price).toMatchObject({
      feeds: [{ maxAgeMs: 60_000 }, { maxAgeMs: 61_000 }],
      http: [{ maxAgeMs: 60_000 }],
      maxDeviationBps: 50,
    });
  });

  test("needs no secret in a process that reads no prices", () => {
    const file = withPrice({ http: [{ ...API, headers: { "x-key": { env: "NONE" } } }] });
    const path = join(folder, "sluice.json");
    writeFileSync(path, JSON.stringify(file));
    expect(problemsOf(() => loadConfig({ path, env: ENV, roles: ["auditor"] }))).toEqual([]);
    for (const role of ["scanner", "settler", "attestor", "quoter", "api"] as const) {
      expect(problemsOf(() => loadConfig({ path, env: ENV, roles: [role] }))).toEqual([
        `${AT}.http[0].headers.x-key: expected the environment variable NONE to be set`,
      ]);
    }
  });

  const HTTPS = "https: over http, anybody between can change the price";
  test.each<[unknown, string]>([
    [{}, `${AT}: expected static, feeds or http`],
    [{ maxAgeSeconds: 60 }, `${AT}: expected static, feeds or http`],
    [{ feeds: [] }, `${AT}.feeds: expected 1 to 8 price feeds on the chain`],
    [
      { feeds: ["canary"] },
      `${AT}.feeds[0]: expected the address of a feed, or an object with address and maxAgeSeconds`,
    ],
    [
      { feeds: [addressOf(8), { address: addressOf(8) }] },
      `${AT}.feeds[1]: expected each feed once`,
    ],
    [{ http: [] }, `${AT}.http: expected 1 to 8 HTTP APIs`],
    [{ http: [{ ...API, url: "canary" }] }, `${AT}.http[0].url: expected an http or https URL`],
    [{ http: [{ ...API, url: "https://" }] }, `${AT}.http[0].url: expected an https URL`],
    [{ http: [{ ...API, url: "http://canary.example" }] }, `${AT}.http[0].url: expected ${HTTPS}`],
    [
      { http: [{ ...API, url: "http://127.0.0.1.canary" }] },
      `${AT}.http[0].url: expected ${HTTPS}`,
    ],
    [{ http: [{ ...API, url: "http://10.0.0.1" }] }, `${AT}.http[0].url: expected ${HTTPS}`],
    [
      { http: [{ ...API, url: "https://a:canary@b.example" }] },
      `${AT}.http[0].url: expected no credentials: put a secret into headers`,
    ],
    [
      { http: [{ ...API, url: "https://b.example/#canary" }] },
      `${AT}.http[0].url: expected no fragment`,
    ],
    [
      { http: [API, { ...API, url: "https://prices.example/canary" }] },
      `${AT}.http[1].url: expected a host of its own, an earlier source has it too`,
    ],
    [
      { http: [{ ...API, pointer: "canary" }] },
      `${AT}.http[0].pointer: expected a JSON pointer, such as /data/amount`,
    ],
    [
      { http: [{ ...API, pointer: "/canary~2" }] },
      `${AT}.http[0].pointer: expected a JSON pointer, such as /data/amount`,
    ],
    [
      { http: [{ ...API, scale: 37 }] },
      `${AT}.http[0].scale: expected a number of decimals, 0 to 36`,
    ],
    [
      { http: [{ ...API, headers: { "x-key": "canary" } }] },
      `${AT}.http[0].headers.x-key: expected ${PLACES}`,
    ],
    [
      { http: [{ ...API, headers: { "x-key": { env: "TWO_LINES" } } }] },
      `${AT}.http[0].headers.x-key: expected printable characters of ASCII, one line`,
    ],
    [
      { http: [{ ...API, maxAgeSeconds: 29 }] },
      `${AT}.http[0].maxAgeSeconds: expected at least 30 seconds`,
    ],
    [
      { maxAgeSeconds: 29, http: [API] },
      `${AT}.http[0].maxAgeSeconds: expected at least 30 seconds`,
    ],
  ])("is refused when it is invalid (%#)", (price, problem) => {
    const problems = problemsOf(() => load(withPrice(price), { TWO_LINES: "canary\ncanary" }));
    expect(problems).toEqual([problem]);
  });
});

describe("the bridge", () => {
  const MESSENGER = `0x${"a".repeat(40)}`;

  /** A complete file with a bridge route. */
  function createBridged() {
    const file = createFile();
    const bridge = (domain: number) => ({
      cctp: { domain, messenger: MESSENGER, transmitter: `0x${"b".repeat(40)}` },
    });
    const [here, there] = file.chains;
    return {
      ...file,
      cctp: { apiUrl: "https://iris.example" },
      chains: [
        { ...here, ...bridge(0) },
        { ...there, ...bridge(6) },
      ],
      routes: [
        ...file.routes,
        {
          kind: "FAST_MCTP",
          chainId: 2,
          token: addressOf(4),
          destChain: 30,
          destToken: addressOf(5),
          contract: addressOf(8),
        },
      ],
    };
  }

  test("is read from cctp of the file and of both chains", () => {
    const config = load(createBridged());
    expect(config.cctp).toEqual({ apiUrl: "https://iris.example" });
    expect(listEvmChains(config).map(({ cctp }) => cctp?.domain)).toEqual([0, 6]);
    expect(config.routes[2]).toEqual({
      kind: "FAST_MCTP",
      chainId: 2,
      token: addressOf(4),
      destChain: 30,
      destToken: addressOf(5),
      contract: addressOf(8),
      pricedIn: null,
      fromInventory: false,
      swap: null,
    });
  });

  const refusals: [string, (file: ReturnType<typeof createBridged>) => object, string][] = [
    [
      "no URL of Circle's service",
      (file) => ({ ...file, cctp: undefined }),
      "cctp: expected an object with apiUrl, because a route of the kind FAST_MCTP needs it",
    ],
    [
      "a destination chain without cctp, such as BSC",
      (file) => ({ ...file, chains: [file.chains[0], { ...file.chains[1], cctp: undefined }] }),
      "routes[2].destChain: expected a chain with chains[1].cctp, because the bridge needs it",
    ],
    [
      "a source chain without cctp",
      (file) => ({ ...file, chains: [{ ...file.chains[0], cctp: undefined }, file.chains[1]] }),
      "routes[2].chainId: expected a chain with chains[0].cctp, because the bridge needs it",
    ],
    [
      "one domain on two chains",
      ({ chains: [here, there], ...file }) => ({
        ...file,
        chains: [here, { ...there, cctp: { ...there?.cctp, domain: 0 } }],
      }),
      "chains[1].cctp.domain: expected one of its own, another chain has it too",
    ],
    [
      "the zero address as messenger",
      ({ chains: [here, there], ...file }) => ({
        ...file,
        chains: [{ ...here, cctp: { ...here?.cctp, messenger: `0x${"0".repeat(40)}` } }, there],
      }),
      "chains[0].cctp.messenger: expected a contract, not the zero address",
    ],
    [
      "other decimals on the destination chain",
      ({ chains: [here, there], ...file }) => ({
        ...file,
        chains: [
          here,
          { ...there, tokens: [{ symbol: "USDC", address: addressOf(5), decimals: 18 }] },
        ],
      }),
      "routes[2].destToken: expected 6 decimals like token, because the bridge mints one base unit per burned unit",
    ],
    [
      "one chain as source and destination",
      (file) => ({
        ...file,
        routes: [
          ...file.routes.slice(0, 2),
          { ...file.routes[2], destChain: 2, destToken: addressOf(4) },
        ],
      }),
      "routes[2].destChain: expected another chain than chainId",
    ],
    [
      "an unlisted destination token",
      (file) => ({
        ...file,
        routes: [...file.routes.slice(0, 2), { ...file.routes[2], destToken: addressOf(9) }],
      }),
      "routes[2].destToken: expected a listed token of chain 30",
    ],
    [
      "a negative domain",
      ({ chains: [here, there], ...file }) => ({
        ...file,
        chains: [{ ...here, cctp: { ...here?.cctp, domain: -1 } }, there],
      }),
      "chains[0].cctp.domain: expected Circle's id of the chain, a whole number",
    ],
  ];

  test.each(refusals)("is refused with %s", (_, change, problem) => {
    expect(problemsOf(() => load(change(createBridged())))).toContain(problem);
  });
});
