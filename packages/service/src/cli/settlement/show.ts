import type { Config } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { createChains } from "../../roles/chains.ts";
import { createCommandTraffic } from "../../roles/command-traffic.ts";
import { systemClock } from "../../roles/system-ports.ts";
import {
  explainWait,
  locateValue,
  readSettlementFile,
  type SettlementFile,
  type ValuePlace,
} from "../../settlements/index.ts";
import { createLog } from "../../telemetry/log.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { formatSettlement } from "./format.ts";

/** Shows every recorded fact about a settlement. */
export async function run(call: Call, { id }: { readonly id: string }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const shown = await showSettlement(config, id);
  return { json: shown, text: formatSettlement(config, shown) };
}

/** A settlement as the command prints it: its records, and the current balance of its deposit address. */
export interface ShownSettlement extends SettlementFile {
  readonly value: {
    readonly place: ValuePlace;
    /** Balance of the token in the deposit address, in base units; null if the node does not answer. */
    readonly walletBalance: bigint | null;
  };
  readonly waitsFor: string | null;
}

/** Reads everything about a settlement. Throws VALIDATION_ERROR if none has that id. */
export async function showSettlement(config: Config, id: string): Promise<ShownSettlement> {
  return withDatabase(config, async ({ db }) => {
    const file = isUuid(id) ? await readSettlementFile(db, id) : null;
    if (!file) throw new OperatingError("VALIDATION_ERROR", `There is no settlement ${id}.`);
    const { chainId, token, wallet } = file.settlement;
    const log = createLog({ level: config.logLevel, role: "command" });
    const chain = createChains(config, {
      clock: systemClock,
      log,
      trafficOf: createCommandTraffic(),
    }).get(chainId);
    const walletBalance = chain ? await readBalance(() => chain.findBalance(token, wallet)) : null;
    const value = { place: locateValue(file), walletBalance };
    return { ...file, value, waitsFor: explainWait(file) };
  });
}

/** Returns null instead of failing: the records are worth showing while a node does not answer. */
async function readBalance(read: () => Promise<bigint | null>): Promise<bigint | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OperatingError && error.code === "RPC_UNAVAILABLE") return null;
    throw error;
  }
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
