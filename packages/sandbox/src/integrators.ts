/** Integrators and their keys, made through the service's own command line. Keys are shown once, so they are kept. */
import type { Address } from "viem";
import { SandboxError } from "./errors.ts";
import { asRecord, readJson, writeJson } from "./json-file.ts";
import { loadKey } from "./keys.ts";
import { runServiceCommand } from "./service.ts";
import { deriveSolanaAccounts } from "./solana/accounts.ts";
import { statePaths } from "./state-paths.ts";

/** An integrator of the sandbox. */
export interface IntegratorKey {
  readonly name: string;
  readonly apiKey: string;
}

/** What to create. */
export interface IntegratorRequest {
  readonly name: string;
  /** Who may take deposits back. */
  readonly refundEvm: Address;
  /** The same on Solana; only where there is such a chain. */
  readonly refundSolana?: string;
  /** Whether quotes of its key carry deposit addresses. Default true. */
  readonly depositAddresses?: boolean;
  /** The database's address, where the service has its own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The third one's key has deposit addressing off: its quotes carry no address. */
const INTEGRATORS = [
  { name: "acme", depositAddresses: true },
  { name: "globex", depositAddresses: true },
  { name: "plain", depositAddresses: false },
] as const;

/** The integrators of a state directory; those that are missing are created. The service must be running. */
export async function ensureIntegrators(
  stateDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly IntegratorKey[]> {
  const paths = statePaths(stateDir);
  const known = asRecord(readJson(paths.integrators)) ?? {};
  const ensured = await Promise.all(
    INTEGRATORS.map(async ({ name, depositAddresses }) => {
      const apiKey = known[name];
      if (typeof apiKey === "string") return { name, apiKey };
      const refundEvm = loadKey(paths.keys, `refund-${name}`).account.address;
      // An account that follows from the same secret.
      const { delivery: refundSolana } = deriveSolanaAccounts(
        loadKey(paths.keys, `refund-${name}`).privateKey,
      );
      return createIntegrator(paths.serviceConfig, {
        name,
        refundEvm,
        refundSolana,
        depositAddresses,
        env,
      });
    }),
  );
  writeJson(
    paths.integrators,
    Object.fromEntries(ensured.map(({ name, apiKey }) => [name, apiKey])),
  );
  return ensured;
}

/** Creates an integrator and a key for it. One that exists already, of an interrupted start, gets another key. */
export async function createIntegrator(
  configPath: string,
  { name, refundEvm, refundSolana, depositAddresses = true, env }: IntegratorRequest,
): Promise<IntegratorKey> {
  const config = ["--config", configPath, "--json"];
  const onSolana = refundSolana === undefined ? [] : ["--refund-solana", refundSolana];
  const authorities = ["--refund-evm", refundEvm, ...onSolana];
  const creating = ["integrator", "create", "--name", name, ...authorities, ...config];
  const refused = await runServiceCommand(creating, env).then(
    () => undefined,
    (error: unknown) => error,
  );
  const addresses = depositAddresses ? "on" : "off";
  const keying = ["--integrator", name, "--deposit-addresses", addresses, ...config];
  const key = await runServiceCommand(["key", "create", ...keying], env).catch((error: unknown) => {
    throw new SandboxError(`the integrator ${name} could not be created`, {
      cause: refused ?? error,
    });
  });
  const { apiKey } = key;
  if (typeof apiKey !== "string") throw new SandboxError(`the key of ${name} was not printed`);
  return { name, apiKey };
}
