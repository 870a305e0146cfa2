/** History in the database of a sandbox: rows of two integrators on chains that the sandbox does not have. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@sluice/sandbox";
import { socketDirOf } from "../packages/service/src/db/embedded-home.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { authenticate } from "../packages/service/src/integrators/index.ts";
import { loadConfig } from "../packages/service/src/roles/config.ts";
import { systemRandom } from "../packages/service/src/roles/system-ports.ts";
import { insertHistory } from "../packages/service/test/support/million-rows.ts";
import {
  createTenant,
  insertEvent,
  insertStatusEvent,
} from "../packages/service/test/support/tenants.ts";

/** Known chains, which no role of the sandbox works on. */
const FOREIGN_CHAINS = { usual: 4, rare: 23 };

/** Inserts addresses, and as many settlements, deposits and events; half of them are the first integrator's. */
export async function insertRows(
  { descriptor, configPath }: Sandbox,
  { stateDir, rows }: { readonly stateDir: string; readonly rows: number },
): Promise<void> {
  const socketDir = socketDirOf(realpathSync(join(stateDir, "service", "postgres")));
  const { db, close } = await openDatabase(
    { socketDir, user: "sluice", database: "postgres" },
    { max: 2 },
  );
  try {
    const pepper = loadConfig({ path: configPath, env: {} }).apiKeyPepper;
    const apiKey = descriptor.integrators[0]?.apiKey ?? "";
    const { integratorId } = await authenticate({ db, pepper }, apiKey);
    const tenant = { id: integratorId, name: "", keyId: "", apiKey };
    await insertEvent(db, tenant, FOREIGN_CHAINS.usual);
    await insertStatusEvent(db, tenant, systemRandom.uuid());
    const tenants = [integratorId, (await createTenant(db)).id];
    await insertHistory(db, { tenants, chains: FOREIGN_CHAINS, count: rows, wallets: rows });
  } finally {
    await close();
  }
}
