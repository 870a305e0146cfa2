import { type Config, ROLE_NAMES, type RoleName } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { SPREADABLE_ROLES } from "../db/instance.ts";
import { type RunningService, startRoles } from "../roles/all.ts";
import type { Call, Result } from "./command.ts";
import { nameOperator } from "./operator.ts";
import { prepareIntegrators } from "./integrator/import.ts";

/** Starts the roles, and prints their URLs once they are ready. */
export async function run(
  call: Call,
  input: {
    readonly roles: readonly RoleName[] | undefined;
    readonly chains: readonly number[] | undefined;
    readonly standby: boolean;
    readonly prepare: boolean;
  },
): Promise<Result | undefined> {
  const { roles = ROLE_NAMES, chains: workedChains, standby, prepare } = input;
  const { askPassphrase } = call;
  const readConfig = () => call.readConfig({ roles });
  const config = prepare ? await prepareIntegrators(call, readConfig) : readConfig();
  if (!config) return undefined;
  if (workedChains) assertWorkable(config, { roles, workedChains });
  // A standby may be told to before it has taken over.
  const starting: { service?: RunningService; isAsked: boolean } = { isAsked: false };
  call.reloadOnSignal(async () => {
    starting.isAsked = true;
    await starting.service?.reload(readConfig, nameOperator());
  });
  const service = await startRoles(config, {
    roles,
    workedChains,
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
  starting.service = service;
  if (starting.isAsked) await service.reload(readConfig, nameOperator());
  const { apiUrl: api, quoteUrl: quote, telemetryUrl: telemetry, consoleUrl: console } = service;
  const urls = { api, quote, telemetry, console };
  return { json: { ready: true, roles, ...urls, pid: process.pid }, text: null };
}

/** @throws OperatingError CONFIG_MISSING if chains are given without a role that works on chains, or are not configured. */
function assertWorkable(
  { chains }: Config,
  given: { readonly roles: readonly RoleName[]; readonly workedChains: readonly number[] },
): void {
  const refuse = (expected: string) =>
    new OperatingError("CONFIG_MISSING", `--chains: expected ${expected}`);
  if (!given.roles.some((role) => SPREADABLE_ROLES.includes(role))) {
    throw refuse(`one of the roles ${SPREADABLE_ROLES.join(" and ")} beside it`);
  }
  const known = new Set(chains.map(({ chainId }) => chainId));
  const unknown = given.workedChains.find((chainId) => !known.has(chainId));
  if (unknown !== undefined) {
    const names = chains.map(({ name }) => name).join(", ");
    throw refuse(`chains of the configuration: ${names}`);
  }
}
