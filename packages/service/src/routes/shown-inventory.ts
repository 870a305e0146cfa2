/** Reads inventories, with amounts in whole units. */
import type { ConsoleInventory } from "@sluice/sdk/wire";
import type { Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { getChain, getChainConfig, getToken } from "./configured.ts";
import { type InventoryReport, reportInventory } from "./swift/inventory.ts";

/** An inventory, with amounts in whole units. */
export interface ShownInventory extends ConsoleInventory {
  readonly token: string;
}

/** Reads every inventory that a route pays from. Throws RPC_UNAVAILABLE when a chain does not answer. */
export async function readInventories(deps: {
  readonly config: Pick<Config, "chains" | "routes">;
  readonly chains: Chains;
  readonly db: Db;
  readonly clock: Clock;
}): Promise<readonly ShownInventory[]> {
  const { config, chains } = deps;
  const paid = config.routes.filter(({ fromInventory }) => fromInventory);
  const distinct = new Map(paid.map((route) => [`${route.destChain}:${route.destToken}`, route]));
  const shown: ShownInventory[] = [];
  for (const { destChain, destToken } of distinct.values()) {
    const report = await reportInventory(deps, getChain(chains, destChain), destToken);
    shown.push(show(config, report));
  }
  return shown;
}

function show(config: Pick<Config, "chains">, report: InventoryReport): ShownInventory {
  const { chainId, token, unpaid, unclaimed } = report;
  const { symbol, decimals } = getToken(config, chainId, token);
  const units = (amount: bigint) => formatUnits(amount, decimals);
  return {
    chain: getChainConfig(config, chainId).name,
    symbol,
    token,
    balance: units(report.balance),
    reserved: units(report.reserved),
    capLeft: units(report.capLeft),
    available: units(report.available),
    unpaid: { count: unpaid.count, amount: units(unpaid.amount) },
    unclaimed: {
      count: unclaimed.count,
      amount: units(unclaimed.amount),
      oldestMinutes: unclaimed.oldestMs === null ? null : Math.floor(unclaimed.oldestMs / 60_000),
    },
    paidIn7Days: units(report.paidIn7Days),
    runwayHours: report.runwayHours?.toString() ?? null,
  };
}
