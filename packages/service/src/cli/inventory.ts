/** `sluice inventory`: available, reserved and returning inventory, and how long it lasts. */
import type { Config } from "../config/index.ts";
import { readInventories, type ShownInventory } from "../routes/index.ts";
import { createLog } from "../telemetry/log.ts";
import type { Call, Result } from "./command.ts";
import { withDatabase } from "./with-database.ts";
import { createChains } from "../roles/chains.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { systemClock } from "../roles/system-ports.ts";

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
  return withDatabase(config, ({ db }) =>
    readInventories({ config, chains, db, clock: systemClock }),
  );
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
