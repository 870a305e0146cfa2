/**
 * Counts the requests of each role in a sandbox, through a provider per role and chain: at rest, and for a deposit of USDC
 * from its arrival to the claim of its lock. Two runs with different finality show the requests while a settlement waits.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChainName } from "@sluice/sandbox";
import { type Provider, startProvider } from "@sluice/sandbox/provider";
import { createProcesses } from "../packages/service/test/support/processes.ts";
import { openWorld } from "../packages/service/test/support/world.ts";
import { type ByMethod, subtract } from "./budget-blocks.ts";

const ROLES = ["quoter", "scanner", "settler", "attestor", "auditor"] as const;
const CHAINS = ["ethereum", "base"] as const satisfies readonly ChainName[];
const AMOUNT = 5_000_000n;
/** Until the claim of a deposit is final, in seconds: its lane follows it so long. */
const FOLLOWED_S = 60;

type Role = (typeof ROLES)[number];
type Counts = ReadonlyMap<string, { readonly byMethod: ByMethod; readonly bytes: number }>;

/** The requests of one role to one chain. The deposit goes from `source` to `destination`. */
export interface RoleCount {
  readonly role: Role;
  readonly chain: "source" | "destination";
  /** Requests in `idleSeconds` without a deposit. */
  readonly idle: ByMethod;
  /** Requests of all deposits, less those of the same time without one. */
  readonly deposits: ByMethod;
  readonly bytes: number;
}

export interface CountedDeposits {
  readonly idleSeconds: number;
  readonly deposits: number;
  /** Seconds from the payments to the last claim. */
  readonly seconds: number;
  readonly roles: readonly RoleCount[];
}

/** Runs a sandbox with one process per role. Blocks are final two epochs behind the head. */
export async function countDeposits({
  slotsInAnEpoch,
  deposits,
  idleSeconds,
}: {
  readonly slotsInAnEpoch: number;
  readonly deposits: number;
  readonly idleSeconds: number;
}): Promise<CountedDeposits> {
  const world = await openWorld({ slotsInAnEpoch, pollIntervalMs: 1_000 });
  const providers = new Map<string, Provider>();
  const processes: ReturnType<typeof createProcesses>[] = [];
  try {
    for (const role of ROLES) {
      for (const chain of CHAINS) {
        const { rpcUrl: upstream } = world.chains[chain];
        const provider = await startProvider({ upstream, profile: "geth-like" });
        providers.set(`${role} ${chain}`, provider);
      }
    }
    const configOf = (role: Role) => writeConfig(world.configPath, role, providers);
    const quoter = configOf("quoter");
    writeFileSync(world.configPath, readFileSync(quoter, "utf8"));
    await world.replaceService({ roles: "api,quoter" });
    for (const role of ROLES.slice(1)) {
      const one = createProcesses(configOf(role));
      processes.push(one);
      await one.serve(role);
    }
    const settle = async () => {
      const recipient = world.newRecipient();
      const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
      await world.pay("ethereum", address, AMOUNT);
      await world.settled(address);
      await world.until("no lock is open", async () => (await world.openLocks()) === 0);
    };
    // Shows the lanes how long finality takes, as in a service that runs.
    await settle();
    await pause(FOLLOWED_S);
    const begun = read(providers);
    await pause(idleSeconds);
    const rested = read(providers);
    const startMs = performance.now();
    for (let count = 0; count < deposits; count++) await settle();
    const seconds = (performance.now() - startMs) / 1_000;
    await pause(FOLLOWED_S);
    const ended = read(providers);
    const share = (seconds + FOLLOWED_S) / idleSeconds;
    return {
      idleSeconds,
      deposits,
      seconds,
      roles: ROLES.flatMap((role) =>
        CHAINS.map((chain) => compare({ begun, rested, ended }, { role, chain, share })),
      ),
    };
  } finally {
    for (const one of processes) await one.stopAll();
    await world.close();
    for (const provider of providers.values()) await provider.close();
  }
}

/** Writes a configuration whose nodes are the role's providers. */
function writeConfig(path: string, role: Role, providers: ReadonlyMap<string, Provider>): string {
  const config = JSON.parse(readFileSync(path, "utf8"));
  for (const [index, name] of CHAINS.entries()) {
    const chain = config.chains[index];
    const url = providers.get(`${role} ${name}`)?.url;
    delete chain.rpcUrl;
    // The sandbox compares balances more often than the default.
    delete chain.balanceCheckIntervalMs;
    chain.rpcUrls = [url];
    config.attestor.rpcUrls[String(chain.chainId)] = url;
  }
  const target = join(path, "..", `service-${role}.json`);
  writeFileSync(target, JSON.stringify(config));
  return target;
}

function read(providers: ReadonlyMap<string, Provider>): Counts {
  return new Map(
    [...providers].map(([name, provider]) => {
      const { byMethod, bytesOut } = provider.stats();
      return [name, { byMethod, bytes: bytesOut }];
    }),
  );
}

function compare(
  counts: { readonly begun: Counts; readonly rested: Counts; readonly ended: Counts },
  { role, chain, share }: { role: Role; chain: ChainName; share: number },
): RoleCount {
  const nothing = { byMethod: {}, bytes: 0 };
  const at = (which: keyof typeof counts) => counts[which].get(`${role} ${chain}`) ?? nothing;
  const idle = subtract(at("rested").byMethod, at("begun").byMethod);
  const idleBytes = at("rested").bytes - at("begun").bytes;
  const expected = Object.fromEntries(
    Object.entries(idle).map(([method, count]) => [method, Math.round(count * share)]),
  );
  const all = subtract(at("ended").byMethod, at("rested").byMethod);
  return {
    role,
    chain: chain === "ethereum" ? "source" : "destination",
    idle,
    deposits: subtract(all, expected),
    bytes: Math.max(0, Math.round(at("ended").bytes - at("rested").bytes - idleBytes * share)),
  };
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
