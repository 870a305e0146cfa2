/** What an installation must survive: upgrades under load, and the loss of each part. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { getAddress } from "viem";
import type { Customers } from "./customers.ts";
import { commandsAfter } from "./documents.ts";
import { deploy, type Host, type Installation, listRelayer, showLanes } from "./installation.ts";
import { until } from "./internet.ts";
import type { Postgres } from "./postgres.ts";

/** Milliseconds for which a machine is off or cut off. */
const OUTAGE_MS = 5_000;
/** Milliseconds between two deposits under load. */
const EVERY_MS = 1_500;
const BACKUP = "/var/lib/backup";
const REASON = '--reason "the rehearsal"';

interface Scene {
  readonly installation: Installation;
  readonly postgres: Postgres;
  readonly customers: Customers;
  readonly apiKey: string;
}

/** An act with its name. */
type Act = readonly [name: string, work: () => Promise<void>];

interface Audit {
  readonly ok: boolean;
  readonly breaches: readonly { readonly id: string }[];
}

interface Diagnosis {
  readonly checks: readonly { readonly id: string; readonly status: string }[];
}

interface Successor {
  readonly keystore: string;
  readonly address: string;
}

/** What the doctor misses where only our contracts are: Circle's and Uniswap's contracts, and prices of HTTP APIs. */
const NOT_HERE: readonly string[] = ["cctp.code", "uniswap.code", "price.independent"];

/** Requires that the doctor of the service's machine finds no other problem. */
async function expectHealthy({ service, read }: Installation): Promise<void> {
  const { checks } = await read<Diagnosis>(service, "doctor");
  const problems = checks.filter(
    ({ id, status }) => status === "problem" && !NOT_HERE.includes(id),
  );
  if (problems.length > 0) throw new Error(`the doctor: ${JSON.stringify(problems, null, 1)}`);
}

/** Waits until the audit proves the books. */
export async function expectProved({ service, read }: Installation): Promise<void> {
  const isProved = async () => (await read<Audit>(service, "audit")).ok;
  await until("the books are proved", isProved, { everyMs: 2_000 });
}

/** Requires that no secret of the machines is in the arguments or the environment of a process, or in a log. */
async function expectNoSecrets({ installation, apiKey }: Scene): Promise<void> {
  for (const { machine, units } of [installation.service, installation.attestor]) {
    const folder = machine.onDisk("/etc/sluice/secrets");
    const secrets = readdirSync(folder).map((name) =>
      readFileSync(join(folder, name), "utf8").trim(),
    );
    const passwords = secrets.flatMap((one) => /:([^:@]+)@/.exec(one)?.[1] ?? []);
    const texts = [
      ...machine.processes().flatMap((one) =>
        ["cmdline", "environ"].map((name): readonly [string, string] => {
          const path = `/proc/${one}/${name}`;
          return [path, readFileSync(path, "utf8")];
        }),
      ),
      ...units.names().map((name): readonly [string, string] => [name, units.logOf(name)]),
    ];
    if (machine.processes().length < units.names().length) {
      throw new Error(`${machine.name}: expected a process for each unit`);
    }
    for (const [where, text] of texts) {
      const found = [...secrets, ...passwords, apiKey].find((secret) => text.includes(secret));
      if (found !== undefined) throw new Error(`${machine.name}: a secret is in ${where}`);
    }
  }
}

