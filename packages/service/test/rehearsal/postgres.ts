/** PostgreSQL of Debian on a machine, as an operator runs it: for the machines of the network, with passwords. */
import { existsSync, readdirSync } from "node:fs";
import type { Machine } from "./machine.ts";
import { until } from "./internet.ts";

const VERSIONS = "/usr/lib/postgresql";
const DATA = "/var/lib/postgresql/data";
const AS_POSTGRES = "setpriv --reuid postgres --regid postgres --init-groups --";

export const USERS = { service: "sluice", attestor: "sluice_attestor" } as const;

export interface Postgres {
  /** Starts the server on what its disk has. */
  start(): Promise<void>;
  /** Creates an empty database with the users of the service, on an empty disk. */
  create(): Promise<void>;
  /** Number of migrations that are applied. */
  countMigrations(): Promise<number>;
  urlOf(user: keyof typeof USERS): string;
}

export function preparePostgres(machine: Machine): Postgres {
  const [version] = existsSync(VERSIONS) ? readdirSync(VERSIONS).toSorted().toReversed() : [];
  if (!version) throw new Error(`expected PostgreSQL of Debian in ${VERSIONS}`);
  const bin = `${VERSIONS}/${version}/bin`;
  const asUser = (command: string) => machine.sh(`cd /; ${AS_POSTGRES} ${command}`);
  const psql = (statement: string, name = "postgres") =>
    asUser(`psql -h /run/postgresql -qAtc "${statement}" ${name}`);

  async function start(): Promise<void> {
    await machine.sh("install -d -o postgres -g postgres /run/postgresql");
    const settings = {
      listen_addresses: machine.address,
      unix_socket_directories: "/run/postgresql",
      // As operations.md asks for.
      tcp_keepalives_idle: "60",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = machine.start([
      ...AS_POSTGRES.split(" "),
      `${bin}/postgres`,
      "-D",
      DATA,
      ...flags,
    ]);
    for (const output of [child.stdout, child.stderr]) output?.resume();
    await until("PostgreSQL answers", async () =>
      psql("select 1").then(
        () => true,
        () => false,
      ),
    );
  }

  return {
    start,
    async create() {
      await machine.sh(
        `rm -rf ${DATA} && install -d -o postgres -g postgres -m 0700 /var/lib/postgresql ${DATA}`,
      );
      await asUser(`${bin}/initdb -D ${DATA} -E UTF8 --locale=C --no-sync -A peer`);
      await machine.sh(`echo 'host all all 10.77.0.0/16 scram-sha-256' >> ${DATA}/pg_hba.conf`);
      await start();
      for (const user of Object.values(USERS))
        await psql(`create user ${user} password 'secret-${user}'`);
      await psql(`create database sluice owner ${USERS.service}`);
    },
    countMigrations: async () =>
      Number(await psql("select count(*) from schema_migrations", "sluice")),
    urlOf: (user) =>
      `postgres://${USERS[user]}:secret-${USERS[user]}@${machine.address}:5432/sluice`,
  };
}
