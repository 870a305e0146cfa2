import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatContracts, listContracts } from "./contracts.ts";
import { loadConfig } from "../roles/config.ts";

const EXAMPLE = join(import.meta.dirname, "../../../../docs/examples/production.json");
const OTHER = "0x00000000000000000000000000000000000000AA";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-contracts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function list(changes: object) {
  const path = join(folder, "sluice.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(EXAMPLE, "utf8")), ...changes }));
  const env = { SLUICE_DATABASE_URL: "postgres://sluice@db.example/sluice" };
  return listContracts(loadConfig({ path, env, roles: [] }));
}

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
