/** The installation of the rehearsal: three machines that go live by the documents' own commands. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { depositFactoryAbi } from "@sluice/contracts/abi";
import { createSluiceClient, type SluiceClient } from "@sluice/sdk";
import { type Address, encodeFunctionData, erc20Abi, getAddress, type Hex } from "viem";
import { commandsAfter } from "./documents.ts";
import { type Chain, type ChainName, type Chains, PEOPLE, send, until } from "./internet.ts";
import { CommandFailure, type Machine, PATH, startMachine, writeOn } from "./machine.ts";
import { RELEASES } from "./releases.ts";
import { createUnits, prepareUnits, type Units } from "./units.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../../..");
const CONFIG = "/etc/sluice/sluice.json";
const SECRETS = "/etc/sluice/secrets";
const NODE = process.execPath;

/** What an operator's shell has, so that the commands of the documents find configuration and secrets. */
export const OPERATOR = {
  SLUICE_CONFIG: CONFIG,
  CREDENTIALS_DIRECTORY: SECRETS,
  PATH: `/opt/sluice/bin:${PATH}`,
};

/** Daily caps and inventory of USDC on each chain, in whole units. */
const INVENTORY = 500_000n;

export interface Host {
  readonly machine: Machine;
  readonly units: Units;
}

/** A configuration as far as the rehearsal changes it. */
export interface Config {
  readonly [setting: string]: unknown;
  readonly attestor: { readonly [setting: string]: unknown; readonly rpcUrls: object };
  readonly attestors?: object;
  readonly chains: readonly { readonly [setting: string]: unknown; readonly lanes: Lanes }[];
}

interface Lanes {
  readonly [purpose: string]: object;
  readonly settle: object;
}

export type Installation = Awaited<ReturnType<typeof startMachines>>;

/** Starts the machines, with this release installed on those of the service. */
export async function startMachines(folder: string, chains: Chains) {
  const open = async (name: string, address: string): Promise<Host> => {
    const machine = await startMachine(name, { address, folder, node: NODE });
    prepareUnits(machine);
    return { machine, units: createUnits(machine) };
  };
  const database = await open("database", "10.77.0.1");
  const service = await open("service", "10.77.0.2");
  const attestor = await open("attestor", "10.77.0.3");

  /** Puts a release where the documents have it installed. */
  async function install({ machine }: Host, release: keyof typeof RELEASES): Promise<void> {
    const to = machine.onDisk("/opt/sluice");
    await run("rm", ["-rf", to]);
    await run("cp", ["-al", join(folder, RELEASES[release]), to]);
  }

  const countMigrations = (release: keyof typeof RELEASES) =>
    readdirSync(join(folder, RELEASES[release], "node_modules/@sluice/service/migrations")).length;

  /** Runs commands of a document; `systemctl` is obeyed by the stand-in. */
  async function obey({ machine, units }: Host, lines: readonly string[]): Promise<void> {
    for (const command of lines.flatMap((line) => line.split(" && "))) {
      const [program, ...args] = command.split(" ").map((word) => word.replaceAll("'", ""));
      if (program === "systemctl") await units.systemctl(...args);
      else await machine.sh(command, { cwd: ROOT, env: OPERATOR });
    }
  }

  /** Runs `sluice` on a machine as an operator does. */
  const sluice = ({ machine }: Host, command: string, input?: string) =>
    machine.sh(`sluice ${command}`, { env: OPERATOR, ...(input !== undefined && { input }) });

  /** Runs a command with `--json`, also one that fails because of what it found. */
  async function read<Answer>(host: Host, command: string): Promise<Answer> {
    try {
      return JSON.parse(await sluice(host, `${command} --json`));
    } catch (error) {
      if (error instanceof CommandFailure && error.printed.startsWith("{"))
        return JSON.parse(error.printed);
      throw error;
    }
  }

  const readConfig = (): Config => JSON.parse(readFileSync(service.machine.onDisk(CONFIG), "utf8"));

  /** Writes the configuration, which every machine of the service has. */
  function writeConfig(config: Config): void {
    for (const { machine } of [service, attestor]) {
      writeOn(machine, CONFIG, `${JSON.stringify(config, null, 2)}\n`, 0o644);
    }
  }

  function client(apiKey: string): SluiceClient {
    const { address } = service.machine;
    return createSluiceClient({
      baseUrl: `http://${address}:8080`,
      quoteUrl: `http://${address}:8081`,
      apiKey,
    });
  }

  /** Waits until API and quotes answer. */
  async function awaitApi(apiKey: string): Promise<void> {
    const asked = client(apiKey);
    await until("the API answers", async () =>
      asked.listSwaps({ limit: 1 }).then(
        () => true,
        () => false,
      ),
    );
  }

  return {
    chains,
    database,
    service,
    attestor,
    all: [database, service, attestor],
    install,
    countMigrations,
    obey,
    sluice,
    read,
    readConfig,
    writeConfig,
    client,
    awaitApi,
  };
}

