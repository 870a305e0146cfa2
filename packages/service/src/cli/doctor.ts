/** `sluice doctor`: opens nodes, database, keys and signers for the checks, and prints the report. */
import { createEvmInspector, evmFactoryExpectation } from "../chains/evm/inspector.ts";
import type { Chains } from "../chains/port/index.ts";
import { createSolanaInspector } from "../chains/solana/inspector.ts";
import {
  type ChainConfig,
  type Config,
  ConfigError,
  type LanePurpose,
  listEvmChains,
  listSecretFiles,
  listSolanaChains,
  type NodeConfig,
} from "../config/index.ts";
import { assert, Bug } from "../core/assert.ts";
import { type Commitment, GOVERNED } from "../core/commitment.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress, toHex32 } from "../core/hex.ts";
import { startEmbedded } from "../db/embedded.ts";
import { listRefundAuthorities, listRouteSets } from "../addresses/index.ts";
import { inspectDatabase } from "../db/inspect.ts";
import { listMissingMigrations } from "../db/migrate.ts";
import { type OpenDatabase, openDatabase } from "../db/pool.ts";
import {
  type ChainNodes,
  type DoctorDeps,
  examine,
  formatReport,
  refuseConfiguration,
  type Report,
  type SeedAccounts,
  toReport,
  type VaultSource,
} from "../doctor/index.ts";
import { getNewestBackup } from "../backups/index.ts";
import { listUnexpected } from "../governance/index.ts";
import { listBreaches } from "../ledger/index.ts";
import { listIntegrators } from "../integrators/index.ts";
import { listOverdueClaims, moduleOf } from "../routes/index.ts";
import { getKnownNonces } from "../transactions/index.ts";
import { getTip } from "../scanner/index.ts";
import { connectSigner } from "../signers/client.ts";
import { addressOfKeystore } from "../signers/keystore.ts";
import { createSeed } from "../signers/solana/seed.ts";
import { askPrometheus } from "../telemetry/alerting.ts";
import { createLog } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { addressFormat } from "../roles/address-format.ts";
import { openBridgeAttestations } from "../roles/bridge-attestations.ts";
import { createChains, type PlacedNode, placeNodes, RENT_PER_BYTE } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import type { TrafficOf } from "../roles/node-traffic.ts";
import { createConfiguredPrices } from "../roles/prices.ts";
import { tryPush } from "../roles/push-trial.ts";
import { tryStream } from "../roles/stream-trial.ts";
import type { Call, Result } from "./command.ts";
import { createKeyOpener, readKeystore } from "../roles/key-opener.ts";
import { listAccounts } from "../roles/key-accounts.ts";
import { systemClock, systemHttp } from "../roles/system-ports.ts";

const RPC_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 2;

/** Examines the installation; fails if a check found a problem, or a warning before the first money. */
export async function run(
  call: Call,
  { goLive, prometheus }: { readonly goLive: boolean; readonly prometheus: string | undefined },
): Promise<Result> {
  const readAlerting = async () => (prometheus ? askPrometheus(systemHttp, prometheus) : null);
  const { report, text } = await examineInstallation(call, goLive ? { readAlerting } : null);
  const open = report.checks.filter(
    ({ status }) => status === "problem" || status === "warning",
  ).length;
  const verdict = open === 0 ? "Ready to go live." : `Not ready to go live: ${open} to answer.`;
  return {
    json: report,
    text: goLive ? `${text}\n${verdict}` : text,
    failed: goLive ? open > 0 : !report.ok,
  };
}

/** Examines the installation of the configuration. */
export async function examineInstallation(
  { configPath, readConfig }: Call,
  live: DoctorDeps["live"] = null,
): Promise<{
  readonly ok: boolean;
  readonly text: string;
  readonly report: Report;
}> {
  const report = await runDoctor({ configPath, readConfig: () => readConfig(), live });
  return { ok: report.ok, text: formatReport(report), report };
}

