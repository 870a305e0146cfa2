/** `sluice inventory`: available, reserved and returning inventory, and how long it lasts. */
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import {
  getChain,
  getChainConfig,
  getToken,
  type InventoryReport,
  reportInventory,
} from "../routes/index.ts";
import { createLog } from "../telemetry/log.ts";
import type { Call, Result } from "./command.ts";
import { withDatabase } from "./with-database.ts";
import { createChains } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { systemClock } from "../roles/system-ports.ts";

/** An inventory as the command prints it, with amounts in whole units. */
export interface ShownInventory {
  readonly chain: string;
  readonly symbol: string;
  readonly token: string;
  readonly balance: string;
  readonly reserved: string;
  readonly capLeft: string;
  readonly available: string;
  readonly unpaid: { readonly count: number; readonly amount: string };
  readonly unclaimed: {
    readonly count: number;
    readonly amount: string;
    readonly oldestMinutes: number | null;
  };
  readonly paidIn7Days: string;
  readonly runwayHours: string | null;
}

/** Shows every inventory that a route pays from. */
export async function run(call: Call): Promise<Result> {
  const inventories = await inventoryCommand(call.readConfig());
  return { json: { inventories }, text: formatInventories(inventories) };
}

/** Reads every inventory that a route pays from. Throws RPC_UNAVAILABLE when a chain does not answer. */
export async function inventoryCommand(config: Config): Promise<readonly ShownInventory[]> {
  const log = createLog({ level: config.logLevel, role: "inventory" });
  const chains = createChains(config, {
    clock: systemClock,
    log,
    trafficOf: createCommandTraffic(),
  });
  return withDatabase(config, async ({ db }) => {
    const reports: ShownInventory[] = [];
    for (const { destChain, destToken } of listInventories(config)) {
      const chain = getChain(chains, destChain);
      const report = await reportInventory({ db, clock: systemClock }, chain, destToken);
      reports.push(show(config, report));
    }
    return reports;
  });
}

/** Formats the inventories as lines of text. */
export function formatInventories(inventories: readonly ShownInventory[]): string {
  if (inventories.length === 0) return "No route pays from inventory.";
  return inventories.map(formatInventory).join("\n\n");
}

function formatInventory(inventory: ShownInventory): string {
  const { symbol, unpaid, unclaimed, runwayHours } = inventory;
  const oldest =
    unclaimed.oldestMinutes === null ? "" : `, the oldest ${unclaimed.oldestMinutes} min`;
  const runway =
    runwayHours === null
      ? "unknown: nothing was paid in seven days"
      : `${runwayHours} h at the pace of seven days (${inventory.paidIn7Days} ${symbol})`;
  return [
    `${symbol} on ${inventory.chain} (${inventory.token})`,
    `  balance    ${inventory.balance}`,
    `  reserved   ${inventory.reserved}`,
    `  cap left   ${inventory.capLeft} in the current 24 h`,
    `  available  ${inventory.available}`,
    `  unpaid     ${unpaid.count} locks, ${unpaid.amount}`,
    `  unclaimed  ${unclaimed.count} deliveries, ${unclaimed.amount}${oldest}`,
    `  runway     ${runway}`,
  ].join("\n");
}

function listInventories(config: Config) {
  const paid = config.routes.filter(({ fromInventory }) => fromInventory);
  const found = new Map(paid.map((route) => [`${route.destChain}:${route.destToken}`, route]));
  return [...found.values()];
}

function show(config: Config, report: InventoryReport): ShownInventory {
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
