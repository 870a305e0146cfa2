/**
 * Stands in for systemd, which does not run inside of a test: starts the units of `deploy/systemd` with what their files say of
 * users, groups, folders, credentials, environment, network and restarts. What confines a unit further is left out.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Machine, PATH } from "./machine.ts";

const UNITS = "/etc/systemd/system";

interface Unit {
  readonly name: string;
  /** The last value of a setting. */
  get(setting: string): string | undefined;
  /** Every value of a setting. */
  all(setting: string): readonly string[];
}

export interface Units {
  /** Obeys a `systemctl` command. */
  systemctl(...args: readonly string[]): Promise<void>;
  /** Names of the units that run, in the order in which they were started. */
  names(): readonly string[];
  /** Forgets the units that ran: their machine loses its power. */
  forget(): void;
  /** Starts the units of `enable`, as a boot does. */
  boot(): Promise<void>;
  /** Returns what a unit printed. */
  logOf(name: string): string;
}

interface Running {
  child: ChildProcess | null;
  stopped: boolean;
}

export function createUnits(machine: Machine): Units {
  const running = new Map<string, Running>();
  const enabled = new Set<string>();
  const pathOf = (name: string) => join(machine.onDisk("/var/lib"), `${name}.log`);

  async function launch(unit: Unit): Promise<ChildProcess> {
    const credentials = `/run/credentials/${unit.name}`;
    const [user, group] = [unit.get("User") ?? "root", unit.get("Group") ?? "root"];
    await machine.sh(
      [
        `rm -rf ${credentials}`,
        `install -d -m 0500 -o ${user} ${credentials}`,
        ...unit.all("LoadCredential").map((one) => {
          const [name, path] = one.split(":");
          return `install -m 0400 -o ${user} ${path} ${credentials}/${name}`;
        }),
        ...foldersOf(unit, "RuntimeDirectory", "/run"),
        ...foldersOf(unit, "StateDirectory", "/var/lib"),
      ].join("; "),
    );
    const groups = [group, ...unit.all("SupplementaryGroups")].join(",");
    const command = (unit.get("ExecStart") ?? "").split(" ");
    const confined = ["setpriv", "--reuid", user, "--regid", group, "--groups", groups];
    const flags = ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"];
    const child = machine.start(
      [
        ...confined,
        ...flags,
        "sh",
        "-c",
        `umask ${unit.get("UMask") ?? "0022"}; exec "$@"`,
        "sh",
        ...command,
      ],
      {
        isolated: unit.get("PrivateNetwork") === "yes",
        env: {
          PATH,
          CREDENTIALS_DIRECTORY: credentials,
          ...environmentOf(machine, unit),
        },
      },
    );
    for (const output of [child.stdout, child.stderr]) {
      output?.on("data", (chunk: Buffer) => appendFileSync(pathOf(unit.name), chunk));
    }
    return child;
  }

  async function start(name: string): Promise<void> {
    if (running.has(name)) return;
    const unit = readUnit(machine, name);
    if (unit.get("Type") === "oneshot") {
      const [code] = await once(await launch(unit), "exit");
      if (code !== 0)
        throw new Error(
          `${machine.name}: ${name} ended with ${code}: ${logOf(name).slice(-3_000)}`,
        );
      return;
    }
    const one: Running = { child: await launch(unit), stopped: false };
    running.set(name, one);
    void supervise(unit, one);
  }

  async function supervise(unit: Unit, one: Running): Promise<void> {
    while (one.child) {
      if (one.child.exitCode === null && one.child.signalCode === null)
        await once(one.child, "exit");
      one.child = null;
      if (unit.get("Restart") !== "always") return;
      await delay(1_000 * Number(unit.get("RestartSec") ?? "0"));
      if (one.stopped) return;
      one.child = await launch(unit).catch(() => null);
    }
  }

  async function stop(name: string): Promise<void> {
    const one = running.get(name);
    if (!one) return;
    running.delete(name);
    one.stopped = true;
    const { child } = one;
    if (!child) return;
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  const logOf = (name: string) =>
    existsSync(pathOf(name)) ? readFileSync(pathOf(name), "utf8") : "no output";

  async function systemctl(...args: readonly string[]): Promise<void> {
    const [verb = "", ...rest] = args;
    const names = rest.filter((one) => one !== "--now").map(nameOf);
    if (verb === "daemon-reload") return;
    if (verb === "enable") for (const name of names) enabled.add(name);
    for (const name of names) {
      if (verb === "stop" || verb === "restart") await stop(name);
      if (verb === "start" || verb === "restart" || verb === "enable") await start(name);
    }
    if (verb === "reload") {
      for (const [name, { child }] of running) {
        if (readUnit(machine, name).get("ExecReload")) child?.kill("SIGHUP");
      }
    }
  }

  return {
    systemctl,
    logOf,
    names: () => [...running.keys()],
    forget() {
      for (const one of running.values()) one.stopped = true;
      running.clear();
    },
    async boot() {
      for (const name of enabled) await start(name);
    },
  };
}

const nameOf = (name: string) => (/\.\w+$/.test(name) ? name : `${name}.service`);

/** Reads a unit with its drop-ins. `%i` is the instance of a template. */
function readUnit(machine: Machine, name: string): Unit {
  const [, template = name, instance = ""] = /^(.+@)(.+)\.service$/.exec(name) ?? [];
  const folder = machine.onDisk(UNITS);
  const file = instance ? `${template}.service` : name;
  const dropIns = join(folder, `${name}.d`);
  const paths = [
    join(folder, file),
    ...(existsSync(dropIns) ? readdirSync(dropIns).map((one) => join(dropIns, one)) : []),
  ];
  const settings = paths.flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
        return key === undefined || value === undefined
          ? []
          : [{ key, value: value.replaceAll("%i", instance) }];
      }),
  );
  const all = (setting: string) =>
    settings.flatMap(({ key, value }) => (key === setting ? [value] : []));
  return { name, all, get: (setting) => all(setting).at(-1) };
}

function foldersOf(unit: Unit, setting: string, parent: string): readonly string[] {
  const mode = unit.get(`${setting}Mode`) ?? "0755";
  const owner = `-o ${unit.get("User") ?? "root"} -g ${unit.get("Group") ?? "root"}`;
  return unit.all(setting).map((name) => `install -d -m ${mode} ${owner} ${parent}/${name}`);
}

function environmentOf(machine: Machine, unit: Unit): NodeJS.ProcessEnv {
  const files = unit.all("EnvironmentFile").flatMap((one) => {
    const path = machine.onDisk(one.replace(/^-/, ""));
    return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  });
  const pairs = [...unit.all("Environment"), ...files].filter((line) => line.includes("="));
  return Object.fromEntries(
    pairs.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

/** Creates the folder of a machine's units. */
export function prepareUnits(machine: Machine): void {
  mkdirSync(machine.onDisk(UNITS), { recursive: true });
}
