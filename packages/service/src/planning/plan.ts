/**
 * What a number of deposits a day needs: requests to nodes and the providers' plans, gas, inventory and processors. An estimate
 * from measured figures, before an installation exists. Every deposit goes by inventory from one chain to another, evenly.
 */
import { DEPLOY_GAS } from "../fees/index.ts";
import { SWIFT_GAS } from "../routes/index.ts";
import { CHAIN_FIGURES, PROVIDER_PLANS } from "./figures.ts";

/** Requests or units: of a day without deposits, and of one deposit on its source and on its destination. */
interface Load {
  readonly idle: number;
  readonly source: number;
  readonly destination: number;
}

/** Measured requests to one node of a chain, and what providers bill for them. */
export interface ChainFigures {
  readonly requests: Load;
  readonly units: Readonly<Record<string, Load>>;
}

/** The plans of a provider, the smallest first. Null is no limit, or none that is published. */
export interface ProviderPlans {
  readonly name: string;
  readonly unit: string;
  readonly plans: readonly {
    readonly name: string;
    readonly unitsPerMonth: number | null;
    readonly unitsPerSecond: number | null;
    /** Chains that the plan lacks. */
    readonly without: readonly string[];
  }[];
}

/** Chains with measured figures. */
export const PLANNED_CHAINS: readonly string[] = Object.keys(CHAIN_FIGURES);

const DAY_S = 86_400;
const MONTH_DAYS = 30;
/** The busiest minutes of a day against its mean. */
const PEAK = 10;
/** Settlements a second by `npm run bench -- throughput` on two processors, which nodes and database shared. */
const MEASURED = { perSecond: 17, processors: 2 } as const;

export interface PlanInput {
  readonly depositsPerDay: number;
  /** Names of at least two chains with figures. */
  readonly chains: readonly string[];
  /** Mean value of a deposit in whole US dollars. */
  readonly averageUsd: bigint;
  /** Days of payouts that inventory must last until it is refilled. */
  readonly refillDays: number;
}

export interface Plan {
  readonly chains: readonly {
    readonly name: string;
    /** To each of its nodes. */
    readonly requestsPerDay: number;
    /** Gas of a day, with a deployment for each deposit. */
    readonly gasPerDay: bigint;
    /** In whole US dollars, rounded up. */
    readonly inventoryUsd: bigint;
  }[];
  readonly providers: readonly {
    readonly name: string;
    readonly unit: string;
    readonly unitsPerMonth: number;
    /** The smallest plan that suffices for all chains together; null if none of those published does. */
    readonly plan: string | null;
  }[];
  /** Settlements in each second of the busiest minutes. */
  readonly peakPerSecond: number;
  /** Processors for all roles, the database included. */
  readonly processors: number;
}

/** Plans an installation. */
export function planInstallation(input: PlanInput): Plan {
  const { depositsPerDay, chains, averageUsd, refillDays } = input;
  const perChain = depositsPerDay / chains.length;
  const figures = chains.map((name) => {
    const found = CHAIN_FIGURES[name];
    if (!found) throw new RangeError(`expected one of ${PLANNED_CHAINS.join(", ")}, got ${name}`);
    return { name, ...found };
  });
  const gas = gasOfDeposit();
  const deposits = BigInt(Math.ceil(perChain));
  const inventoryUsd = deposits * averageUsd * BigInt(refillDays);
  const peakPerSecond = (depositsPerDay / DAY_S) * PEAK;
  return {
    chains: figures.map(({ name, requests }) => ({
      name,
      requestsPerDay: loadOf(requests, perChain),
      gasPerDay: deposits * (gas.source + gas.destination),
      inventoryUsd,
    })),
    providers: PROVIDER_PLANS.map(({ name, unit, plans }) => {
      const perDay = figures.reduce(
        (sum, { units }) => sum + (units[name] ? loadOf(units[name], perChain) : 0),
        0,
      );
      const suffices = plans.find(
        ({ unitsPerMonth, unitsPerSecond, without }) =>
          !chains.some((chain) => without.includes(chain)) &&
          perDay * MONTH_DAYS <= (unitsPerMonth ?? Infinity) &&
          // Twice the mean, for the blocks after a pause.
          (2 * perDay) / DAY_S <= (unitsPerSecond ?? Infinity),
      );
      return { name, unit, unitsPerMonth: perDay * MONTH_DAYS, plan: suffices?.name ?? null };
    }),
    peakPerSecond,
    processors: Math.max(
      MEASURED.processors,
      Math.ceil((peakPerSecond / MEASURED.perSecond) * MEASURED.processors),
    ),
  };
}

/** Returns the load of a day with so many deposits on either side. */
function loadOf({ idle, source, destination }: Load, deposits: number): number {
  return Math.ceil(idle + deposits * (source + destination));
}

/** Returns the gas of a deposit on its source, with the wallet's deployment, and on its destination. */
function gasOfDeposit() {
  const on = (side: "source" | "destination") =>
    SWIFT_GAS.filter((step) => step.on === side).reduce((sum, step) => sum + step.gas, 0n);
  return { source: on("source") + DEPLOY_GAS, destination: on("destination") };
}
