import { formatUnits } from "../core/amounts.ts";
import { planInstallation, PLANNED_CHAINS } from "../planning/index.ts";
import type { Call, Result } from "./command.ts";
import { UsageError } from "./failure.ts";

/** Estimates what an installation for a number of deposits needs. Reads no configuration, node or database. */
export async function run(
  _call: Call,
  options: {
    readonly depositsPerDay: number;
    readonly chains: readonly string[];
    readonly averageUsd: number;
    readonly refillDays: number;
  },
): Promise<Result> {
  const { depositsPerDay, chains, averageUsd, refillDays } = options;
  const unknown = chains.find((name) => !PLANNED_CHAINS.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`chains: expected some of ${PLANNED_CHAINS.join(",")}, got ${unknown}.`);
  }
  if (new Set(chains).size < 2 || new Set(chains).size < chains.length) {
    throw new UsageError("chains: expected at least two different chains.");
  }
  const plan = planInstallation({
    depositsPerDay,
    chains,
    averageUsd: BigInt(averageUsd),
    refillDays,
  });
  const lines = [
    ...plan.chains.map(
      ({ name, requestsPerDay, gasPerDay, inventoryUsd }) =>
        `${name}: ${group(requestsPerDay)} requests a day to each node, ${group(gasPerDay)} gas a day (${formatUnits(gasPerDay, 9)} coin at 1 gwei), inventory of $${group(inventoryUsd)}`,
    ),
    "providers, for one node of each of these chains:",
    ...plan.providers.map(
      ({ name, unit, unitsPerMonth, plan: chosen }) =>
        `  ${name}: ${group(Math.ceil(unitsPerMonth / 1e6))} million ${unit} a month, ${chosen ?? "more than its published plans"}`,
    ),
    `machine: ${plan.peakPerSecond.toFixed(1)} settlements a second in the busiest minutes, ${plan.processors} processors with the database`,
    `Deposits go evenly from each chain to another, each to a new address. Inventory lasts ${refillDays} day(s). See docs/rpc.md and bench/README.md for the figures.`,
  ];
  return { json: { ...plan }, text: lines.join("\n") };
}

function group(value: number | bigint): string {
  return value.toLocaleString("en-US");
}
