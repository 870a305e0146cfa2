/**
 * A machine of the rehearsal: network, host name and the folders of a service are its own. Everything else is the host's,
 * such as the programs of Debian. It needs root, inside the namespaces that `start.ts` opens.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The bridge that connects machines and providers. */
const BRIDGE = "sluice0";
const PREFIX = 16;
/** Where a login finds programs, without those of the tests. */
export const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Folders that a machine keeps when it loses its power, and whether they begin as the host's. */
const DISKS = [
  { path: "/etc", copied: true },
  { path: "/opt", copied: false },
  { path: "/var/lib", copied: false },
  // The Node of the host may be another one.
  { path: "/usr/local/bin", copied: false },
] as const;

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Folder; `/` unless given. */
  readonly cwd?: string;
  /** Text for standard input. */
  readonly input?: string;
}

export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Path of a file of the machine's disks on the host. */
  onDisk(path: string): string;
  /** Runs a command line as root. Returns standard output. Throws with what it printed. */
  sh(command: string, options?: CommandOptions): Promise<string>;
  /** Starts a program. It has a network unless `isolated`. */
  start(
    command: readonly string[],
    options?: { readonly isolated?: boolean; readonly env?: NodeJS.ProcessEnv },
  ): ChildProcess;
  /** Lists the processes of the machine by their numbers. */
  processes(): readonly string[];
  /** Kills every process, and empties `/run`, as a loss of power does. */
  losePower(): Promise<void>;
  /** Cuts the machine off from all others. */
  disconnect(): Promise<void>;
  connect(): Promise<void>;
}

/** Connects the addresses of providers to the network of the machines. */
export async function openNetwork(addresses: readonly string[]): Promise<void> {
  const ip = (...args: readonly string[]) => run("ip", [...args]);
  await ip("link", "set", "lo", "up");
  await ip("link", "add", BRIDGE, "type", "bridge", "forward_delay", "0");
  for (const address of addresses) await ip("addr", "add", `${address}/${PREFIX}`, "dev", BRIDGE);
  await ip("link", "set", BRIDGE, "up");
}

/** Starts a machine with its disks in a folder. `node` is its Node. */
export async function startMachine(
  name: string,
  {
    address,
    folder,
    node,
  }: { readonly address: string; readonly folder: string; readonly node: string },
): Promise<Machine> {
  const disk = join(folder, name);
  const onDisk = (path: string) => join(disk, path);
  for (const { path, copied } of DISKS) {
    mkdirSync(onDisk(path), { recursive: true });
    if (copied) cpSync(path, onDisk(path), { recursive: true, verbatimSymlinks: true });
  }
  await run("cp", ["-L", node, onDisk("/usr/local/bin/node")]);
  const setup = [
    `hostname ${name}`,
    ...DISKS.map(({ path }) => `mount --bind ${onDisk(path)} ${path}`),
    "mount -t tmpfs -o mode=755 tmpfs /run",
    "echo ready",
    "exec sleep infinity",
  ].join(" && ");
  const holder = spawn("unshare", ["--net", "--mount", "--uts", "bash", "-c", setup], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  const pid = String(holder.pid);
  const inside = ["--target", pid, "--net", "--mount", "--uts", "--"];
  const link = `to-${name}`;
  await run("ip", ["link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", pid]);
  await run("ip", ["link", "set", link, "master", BRIDGE, "up"]);
  for (const args of [
    ["addr", "add", `${address}/${PREFIX}`, "dev", "eth0"],
    ["link", "set", "eth0", "up"],
    ["link", "set", "lo", "up"],
  ]) {
    await run("nsenter", [...inside, "ip", ...args]);
  }

  /** Environment of a login, and nothing of the tests'. */
  const login = (env: NodeJS.ProcessEnv = {}) => ({
    PATH,
    HOME: "/root",
    LANG: "C.UTF-8",
    ...env,
  });

  async function sh(command: string, { env, cwd = "/", input }: CommandOptions = {}) {
    const child = spawn(
      "nsenter",
      [...inside, "bash", "--norc", "-euo", "pipefail", "-c", `cd ${cwd}; ${command}`],
      {
        env: login(env),
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    let [printed, said] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    // A program may end without having read everything.
    child.stdin.on("error", () => undefined).end(input ?? "");
    const [code] = await once(child, "close");
    if (code === 0) return printed;
    throw new CommandFailure(`${name}: ${command}: exit code ${code}\n${said || printed}`, printed);
  }

  const mounts = (of: string) => {
    try {
      return readlinkSync(`/proc/${of}/ns/mnt`);
    } catch {
      // The process has ended meanwhile.
      return null;
    }
  };

  const processes = () => {
    const own = mounts(pid);
    return readdirSync("/proc").filter(
      (one) => /^\d+$/.test(one) && one !== pid && mounts(one) === own,
    );
  };

  return {
    name,
    address,
    onDisk,
    sh,
    processes,
    start: (command, { isolated = false, env } = {}) =>
      spawn("nsenter", [...inside, ...(isolated ? ["unshare", "--net", "--"] : []), ...command], {
        env: env ?? login(),
        stdio: ["ignore", "pipe", "pipe"],
      }),
    async losePower() {
      for (let left = processes(); left.length > 0; left = processes()) {
        for (const one of left) {
          try {
            process.kill(Number(one), "SIGKILL");
          } catch {
            // It has ended meanwhile.
          }
        }
        await delay(20);
      }
      await sh("find /run -mindepth 1 -delete");
    },
    async disconnect() {
      await run("ip", ["link", "set", link, "down"]);
    },
    async connect() {
      await run("ip", ["link", "set", link, "up"]);
    },
  };
}

/** A failed command, with what it printed to standard output. */
export class CommandFailure extends Error {
  readonly printed: string;

  constructor(message: string, printed: string) {
    super(message);
    this.printed = printed;
  }
}

/** Writes a file of a machine with a mode. */
export function writeOn(machine: Machine, path: string, text: string, mode = 0o600): void {
  const file = machine.onDisk(path);
  if (existsSync(file)) writeFileSync(file, text);
  else writeFileSync(file, text, { mode });
}
