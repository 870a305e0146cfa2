/** A chain that was retired: the service starts without it, whether or not the configuration still has it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EVM_CHAIN, NO_NODE, SECRETS } from "../../test/support/command-line.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createTenant,
  insertAddress,
  insertSettlement,
  PEPPER,
} from "../../test/support/tenants.ts";
import { retireChain, setDraining } from "../addresses/index.ts";
import { startRoles } from "./all.ts";
import { loadConfig } from "./config.ts";

const RECORD = { chainId: 30, operator: "ann@host", reason: "no longer used" };

let database: TestDatabase;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "sluice-retired-"));
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the API with a configuration of these chains, and returns the answers of a path. */
async function answersOf(chainIds: readonly number[], paths: readonly string[], apiKey: string) {
  const path = join(folder, "sluice.json");
  const rpcUrls = Object.fromEntries(chainIds.map((chainId) => [chainId, NO_NODE]));
  const chains = chainIds.map((chainId) => ({
    ...EVM_CHAIN,
    chainId,
    evmChainId: 900_000 + chainId,
  }));
  const ports = { api: { port: 0 }, quote: { port: 0 } };
  const attestor = { key: { env: "ATTESTOR" }, rpcUrls };
  const file = { ...ports, apiKeyPepper: { env: "PEPPER" }, attestor, chains, routes: [] };
  writeFileSync(
    path,
    JSON.stringify({ ...file, stateDir: "state", feeBps: 10, logLevel: "silent" }),
  );
  const env = { ...SECRETS, PEPPER: PEPPER.reveal(), DATABASE_URL: database.url };
  const config = loadConfig({ path, env, roles: ["api"] });
  const nobody = () => Promise.reject(new Error("nobody is asked"));
  const service = await startRoles(config, {
    roles: ["api"],
    standby: false,
    askPassphrase: nobody,
    examinations: { doctor: nobody, audit: nobody },
  });
  try {
    return await Promise.all(
      paths.map(
        async (one): Promise<{ readonly chains: readonly { readonly chainId: number }[] }> => {
          const answer = await fetch(`${service.apiUrl}${one}`, {
            headers: { "x-api-key": apiKey },
          });
          // CAST: the answers of these paths are held against their schemas elsewhere.
          return (await answer.json()) as {
            readonly chains: readonly { readonly chainId: number }[];
          };
        },
      ),
    );
  } finally {
    await service.stop();
  }
}

test("a retired chain is not listed, and its old rows are, with and without its configuration [T177]", async () => {
  const { db } = database;
  const tenant = await createTenant(db);
  const address = await insertAddress(db, tenant);
  const id = await insertSettlement(db, tenant, address, { chainId: 30 });
  const paths = ["/source-config", "/swaps?limit=10"];
  const [before] = await answersOf([2, 30], paths, tenant.apiKey);
  expect(before?.chains.map(({ chainId }) => chainId)).toEqual([2, 30]);
  await setDraining(db, true, RECORD);
  const [draining] = await answersOf([2, 30], paths, tenant.apiKey);
  expect(draining?.chains).toHaveLength(2);
  await retireChain(db, RECORD);
  for (const configured of [[2, 30], [2]]) {
    const [sources, swaps] = await answersOf(configured, paths, tenant.apiKey);
    expect(sources?.chains.map(({ chainId }) => chainId)).toEqual([2]);
    expect(JSON.stringify(swaps)).toContain(id);
  }
});

test("a chain is retired only after it was drained, and does not come back [T177]", async () => {
  const { db } = database;
  await expect(retireChain(db, RECORD)).rejects.toThrow(/drain it first/);
  expect(await setDraining(db, false, RECORD)).toBe(false);
  expect(await setDraining(db, true, RECORD)).toBe(true);
  expect(await setDraining(db, true, RECORD)).toBe(false);
  expect(await setDraining(db, false, RECORD)).toBe(true);
  await expect(retireChain(db, RECORD)).rejects.toThrow(/drain it first/);
  await setDraining(db, true, RECORD);
  expect(await retireChain(db, RECORD)).toBe(true);
  expect(await retireChain(db, RECORD)).toBe(false);
  await expect(setDraining(db, false, RECORD)).rejects.toThrow(/is retired/);
  await expect(db.deleteFrom("chain_actions").execute()).rejects.toThrow(/only added to/);
});
