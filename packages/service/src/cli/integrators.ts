/** The commands that act on the database and end. */
import type { Config, GasPolicy } from "../config/index.ts";
import {
  createIntegrator,
  createKey,
  listIntegrators,
  listKeys,
  revokeKey,
  setGasPolicy,
  setRefundSolana,
} from "../integrators/index.ts";
import { createLog } from "../telemetry/log.ts";
import { openServiceDatabase, type ServiceDatabase } from "../roles/database.ts";
import { systemRandom } from "../roles/system-ports.ts";

/** Brings the schema up to date. */
export async function migrate(config: Config): Promise<void> {
  await withDatabase(config, async () => undefined);
}

/** Creates an integrator; caps that are not given are the configuration's. */
export async function createIntegratorCommand(
  config: Config,
  args: {
    readonly name: string;
    readonly refundEvm: string;
    readonly refundSolana: string | undefined;
    readonly maxFeeBps: number | undefined;
    readonly maxSlippageBps: number | undefined;
    readonly gas: GasPolicy | undefined;
  },
) {
  return withDatabase(config, ({ db }) =>
    createIntegrator(
      { db, random: systemRandom },
      {
        name: args.name,
        refundEvm: args.refundEvm,
        refundSolana: args.refundSolana,
        maxFeeBps: args.maxFeeBps ?? config.maxFeeBps,
        maxSlippageBps: args.maxSlippageBps ?? config.maxSlippageBps,
        gas: args.gas,
      },
    ),
  );
}

/** Every integrator, with who pays for the gas of its settlements. */
export async function listIntegratorsCommand(config: Config) {
  const integrators = await withDatabase(config, ({ db }) => listIntegrators(db));
  return integrators.map((integrator) => ({
    ...integrator,
    gas: integrator.gas ?? config.gas,
    gasIsDefault: integrator.gas === null,
  }));
}

/** Changes who pays for the gas of an integrator's settlements, or names its refund authority on Solana; what is given. */
export async function setIntegratorCommand(
  config: Config,
  args: {
    readonly integrator: string;
    readonly gas?: GasPolicy | null;
    readonly refundSolana?: string;
  },
): Promise<void> {
  const { integrator, gas, refundSolana } = args;
  await withDatabase(config, async ({ db }) => {
    // The one that can be refused goes first.
    if (refundSolana !== undefined) await setRefundSolana(db, { integrator, refundSolana });
    if (gas !== undefined) await setGasPolicy(db, { integrator, gas });
  });
}

/** Creates an API key, which is shown this once. */
export async function createKeyCommand(
  config: Config,
  args: { readonly integrator: string; readonly depositAddresses: boolean },
) {
  return withDatabase(config, ({ db }) =>
    createKey({ db, random: systemRandom, pepper: config.apiKeyPepper }, args),
  );
}

/** Every key, or those of one integrator. */
export async function listKeysCommand(
  config: Config,
  args: { readonly integrator: string | undefined },
) {
  return withDatabase(config, ({ db }) => listKeys(db, args));
}

/** Ends a key for good. */
export async function revokeKeyCommand(
  config: Config,
  args: { readonly keyId: string },
): Promise<void> {
  await withDatabase(config, ({ db }) => revokeKey(db, args));
}

/** Opens the database for one command; an embedded server that was not running is ended afterwards. */
export async function withDatabase<Result>(
  config: Config,
  run: (database: ServiceDatabase) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ level: config.logLevel, role: "command" });
  const database = await openServiceDatabase(config, log);
  try {
    return await run(database);
  } finally {
    await database.close();
    if (database.startedServer) await database.stopServer();
  }
}
