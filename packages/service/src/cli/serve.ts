import { ROLE_NAMES, type RoleName } from "../config/index.ts";
import { startRoles } from "../roles/all.ts";
import type { Call, Result } from "./command.ts";
import { prepareIntegrators } from "./integrator/import.ts";

/** Starts the roles, and prints their URLs once they are ready. */
export async function run(
  call: Call,
  input: {
    readonly roles: readonly RoleName[] | undefined;
    readonly standby: boolean;
    readonly prepare: boolean;
  },
): Promise<Result | undefined> {
  const { roles = ROLE_NAMES, standby, prepare } = input;
  const { askPassphrase } = call;
  const readConfig = () => call.readConfig({ roles });
  const config = prepare ? await prepareIntegrators(call, readConfig) : readConfig();
  if (!config) return undefined;
  const service = await startRoles(config, {
    roles,
    standby,
    askPassphrase,
    // As the commands run them: with the file as it is then, and with every secret that this machine has.
    examinations: {
      async doctor() {
        const { examineInstallation } = await import("./doctor.ts");
        return examineInstallation(call);
      },
      async audit() {
        const { proveBooks } = await import("./audit.ts");
        return proveBooks(call);
      },
    },
  });
  call.stopOnSignal(service);
  const { apiUrl: api, quoteUrl: quote, telemetryUrl: telemetry, consoleUrl: console } = service;
  const urls = { api, quote, telemetry, console };
  return { json: { ready: true, roles, ...urls, pid: process.pid }, text: null };
}