/** Creates users, folders and units on the machines of the service, as `deploy.md` says. */
export async function createUsers(installation: Installation): Promise<void> {
  for (const host of [installation.service, installation.attestor]) {
    await installation.obey(
      host,
      commandsAfter("deploy.md", "Two users, so that no role can read a key"),
    );
  }
}

/** Answers the questions of `sluice init`, and adds what the deployment needs further. */
export async function configure(
  installation: Installation,
  databaseUrls: { readonly service: string; readonly attestor: string },
): Promise<void> {
  const { service, attestor, chains, sluice } = installation;
  const answers = [
    "ethereum,base",
    ...[chains.ethereum, chains.base].flatMap(({ nodes, attestorNodes }) => [
      nodes.join(","),
      attestorNodes.join(","),
      "",
    ]),
    "USDC",
    PEOPLE.owner.address,
    PEOPLE.guardian.address,
    PEOPLE.treasury.address,
    PEOPLE.coldAttestor.address,
    "security@acme.example",
    "10",
    databaseUrls.service,
  ];
  await sluice(service, "init /etc/sluice", `${answers.join("\n")}\n`);
  // The attestor's machine has a database user and a passphrase of its own.
  for (const [name, text] of [
    ["database-url", databaseUrls.attestor],
    ["keystore-passphrase", "the attestor's own passphrase"],
  ] as const) {
    writeOn(attestor.machine, `${SECRETS}/${name}`, `${text}\n`);
  }
  const { signers, api, quote } = JSON.parse(
    readFileSync(join(ROOT, "deploy/sluice.json"), "utf8"),
  );
  const config = installation.readConfig();
  installation.writeConfig({
    ...config,
    signers,
    api,
    quote,
    // There is no internet.
    httpPrices: false,
    attestor: { ...config.attestor, databaseUser: "sluice_attestor" },
    routes: [{ kind: "MONO_CHAIN" }, { kind: "SWIFT", tokens: ["USDC"] }],
    // The chains of the rehearsal have a block each second.
    chains: config.chains.map((chain) => ({ ...chain, pollIntervalMs: 500 })),
  });
  const ports = {
    scanner: 9101,
    settler: 9102,
    auditor: 9103,
    api: 9104,
    quoter: 9105,
    webhooks: 9106,
  };
  for (const [role, port] of Object.entries(ports)) {
    writeOn(service.machine, `/etc/sluice/${role}.env`, `SLUICE_TELEMETRY_PORT=${port}\n`, 0o644);
  }
}

interface Keys {
  readonly keys: readonly ShownKey[];
}

interface ShownKey {
  readonly setting: string;
  readonly address: string;
}

/** Creates the keys where they are used. The attestor's never leaves its machine; the configuration has its address. */
export async function createKeys(installation: Installation): Promise<readonly ShownKey[]> {
  const { service, attestor, obey, read } = installation;
  await obey(service, commandsAfter("keys.md", "On the settler's machine"));
  await obey(attestor, commandsAfter("keys.md", "On the attestor's machine"));
  const { keys: attestors } = await read<Keys>(attestor, "keys show --for attestor");
  const config = installation.readConfig();
  installation.writeConfig({
    ...config,
    attestors: {
      ...config.attestors,
      accounts: attestors.map(({ address }) => address),
    },
  });
  return showLanes(installation);
}

