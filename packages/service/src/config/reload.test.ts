import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOf, CONFIG_ENV, createConfigFile } from "../../test/support/config.ts";
import { loadConfig } from "../roles/config.ts";
import type { Config } from "./config.ts";
import { compareConfigs } from "./reload.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-reload-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

type File = ReturnType<typeof createConfigFile> & Record<string, unknown>;

function load(change: (file: File) => void = () => undefined, env = CONFIG_ENV): Config {
  const path = join(folder, "sluice.json");
  const file = createConfigFile();
  change(file);
  writeFileSync(path, JSON.stringify(file));
  return loadConfig({ path, env });
}

test("the same file changes nothing", () => {
  expect(compareConfigs(load(), load())).toEqual({ changed: [], refused: [] });
});

test.each<[string, (file: File) => void, string[]]>([
  ["fees", (file) => (file.feeBps = 12), ["feeBps"]],
  ["limits", (file) => (file["rateLimits"] = { perKey: 3 }), ["rateLimits"]],
  [
    "nodes",
    ({ chains: [chain] }) => Object.assign(chain ?? {}, { rpcUrl: "http://127.0.0.1:1" }),
    ["chains.ethereum.nodes"],
  ],
  [
    "the attestor's nodes",
    ({ attestor }) => (attestor.rpcUrls[2] = "http://127.0.0.1:9"),
    ["attestor.nodes"],
  ],
  [
    "a token",
    ({ chains: [chain] }) =>
      chain?.tokens.push({ symbol: "T", address: addressOf(8), decimals: 6, minDeposit: "1" }),
    [`chains.ethereum.tokens.${addressOf(8)}`],
  ],
  [
    "a minimum",
    ({ chains: [chain] }) => Object.assign(chain?.tokens[0] ?? {}, { minDeposit: "2" }),
    ["chains.ethereum.tokens.USDC"],
  ],
  [
    "a route",
    ({ routes }) =>
      routes.push({
        kind: "MONO_CHAIN",
        chainId: 30,
        token: addressOf(5),
        contract: addressOf(9),
      }),
    [`routes.MONO_CHAIN:30:${addressOf(5)}:30:${addressOf(5)}:${addressOf(9)}`],
  ],
])("may change while the process runs: %s", (_, change, changed) => {
  expect(compareConfigs(load(), load(change))).toEqual({ changed, refused: [] });
});

test.each<[string, (file: File) => void, string, string]>([
  ["a listener", (file) => (file.api.port = 1), "api", "listeners are opened when the process"],
  ["a folder", (file) => (file.stateDir = "other"), "stateDir", "the database is connected"],
  [
    "a contract",
    ({ chains: [chain] }) => Object.assign(chain?.contracts ?? {}, { escrow: addressOf(9) }),
    "chains.ethereum.contracts",
    "addresses and locks depend on it",
  ],
  [
    "the network",
    ({ chains: [chain] }) => Object.assign(chain ?? {}, { evmChainId: 31_337 }),
    "chains.ethereum.evmChainId",
    "it names the network",
  ],
  [
    "a token's decimals",
    ({ chains: [chain] }) => Object.assign(chain?.tokens[0] ?? {}, { decimals: 7 }),
    "chains.ethereum.tokens.USDC",
    "it names the network",
  ],
  [
    "a removed route",
    (file) => (file.routes = file.routes.slice(0, 1)),
    `routes.SWIFT:2:${addressOf(4)}:30:${addressOf(5)}:${addressOf(7)}`,
    "a route is switched off with `sluice pause`",
  ],
])("needs a restart: %s", (_, change, setting, reason) => {
  const { refused } = compareConfigs(load(), load(change));
  expect(refused).toMatchObject([{ setting, reason: expect.stringContaining(reason) as string }]);
});

test("secrets are compared by their values, which are not named [T303]", () => {
  const pepper = { ...CONFIG_ENV, PEPPER: "another-pepper-of-some-length" };
  const { changed, refused } = compareConfigs(load(), load(undefined, pepper));
  expect([changed, refused.map(({ setting }) => setting)]).toEqual([
    ["apiKeyPepper"],
    ["apiKeyPepper"],
  ]);
  expect(JSON.stringify([changed, refused])).not.toContain("pepper-of");
});