/** Examines an installation. An invalid configuration is reported as a finding. */
export async function runDoctor(args: {
  readonly configPath: () => string;
  /** Throws `ConfigError` with every problem. */
  readonly readConfig: () => Config;
  readonly live: DoctorDeps["live"];
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
  // The checks report each node, so its log is not needed.
  const log = createLog({ level: "silent", role: "doctor" });
  const trafficOf = createCommandTraffic();
  const chains = createChains(config, { clock: systemClock, log, trafficOf });
  const ports = { http: systemHttp, clock: systemClock, log, metrics: createMetrics() };
  const prices = createConfiguredPrices(config, { ...ports, chains });
  try {
    const checks = await examine({
      ...accounts,
      config,
      clock: systemClock,
      secretFiles: listSecretFiles(args.configPath()),
      factory: evmFactoryExpectation,
      moduleOf,
      display: addressFormat.display,
      nodesOf: openEvmNodes(config, trafficOf),
      solanaNodesOf: openSolanaNodes(config, trafficOf),
      tryPush,
      tryStream,
      readSeedAccounts: () => readSeedAccounts(config),
      vaultSources: listVaultSources(config, chains),
      getScanned: async (chainId) => {
        const { db } = await openMigrated(database);
        return (await getTip(db, chainId))?.number ?? null;
      },
      prices,
      attestations: openBridgeAttestations(config, ports),
      readDatabase: async () =>
        inspectDatabase(await database.open(), systemClock, config.attestors.databaseUsers),
      getKnownNonces: async (lane) => getKnownNonces((await openMigrated(database)).db, lane),
      listBreaches: async () => listBreaches((await openMigrated(database)).db),
      listOverdueClaims: async () =>
        listOverdueClaims((await openMigrated(database)).db, systemClock.now()),
      listUnexpectedChanges: async () =>
        listUnexpected({ db: (await openMigrated(database)).db, config, clock: systemClock }),
      getNewestBackup: async () => getNewestBackup((await openMigrated(database)).db),
      live: args.live,
      listRefundAuthorities: async () => listRefundAuthorities((await database.open()).db),
      listRouteSets: async () => listRouteSets((await openMigrated(database)).db),
      listIntegrators: async () => listIntegrators((await openMigrated(database)).db),
    });
    return toReport(checks);
  } finally {
    await database.close();
  }
}

/** Returns the accounts of the configured keys. Throws OperatingError that names an unreadable key. */
async function readAccounts(config: Config): Promise<Pick<DoctorDeps, "attestor" | "lanesOf">> {
  const accounts = await listAccounts(config);
  const attestor = accounts.find(({ lane }) => lane === null);
  assert(attestor, "the configuration has one attestor");
  return {
    attestor: toEvmAddress(attestor.address),
    lanesOf: (chainId) =>
      accounts.flatMap(({ lane, name, address }) =>
        lane?.chainId === chainId ? [{ name, purpose: lane.purpose, address }] : [],
      ),
  };
}

/** Throws CONFIG_MISSING if migrations are missing, since the tables cannot be read then. */
async function openMigrated(database: ReturnType<typeof createLazyDatabase>) {
  const opened = await database.open();
  if ((await listMissingMigrations(opened.db)).length === 0) return opened;
  throw new OperatingError(
    "CONFIG_MISSING",
    "The database schema is out of date. Run `sluice migrate`.",
  );
}

/** Returns the accounts that can be read without asking for a passphrase. */
async function readSeedAccounts(config: Config): Promise<Partial<SeedAccounts>> {
  const [chain] = listSolanaChains(config);
  assert(chain, "only Solana has a seed");
  const { settler } = config.signers;
  if (settler !== undefined) {
    const { lanes, vaults } = await connectSigner(settler);
    const laneOf = (purpose: LanePurpose) =>
      lanes.find((lane) => lane.chainId === chain.chainId && lane.purpose === purpose)?.address;
    const [binding, settle, deliver] = [vaults?.binding, laneOf("settle"), laneOf("deliver")];
    if (binding && settle && deliver) return { binding, settle, deliver };
    throw new OperatingError(
      "CONFIG_MISSING",
      "signers.settler: expected a signer that holds the seed; does it run with this configuration?",
    );
  }
  const { seed } = chain;
  if (seed.source.kind === "keystore" && !config.keystorePassphrase) {
    const binding = addressOfKeystore(readKeystore(seed.source.path, seed.setting));
    if (binding) return { binding };
    throw new OperatingError(
      "CONFIG_MISSING",
      `${seed.setting}: expected an address in the keystore`,
    );
  }
  const nobody = () => Promise.reject(new Bug("a passphrase is set, or none is needed"));
  const secret = await createKeyOpener(config, nobody).seed(seed);
  return createSeed(secret, seed.setting).accounts;
}

/** Lists the signers at sockets. Without any, the settler derives vaults itself from the seed that is compared. */
function listVaultSources({ signers }: Config, chains: Chains): readonly VaultSource[] {
  return (["settler", "vaults"] as const).flatMap((name): VaultSource[] => {
    const socket = signers[name];
    if (socket === undefined) return [];
    const source: VaultSource = {
      setting: `signers.${name}`,
      async vouches() {
        const { vaults } = await connectSigner(socket);
        const chain = vaults && chains.get(vaults.chainId);
        if (!chain) return "none";
        return chain.isWalletOf({ commitment: NOBODYS, ...(await vaults.deriveVault(NOBODYS)) });
      },
    };
    return [source];
  });
}

const ZERO = toHex32(`0x${"0".repeat(64)}`);

/** A test commitment that no deposit address can have: every field is zero. */
const NOBODYS: Commitment = {
  integrator: ZERO,
  userId: ZERO,
  destChain: 1,
  destWallet: ZERO,
  destToken: ZERO,
  refundAuthority: ZERO,
  maxFeeBps: 0,
  maxSlippageBps: 0,
  ...GOVERNED,
};

/** Opens the nodes of every EVM chain for checks. */
export function openEvmNodes(config: Config, trafficOf: TrafficOf): DoctorDeps["nodesOf"] {
  const { attestor } = config;
  return openNodes(
    listEvmChains(config),
    { attestor, trafficOf },
    ({ chainId, evmChainId, contracts }, node) =>
      createEvmInspector({ chainId, evmChainId, contracts, ...node, timeoutMs: RPC_TIMEOUT_MS }),
  );
}

function openSolanaNodes(config: Config, trafficOf: TrafficOf): DoctorDeps["solanaNodesOf"] {
  const { attestor } = config;
  return openNodes(
    listSolanaChains(config),
    { attestor, trafficOf },
    ({ chainId, accounts: { escrow, delivery, treasury }, genesisHash, priorityFeeMax }, node) =>
      createSolanaInspector({
        chainId,
        ...node,
        timeoutMs: RPC_TIMEOUT_MS,
        genesisHash,
        pricedBy: [escrow, delivery, treasury],
        unitPriceMax: priorityFeeMax,
        rentPerByte: RENT_PER_BYTE,
      }),
  );
}

function openNodes<OneChain extends ChainConfig, Inspector>(
  chains: readonly OneChain[],
  { attestor, trafficOf }: Pick<Config, "attestor"> & { readonly trafficOf: TrafficOf },
  openOne: (chain: OneChain, node: PlacedNode) => Inspector,
): (chainId: number) => ChainNodes<Inspector> {
  const nodes = new Map(
    chains.map((chain): [number, ChainNodes<Inspector>] => {
      const { chainId, nodes } = chain;
      const second = find(attestor.nodes, chainId);
      const open = (node: PlacedNode) => openOne(chain, node);
      const place = { chainId, trafficOf };
      const [ours, ...moreOfOurs] = placeNodes(nodes.all, { ...place, view: "service" });
      const [theirs, ...moreOfTheirs] = placeNodes(second.all, { ...place, view: "attestor" });
      const hrefOf = ({ url }: NodeConfig) => URL.parse(url)?.href;
      const known = new Set(nodes.all.map(hrefOf));
      return [
        chainId,
        {
          service: open(ours),
          attestor: open(theirs),
          furtherOfService: moreOfOurs.map(open),
          furtherOfAttestor: moreOfTheirs.map(open),
          areTheSame: second.all.some((node) => known.has(hrefOf(node))),
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

/** Opens the database on the first use, so that a failure is a finding. Never migrates. */
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
      // A failure to open was reported by its check, and leaves nothing to close.
      const opened = await opening?.catch(() => undefined);
      await opened?.end();
    },
  };
}