/** The release before is replaced by this one, taken back, and replaced again, process by process, while customers pay. */
export function upgrades({ installation, postgres, customers }: Scene): readonly Act[] {
  const { service, attestor } = installation;

  async function underLoad(work: () => Promise<void>): Promise<void> {
    const ending = new AbortController();
    const paying = (async () => {
      for (let index = 0; !ending.signal.aborted; index += 1) {
        await customers.deposit(index % 2 === 0 ? "ethereum" : "base");
        await delay(EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    })();
    await work().finally(() => ending.abort());
    await paying;
    await customers.expectPaid();
  }

  async function expectSchemaOf(release: "now" | "before"): Promise<void> {
    const [found, expected] = [
      await postgres.countMigrations(),
      installation.countMigrations(release),
    ];
    if (found !== expected) throw new Error(`${found} migrations, expected ${expected}`);
  }

  async function replaceProcesses(release: "now" | "before"): Promise<void> {
    for (const host of [service, attestor]) await installation.install(host, release);
    if (release === "now") await service.units.systemctl("start", "sluice-migrate.service");
    for (const host of [service, attestor]) {
      for (const unit of host.units.names()) await host.units.systemctl("restart", unit);
    }
  }

  return [
    [
      "upgrade under load",
      async () => {
        await expectSchemaOf("before");
        await underLoad(() => replaceProcesses("now"));
        await expectSchemaOf("now");
      },
    ],
    ["back to the release before, under load", () => underLoad(() => replaceProcesses("before"))],
    [
      "upgrade again, under load",
      async () => {
        await underLoad(() => replaceProcesses("now"));
        await expectHealthy(installation);
      },
    ],
  ];
}

/** Each machine loses its power and its network, and each part that can be lost is. Deposits are paid before and during each. */
export function losses(scene: Scene): readonly Act[] {
  const { installation, customers } = scene;
  const { service, chains, sluice } = installation;
  const seconds = `${OUTAGE_MS / 1_000} s`;
  const power = installation.all.map((host): Act => [
    `power of ${host.machine.name} lost for ${seconds}, until all are paid`,
    async () => {
      await customers.deposit("ethereum");
      host.units.forget();
      await host.machine.losePower();
      await delay(OUTAGE_MS);
      if (host === installation.database) await scene.postgres.start();
      else await host.units.boot();
      await customers.deposit("base");
      await customers.expectPaid();
    },
  ]);
  const network = installation.all.map((host): Act => [
    `network of ${host.machine.name} lost for ${seconds}, until all are paid`,
    async () => {
      await customers.deposit("base");
      await host.machine.disconnect();
      await delay(OUTAGE_MS);
      await host.machine.connect();
      await customers.deposit("ethereum");
      await customers.expectPaid();
    },
  ]);
  return [
    ...power,
    ...network,
    [
      "one provider of each chain lost, until all are paid",
      async () => {
        for (const { providers } of Object.values(chains)) providers[0]?.set({ drop: 1 });
        await customers.deposit("ethereum");
        await customers.deposit("base");
        await customers.expectPaid();
        for (const { providers } of Object.values(chains)) providers[0]?.set({ drop: 0 });
      },
    ],
    ["a lane's key replaced", () => replaceKey(scene)],
    ["the database and its disk lost, restored from a backup", () => restore(scene)],
    ["the doctor", () => expectHealthy(installation)],
    ["no secret in processes and logs", () => expectNoSecrets(scene)],
    ["a chain added", () => addChain(scene)],
    [
      "a chain taken out of service",
      async () => {
        await sluice(service, `chain drain --chain base ${REASON}`);
        if (await customers.areOffered("base")) throw new Error("a drained chain is quoted");
        await until(
          "nothing is open on base",
          () =>
            sluice(service, `chain retire --chain base ${REASON}`).then(
              () => true,
              () => false,
            ),
          { everyMs: 1_000 },
        );
        await service.units.systemctl("reload", "sluice@*");
        await customers.deposit("ethereum", "ethereum");
        await customers.expectPaid();
      },
    ],
  ];
}

/** Replaces the key of a lane by the steps that `keys rotate` prints. */
async function replaceKey({ installation, customers }: Scene): Promise<void> {
  const { service, read, chains } = installation;
  const made = await read<Successor>(service, "keys rotate chains[0].lanes.settle");
  const address = getAddress(made.address);
  await service.machine.sh("chown -R sluice-signer: /etc/sluice/keys");
  const { client } = chains.ethereum;
  await listRelayer(installation, chains.ethereum, address);
  await client.setBalance({ address, value: 10n ** 19n });
  const config = installation.readConfig();
  const [first, ...others] = config.chains;
  if (!first) throw new Error("there are chains");
  const { lanes } = first;
  const settle = [{ keystore: made.keystore }, { ...lanes.settle, retired: true }];
  installation.writeConfig({
    ...config,
    chains: [{ ...first, lanes: { ...lanes, settle } }, ...others],
  });
  for (const unit of ["sluice-signer@settler", "sluice@settler"]) {
    await service.units.systemctl("restart", unit);
  }
  await customers.deposit("ethereum");
  await customers.expectPaid();
  if ((await client.getTransactionCount({ address })) === 0) throw new Error("the new key signs");
}

/** Adds a chain to what runs, by the steps of operations.md. A deposit from it is delivered at once: its routes are sealed. */
async function addChain({ installation, customers }: Scene): Promise<void> {
  const { service, attestor, chains, obey } = installation;
  const { nodes, attestorNodes, client } = chains.optimism;
  const config = installation.readConfig();
  const keystoreOf = (purpose: string) => ({
    keystore: `/etc/sluice/keys/optimism-${purpose}.json`,
  });
  installation.writeConfig({
    ...config,
    attestor: {
      ...config.attestor,
      rpcUrls: { ...config.attestor.rpcUrls, optimism: attestorNodes },
    },
    chains: [
      ...config.chains,
      {
        preset: "optimism",
        rpcUrls: nodes,
        startBlock: Number(await client.getBlockNumber()),
        tokens: ["USDC"],
        pollIntervalMs: 500,
        lanes: {
          deploy: keystoreOf("deploy"),
          settle: keystoreOf("settle"),
          deliver: keystoreOf("deliver"),
          claim: keystoreOf("claim"),
        },
      },
    ],
  });
  await obey(service, commandsAfter("keys.md", "On the settler's machine"));
  await service.units.systemctl("restart", "sluice-signer@settler");
  await attestor.units.systemctl("restart", "sluice-signer@attestor");
  await deploy(installation, { keys: await showLanes(installation), names: ["optimism"] });
  for (const { units } of [service, attestor]) await units.systemctl("reload", "sluice@*");
  await customers.deposit("optimism", "ethereum");
  await customers.expectPaid();
}

/** Restores the database from a backup that lacks the newest work, by the steps of operations.md. */
async function restore({ installation, postgres, customers, apiKey }: Scene): Promise<void> {
  const { service, attestor, database, sluice, read } = installation;
  await sluice(service, `backup create ${BACKUP}`);
  await customers.deposit("ethereum");
  await customers.expectPaid();
  const stopped: (readonly [Host, string])[] = [];
  for (const host of [service, attestor]) {
    for (const name of host.units.names().filter((one) => !one.includes("signer"))) {
      stopped.push([host, name]);
      await host.units.systemctl("stop", name);
    }
  }
  await database.machine.losePower();
  await postgres.create();
  await sluice(service, `backup restore ${BACKUP}`);
  await service.units.systemctl("start", "sluice-migrate.service");
  for (const [{ units }, name] of stopped) await units.systemctl("start", name);
  await installation.awaitApi(apiKey);
  await customers.deposit("base");
  await until(
    "every breach is ended",
    async () => {
      const { breaches } = await read<Audit>(service, "audit");
      for (const { id } of breaches) await sluice(service, `audit end ${id} ${REASON}`);
      return breaches.length === 0;
    },
    { everyMs: 2_000 },
  );
  await customers.expectPaid();
  await expectProved(installation);
}
