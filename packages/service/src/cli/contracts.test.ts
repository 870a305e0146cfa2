import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatContracts, listContracts, listOwnerCalls } from "./contracts.ts";
import { loadConfig } from "../roles/config.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const OTHER = "0x00000000000000000000000000000000000000AA";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-contracts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function load(changes: object) {
  const path = join(folder, "sluice.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(EXAMPLE, "utf8")), ...changes }));
  const env = { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" };
  return loadConfig({ path, env, roles: [] });
}

const list = (changes: object) => listContracts(load(changes));

test("deploys no contract that the configuration already names", () => {
  const usdc = { kind: "MONO_CHAIN", chainId: "base", token: "USDC" };
  const contracts = list({
    contracts: { escrow: OTHER.toLowerCase() },
    routes: [
      { ...usdc, contract: OTHER.toLowerCase() },
      { ...usdc, token: "USDT" },
    ],
  });
  expect(contracts.map(({ name, transaction }) => [name, transaction !== null])).toEqual([
    ["factory", true],
    ["escrow", false],
    ["delivery", true],
    ["factory", true],
    ["escrow", false],
    ["delivery", true],
    ["MONO_CHAIN USDC of chain 30", false],
    ["MONO_CHAIN USDT of chain 30", true],
  ]);
  expect(contracts.filter(({ transaction }) => !transaction).map(({ address }) => address)).toEqual(
    [OTHER, OTHER, OTHER],
  );
  const [factory] = contracts;
  expect(factory?.transaction?.to).toBe("0x4e59b44847b379578588920cA78FbF26c0B4956C");
  expect(factory?.transaction?.data).toMatch(/^0x0{64}6[01]/);
  expect(formatContracts(contracts).split("\n").at(-2)).toBe(
    `base (30)  MONO_CHAIN USDC of chain 30  ${OTHER}  as configured`,
  );
});

test("prints the owner's call that sets the security contact on each chain", () => {
  const { deployment } = JSON.parse(readFileSync(EXAMPLE, "utf8"));
  const { securityContact: _, ...without } = deployment;
  expect(listOwnerCalls(load({ deployment: without }))).toEqual([]);
  const config = load({ deployment: { ...deployment, securityContact: "security@example.org" } });
  const calls = listOwnerCalls(config);
  expect(calls.map(({ chain, to }) => [chain, to])).toEqual(
    listContracts(config).flatMap(({ chain, name, address }) =>
      name === "factory" ? [[chain, address]] : [],
    ),
  );
  // setSecurityContact(string): the selector, then offset, length and text.
  const text = Buffer.from("security@example.org").toString("hex").padEnd(64, "0");
  expect(calls[0]?.data.slice(10)).toBe(
    `${"20".padStart(64, "0")}${(20).toString(16).padStart(64, "0")}${text}`,
  );
});