/** Lists the keys of the lanes. */
export async function showLanes({ service, read }: Installation): Promise<readonly ShownKey[]> {
  return (await read<Keys>(service, "keys show --for settler")).keys;
}

interface Contracts {
  readonly contracts: readonly Contract[];
}

interface Contract {
  readonly chainId: number;
  readonly name: string;
  readonly address: string;
  readonly transaction: { readonly to: string; readonly data: Hex };
}

/** Deploys chains by the printed transactions, funds the lanes, sends the owner's batches, and fills the inventory. */
export async function deploy(
  installation: Installation,
  { keys, names }: { readonly keys: readonly ShownKey[]; readonly names: readonly ChainName[] },
): Promise<void> {
  const { service, read } = installation;
  const { contracts } = await read<Contracts>(service, "contracts");
  for (const name of names) {
    const chain = installation.chains[name];
    for (const { chainId, transaction } of contracts) {
      if (chainId !== chain.chainId) continue;
      const { to, data } = transaction;
      await send(chain.client, PEOPLE.stranger, { to: getAddress(to), data });
    }
    for (const { address } of keys) {
      await chain.client.setBalance({ address: getAddress(address), value: 10n ** 19n });
    }
  }
  await sendBatches(installation, names);
  for (const chain of names.map((name) => installation.chains[name])) {
    const delivery = contracts.find(
      ({ chainId, name }) => chainId === chain.chainId && name === "delivery",
    );
    if (delivery) await payUsdc(chain, getAddress(delivery.address), INVENTORY * 10n ** 6n);
    await chain.setFeeds();
  }
}

interface Left {
  readonly chains: readonly { readonly chain: string; readonly steps: readonly object[] }[];
}

interface SafeBatch {
  readonly transactions: readonly { readonly to: string; readonly data: Hex }[];
}

/** Has the owner send the remaining transactions of chains, until none is left. */
async function sendBatches(
  { chains, service, read }: Installation,
  names: readonly ChainName[],
): Promise<void> {
  const caps = `--daily-cap ${names.map((name) => `${name}:USDC=${INVENTORY}`).join(",")}`;
  const batches = await read<Readonly<Partial<Record<ChainName, SafeBatch>>>>(
    service,
    `contracts --batch safe ${caps}`,
  );
  for (const name of names) {
    for (const { to, data } of batches[name]?.transactions ?? []) {
      await send(chains[name].client, PEOPLE.owner, { to: getAddress(to), data });
    }
  }
  const left = (await read<Left>(service, `contracts --left ${caps}`)).chains
    .filter(({ chain }) => names.some((name) => name === chain))
    .flatMap(({ steps }) => steps);
  if (left.length > 0) throw new Error(`the contracts still lack ${JSON.stringify(left)}`);
}

/** Has the owner list a relayer. */
export async function listRelayer(
  installation: Installation,
  chain: Chain,
  relayer: Address,
): Promise<void> {
  const { contracts }: { readonly contracts: readonly Contract[] } = await installation.read(
    installation.service,
    "contracts",
  );
  const factory = contracts.find(
    ({ chainId, name }) => chainId === chain.chainId && name === "factory",
  );
  if (!factory) throw new Error("there is a factory");
  const data = encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "setRelayer",
    args: [relayer, true],
  });
  await send(chain.client, PEOPLE.owner, { to: getAddress(factory.address), data });
}

/** Pays USDC, and waits until it is mined. */
export async function payUsdc({ client, usdc }: Chain, to: Address, amount: bigint): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  await send(client, PEOPLE.payer, { to: usdc, data });
}

/** Starts migration, signers and roles, as `deploy.md` says. */
export async function startRoles(installation: Installation): Promise<void> {
  const { service, attestor, obey } = installation;
  await obey(service, commandsAfter("deploy.md", "machines that have them. Then"));
  await obey(attestor, commandsAfter("deploy.md", "on the attestor's own machine"));
}
