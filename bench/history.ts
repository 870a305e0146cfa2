/** History in the database of a sandbox: rows of two integrators on chains that the sandbox does not have. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@sluice/sandbox";
import { NATIVE_TOKEN } from "../packages/service/src/core/hex.ts";
import { socketDirOf } from "../packages/service/src/db/embedded-home.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import {
  authenticate,
  createIntegrator,
  createKey,
} from "../packages/service/src/integrators/index.ts";
import { loadConfig } from "../packages/service/src/roles/config.ts";
import { systemRandom } from "../packages/service/src/roles/system-ports.ts";
import { putPositions } from "../packages/service/src/scanner/store.ts";
import { insertHistory } from "../packages/service/test/support/million-rows.ts";
import {
  createTenant,
  insertEvent,
  insertStatusEvent,
} from "../packages/service/test/support/tenants.ts";

/** Events of a full page. */
const PAGE = 200;
/** Known chains, which no role of the sandbox works on. */
const FOREIGN_CHAINS = { usual: 4, rare: 23 };

/** Creates integrators that have as many events as a page, and returns a key of each. */
export async function createKeys(
  { configPath }: Sandbox,
  { stateDir, count }: { readonly stateDir: string; readonly count: number },
): Promise<readonly string[]> {
  const { db, close } = await openDatabaseOf(stateDir);
  try {
    const pepper = loadConfig({ path: configPath, env: {} }).apiKeyPepper;
    const deps = { db, pepper, random: systemRandom };
    const facts = { refundEvm: `0x${"7".repeat(40)}`, maxFeeBps: 50, maxSlippageBps: 100 };
    const keys: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const { integratorId: id, name } = await createIntegrator(deps, {
        ...facts,
        name: `load-${n}`,
      });
      const key = await createKey(deps, { integrator: id, depositAddresses: true });
      for (let event = 0; event < PAGE; event += 1) {
        await insertEvent(db, { id, name, ...key }, FOREIGN_CHAINS.usual);
      }
      keys.push(key.apiKey);
    }
    return keys;
  } finally {
    await close();
  }
}

/** Opens the database of a sandbox. */
export async function openDatabaseOf(stateDir: string) {
  const socketDir = socketDirOf(realpathSync(join(stateDir, "service", "postgres")));
  return openDatabase({ socketDir, user: "sluice", database: "postgres" }, { max: 2 });
}

/** Inserts addresses, and as many settlements, deposits and events; half of them are the first integrator's. */
export async function insertRows(
  { descriptor, configPath }: Sandbox,
  { stateDir, rows }: { readonly stateDir: string; readonly rows: number },
): Promise<void> {
  const { db, close } = await openDatabaseOf(stateDir);
  try {
    const pepper = loadConfig({ path: configPath, env: {} }).apiKeyPepper;
    const apiKey = descriptor.integrators[0]?.apiKey ?? "";
    const { integratorId } = await authenticate({ db, pepper }, apiKey);
    const tenant = { id: integratorId, name: "", keyId: "", apiKey };
    await insertEvent(db, tenant, FOREIGN_CHAINS.usual);
    await insertStatusEvent(db, tenant, systemRandom.uuid());
    const { id: other } = await createTenant(db);
    const tenants = [integratorId, other];
    // As over addresses of many months: the first round over those of a new integrator goes as fast as it may, for minutes.
    const position = { integratorId: other, position: NATIVE_TOKEN, sweptMs: Date.now() };
    for (const { chainId, kind } of descriptor.chains) {
      if (kind === "evm") await putPositions(db, chainId, "all", [position]);
    }
    await insertHistory(db, { tenants, chains: FOREIGN_CHAINS, count: rows, wallets: rows });
  } finally {
    await close();
  }
}
