/**
 * The standing of the contracts: of each power and setting the newest change, and whether this deployment expects it.
 *
 * A change is expected if it was part of the deployment, if the configuration names what it leads to, or if an operator said
 * so. What takes a power away is expected unless the configuration names its holder: a removed attestor of ours is a surprise.
 */
import type { GovernedRole } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import type { Address } from "../core/hex.ts";
import type { KeptChange } from "./store.ts";

/** Seconds from `readyAt` in which a scheduled change can be executed. The contracts call it `EXECUTE_WITHIN`. */
export const EXECUTE_WITHIN_S = 1_209_600n;

/** The accounts and settings that a deployment expects in the contracts of one chain. */
export interface Expectation {
  readonly routes: ReadonlySet<string>;
  readonly attestors: ReadonlySet<string>;
  readonly relayers: ReadonlySet<string>;
  readonly settlers: ReadonlySet<string>;
  /** Accounts that may move what the treasury has. */
  readonly movers: ReadonlySet<string>;
  /** Where the configuration has the treasury refill inventories, as `token:account`. */
  readonly directions: ReadonlySet<string>;
  readonly threshold: number;
  /** Undefined without a deployment in the configuration. */
  readonly treasury: Address | undefined;
  readonly guardian: Address | undefined;
  readonly owner: Address | undefined;
}

/** Returns the expectation of a configuration and of the lanes that ever ran. */
export function expectOf(
  { routes, attestors, deployment }: Pick<Config, "routes" | "attestors" | "deployment">,
  {
    chainId,
    lanes,
    directions,
  }: {
    readonly chainId: number;
    readonly directions: readonly { readonly token: string; readonly to: string }[];
    readonly lanes: readonly { readonly purpose: string; readonly address: string }[];
  },
): Expectation {
  const lanesOf = (...purposes: readonly string[]) =>
    new Set(lanes.flatMap(({ purpose, address }) => (purposes.includes(purpose) ? address : [])));
  return {
    routes: new Set(routes.flatMap((route) => (route.chainId === chainId ? route.contract : []))),
    attestors: new Set([...attestors.accounts, ...attestors.cold]),
    relayers: lanesOf("settle", "claim"),
    settlers: lanesOf("deliver"),
    movers: lanesOf("settle"),
    directions: new Set(directions.map(({ token, to }) => `${token}:${to}`)),
    threshold: attestors.threshold,
    treasury: deployment?.treasury,
    guardian: deployment?.guardian,
    owner: deployment?.owner,
  };
}

/** The newest change of a power or setting. */
export interface Standing extends KeptChange {
  /** `expired`: it was scheduled and can no longer be executed, only cancelled. */
  readonly state: "pending" | "expired" | "cancelled" | "in_force" | "removed";
  readonly isExpected: boolean;
}

/** Returns the standing of everything that changed, in the order of the changes. They must be complete and in order. */
export function toStanding(
  changes: readonly KeptChange[],
  {
    nowS,
    expectationOf,
  }: {
    /** Unix seconds. */
    readonly nowS: bigint;
    readonly expectationOf: (chainId: number) => Expectation;
  },
): readonly Standing[] {
  const newest = new Map<string, { change: KeptChange; before: KeptChange | undefined }>();
  for (const change of changes) {
    const key = keyOf(change);
    const before = newest.get(key)?.change;
    newest.delete(key);
    newest.set(key, { change, before });
  }
  return [...newest.values()].map(({ change, before }) => ({
    ...change,
    state: stateOf(change, nowS),
    isExpected: isExpected(change, { before, nowS, named: expectationOf(change.chainId) }),
  }));
}

/** Names the power or setting. A contract has one owner and one pause, whomever an event names. */
function keyOf({ chainId, contract, role, subject, token }: KeptChange): string {
  const whose = role === "owner" || role === "pause" ? "" : `${subject}:${token ?? ""}`;
  return `${chainId}:${contract}:${role}:${whose}`;
}

function stateOf({ step, readyAt }: KeptChange, nowS: bigint): Standing["state"] {
  if (step !== "scheduled") return step;
  return readyAt !== null && readyAt + EXECUTE_WITHIN_S < nowS ? "expired" : "pending";
}

function isExpected(
  change: KeptChange,
  {
    before,
    nowS,
    named,
  }: {
    readonly before: KeptChange | undefined;
    readonly nowS: bigint;
    readonly named: Expectation;
  },
): boolean {
  if (change.atDeployment || change.expected) return true;
  switch (stateOf(change, nowS)) {
    case "cancelled":
    case "expired":
      return true;
    case "removed":
      return !isHeldByMany(change) || isNamed(change, named) !== true;
    case "pending":
      return isNamed(change, named) === true;
    case "in_force":
      // An operator who expected the announcement expected this too.
      if (before?.step === "scheduled" && before.expected) return true;
      // A cap that nobody scheduled was lowered, and a pause widens nothing.
      if (change.role === "daily_cap") return before?.step !== "scheduled";
      return change.role === "pause" || isNamed(change, named) === true;
  }
}

function isHeldByMany({ role }: KeptChange): boolean {
  return HELD_BY_MANY.includes(role);
}

const HELD_BY_MANY: readonly GovernedRole[] = [
  "route",
  "attestor",
  "settler",
  "relayer",
  "mover",
  "direction",
];

/** Returns whether the configuration names the outcome of a change; null if it cannot. */
function isNamed({ role, subject, token, perDay }: KeptChange, named: Expectation): boolean | null {
  switch (role) {
    case "route":
      return named.routes.has(subject);
    case "attestor":
      return named.attestors.has(subject);
    case "relayer":
      return named.relayers.has(subject);
    case "settler":
      return named.settlers.has(subject);
    case "mover":
      return named.movers.has(subject);
    case "direction":
      return perDay === 0n || named.directions.has(`${token}:${subject}`);
    case "threshold":
      return BigInt(subject) === BigInt(named.threshold);
    case "treasury":
      return subject === named.treasury;
    case "guardian":
      return subject === named.guardian;
    case "owner":
      return subject === named.owner;
    case "daily_cap":
    case "pause":
    case "withdrawal":
      return null;
  }
}
