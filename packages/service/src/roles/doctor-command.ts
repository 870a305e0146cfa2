/** The doctor's command: opens what there is to look at, and says what is wrong. */
import { createEvmInspector, evmFactoryExpectation } from "../chains/evm/inspector.ts";
import { type Config, ConfigError } from "../config/load.ts";
import { listSecretFiles } from "../config/secret-files.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { toAddress } from "../core/hex.ts";
import { startEmbedded } from "../db/embedded.ts";
import { inspectDatabase, listRefundAuthorities } from "../db/inspect.ts";
import { listMissingMigrations } from "../db/migrate.ts";
import { type OpenDatabase, openDatabase } from "../db/pool.ts";
import {
  type ChainNodes,
  type DoctorDeps,
  examine,
  refuseConfiguration,
  type Report,
  toReport,
} from "../doctor/index.ts";
import { listIntegrators } from "../integrators/index.ts";
import { createLog } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { addressFormat } from "./address-format.ts";
import { createChains, createConfiguredPrices, openAttestations } from "./context.ts";
import { listAccounts } from "./keys.ts";
import { systemClock, systemHttp } from "./system-ports.ts";

const RPC_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 2;

export { formatReport } from "../doctor/index.ts";

/** Examines an installation. A configuration that cannot be used is a finding like any other. */
export async function runDoctor(args: {
  readonly configPath: string;
  /** Throws `ConfigError` with every problem. */
  readonly readConfig: () => Config;
}): Promise<Report> {
  let config: Config;
  try {
    config = args.readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return toReport(refuseConfiguration(error.problems));
  }
  let accounts: Awaited<ReturnType<typeof readAccounts>>;
  try {
    accounts = await readAccounts(config);
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return toReport(refuseConfiguration([error.message]));
  }
  const database = createLazyDatabase(config);
  // Its checks say what each node does.
  const log = createLog({ level: "silent", role: "doctor" });
  const chains = createChains(config, { clock: systemClock, log });
  const ports = { http: systemHttp, clock: systemClock, log, metrics: createMetrics() };
  const prices = createConfiguredPrices(config, { ...ports, chains });
  try {
    const checks = await examine({
      ...accounts,
      config,
      clock: systemClock,
      secretFiles: listSecretFiles(args.configPath),
      factory: evmFactoryExpectation,
      display: addressFormat.display,
      nodesOf: openNodes(config),
      prices,
      attestations: openAttestations(config, ports),
      readDatabase: async () => inspectDatabase(await database.open(), systemClock),
      listRefundAuthorities: async () =>
        (await listRefundAuthorities(await database.open())).map(toAddress),
      listIntegrators: async () => {
        const { db } = await database.open();
        if ((await listMissingMigrations(db)).length > 0) {
          throw new OperatingError("CONFIG_MISSING", "The database has not the newest schema.");
        }
        return listIntegrators(db);
      },
    });
    return toReport(checks);
  } finally {
    await database.close();
  }
}

/** The accounts of the configured keys. Throws OperatingError that names the key that cannot be read. */
async function readAccounts(config: Config): Promise<Pick<DoctorDeps, "attestor" | "lanesOf">> {
  const accounts = await listAccounts(config);
  const attestor = accounts.find(({ lane }) => lane === null);
  assert(attestor, "the configuration has one attestor");
  return {
    attestor: attestor.address,
    lanesOf: (chainId) =>
      accounts.flatMap(({ lane, name, address }) =>
        lane?.chainId === chainId ? [{ name, purpose: lane.purpose, address }] : [],
      ),
  };
}

function openNodes({ chains, attestor }: Config): DoctorDeps["nodesOf"] {
  const nodes = new Map(
    chains.map(({ chainId, nodes }): [number, ChainNodes] => {
      const second = find(attestor.nodes, chainId);
      const open = (rpcUrl: string) =>
        createEvmInspector({ chainId, rpcUrl, timeoutMs: RPC_TIMEOUT_MS });
      const [ours, ...moreOfOurs] = nodes.urls;
      const [theirs, ...moreOfTheirs] = second.urls;
      const hrefOf = (url: string) => URL.parse(url)?.href;
      const known = new Set(nodes.urls.map(hrefOf));
      return [
        chainId,
        {
          service: open(ours),
          attestor: open(theirs),
          furtherOfService: moreOfOurs.map(open),
          furtherOfAttestor: moreOfTheirs.map(open),
          areTheSame: second.urls.some((url) => known.has(hrefOf(url))),
        },
      ];
    }),
  );
  return (chainId) => find(nodes, chainId);
}

function find<T>(byChain: ReadonlyMap<number, T>, chainId: number): T {
  const found = byChain.get(chainId);
  assert(found !== undefined, "every configured chain has its keys and nodes");
  return found;
}

/** Opened by the first check that asks, so that trouble with it is a finding. Never migrates. */
function createLazyDatabase(config: Config) {
  let opening: Promise<{ database: OpenDatabase; end(): Promise<void> }> | undefined;
  async function start() {
    const { stateDir, databaseUrl } = config;
    if (databaseUrl) {
      const database = await openDatabase({ url: databaseUrl }, { max: CONNECTIONS_MAX });
      return { database, end: () => database.close() };
    }
    const log = createLog({ level: config.logLevel, role: "doctor" });
    const server = await startEmbedded({ stateDir, log });
    const stopServer = async () => {
      if (!server.adopted) await server.stop();
    };
    try {
      const database = await openDatabase(server.address, { max: CONNECTIONS_MAX });
      return {
        database,
        async end() {
          await database.close();
          await stopServer();
        },
      };
    } catch (error) {
      await stopServer();
      throw error;
    }
  }
  return {
    open: async () => (await (opening ??= start())).database,
    async close() {
      // What could not be opened has been reported, and there is nothing to close.
      const opened = await opening?.catch(() => undefined);
      await opened?.end();
    },
  };
}
