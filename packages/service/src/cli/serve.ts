import { ROLE_NAMES, type RoleName } from "../config/index.ts";
import { startRoles } from "../roles/all.ts";
import type { Call, Result } from "./command.ts";

/** Starts the roles, and prints their URLs once they are ready. */
export async function run(
  call: Call,
  input: { readonly roles: readonly RoleName[] | undefined; readonly standby: boolean },
): Promise<Result> {
  const { roles = ROLE_NAMES, standby } = input;
  const { askPassphrase } = call;
  const config = call.readConfig({ roles });
  const service = await startRoles(config, { roles, standby, askPassphrase });
  call.stopOnSignal(service);
  const { apiUrl: api, quoteUrl: quote, telemetryUrl: telemetry, consoleUrl: console } = service;
  const urls = { api, quote, telemetry, console };
  return { json: { ready: true, roles, ...urls, pid: process.pid }, text: null };
}
