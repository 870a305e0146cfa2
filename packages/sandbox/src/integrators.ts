/** Creates integrators and API keys with the service's command line. Keys are printed only once, so they are stored. */
import type { Address } from "viem";
import { SandboxError } from "./errors.ts";
import { asRecord, readJson, writeJson } from "./json-file.ts";
import { loadKey } from "./keys.ts";
import { type PreparedService, runServiceCommand } from "./service.ts";
import { deriveSolanaAccounts } from "./solana/accounts.ts";
import { statePaths } from "./state-paths.ts";

/** An integrator of the sandbox. */
export interface IntegratorKey {
  readonly name: string;
  readonly apiKey: string;
}

/** The integrator to create. */
export interface IntegratorRequest {
  readonly name: string;
  /** Refund authority on EVM chains. */
  readonly refundEvm: Address;
  /** Refund authority on Solana, if there is a Solana chain. */
  readonly refundSolana?: string;
  /** Whether quotes of its key have deposit addresses. Default true. */
  readonly depositAddresses?: boolean;
  /** Environment of the command, such as the URL of a separate database. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The key of `plain` has deposit addressing off: its quotes have no deposit address. */
const INTEGRATORS = [
  { name: "acme", depositAddresses: true },
  { name: "globex", depositAddresses: true },
  { name: "plain", depositAddresses: false },
] as const;

/** Returns the integrators of a state directory, and lets a service that does not serve yet create missing ones. */
export async function ensureIntegrators(
  stateDir: string,
  service: Pick<PreparedService, "createIntegrators">,
): Promise<readonly IntegratorKey[]> {
  const paths = statePaths(stateDir);
  const known = asRecord(readJson(paths.integrators)) ?? {};
  const missing = INTEGRATORS.filter(({ name }) => typeof known[name] !== "string");
  // Without any it opens its database all the same.
  const made = await service.createIntegrators(
    missing.map((one) => JSON.stringify(describeIntegrator(paths.keys, one))),
  );
  const keys = new Map(made.map(({ name, apiKey }) => [name, apiKey]));
  const ensured = INTEGRATORS.map(({ name }) => {
    const apiKey = known[name] ?? keys.get(name);
    if (typeof apiKey === "string") return { name, apiKey };
    throw new SandboxError(`the service printed no apiKey for ${name}`);
  });
  const stored = Object.fromEntries(ensured.map(({ name, apiKey }) => [name, apiKey]));
  writeJson(paths.integrators, stored);
  return ensured;
}

/** Returns a line of `sluice integrator import`. */
function describeIntegrator(
  keysDir: string,
  { name, depositAddresses }: (typeof INTEGRATORS)[number],
): object {
  const { account, privateKey } = loadKey(keysDir, `refund-${name}`);
  // A Solana account derived from the same secret.
  const { delivery: refundSolana } = deriveSolanaAccounts(privateKey);
  return { name, refundEvm: account.address, refundSolana, depositAddresses };
}

/** Creates an integrator and an API key. One that already exists, from an interrupted start, gets another key. */
export async function createIntegrator(
  configPath: string,
  { name, refundEvm, refundSolana, depositAddresses = true, env }: IntegratorRequest,
): Promise<IntegratorKey> {
  const config = ["--config", configPath, "--json"];
  const onSolana = refundSolana === undefined ? [] : ["--refund-solana", refundSolana];
  const authorities = ["--refund-evm", refundEvm, ...onSolana];
  const createIntegratorCommand = [
    "integrator",
    "create",
    "--name",
    name,
    ...authorities,
    ...config,
  ];
  const failure = await runServiceCommand(createIntegratorCommand, env).then(
    () => undefined,
    (error: unknown) => error,
  );
  const addresses = depositAddresses ? "on" : "off";
  const keyOptions = ["--integrator", name, "--deposit-addresses", addresses, ...config];
  const key = await runServiceCommand(["key", "create", ...keyOptions], env).catch(
    (error: unknown) => {
      throw new SandboxError(
        `the integrator ${name} could not be created: run npm start again, or start from scratch with --fresh`,
        {
          cause: failure ?? error,
        },
      );
    },
  );
  const { apiKey } = key;
  if (typeof apiKey !== "string") {
    throw new SandboxError(`sluice key create printed no apiKey for ${name}`);
  }
  return { name, apiKey };
}
