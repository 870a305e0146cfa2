/** `sluice governance list`: what owner and guardian of the contracts scheduled and changed. */
import type { Config } from "../../config/index.ts";
import {
  createGovernanceWatch,
  readStanding,
  showChange,
  type Standing,
} from "../../governance/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { createChains } from "../../roles/chains.ts";
import { createCommandTraffic } from "../../roles/command-traffic.ts";
import { systemClock } from "../../roles/system-ports.ts";
import { createLog } from "../../telemetry/log.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { formatChange } from "./changes.ts";

/** Lists the changes that stand; fails if one is not expected. */
export async function run(
  call: Call,
  {
    chain: chainId,
    all,
    kept,
  }: { readonly chain: number | undefined; readonly all: boolean; readonly kept: boolean },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const standing = await listStanding(config, { chainId, kept });
  const chosen = all ? standing : standing.filter(isOpen);
  const shown = chosen.map((change) =>
    showChange({ ...config, display: addressFormat.display }, change),
  );
  const nowMs = systemClock.now();
  return {
    json: { changes: shown },
    text:
      shown.map((change) => formatChange(change, nowMs)).join("\n") ||
      "Nothing is scheduled, and nothing changed since the deployment or in the last weeks.",
    failed: chosen.some(({ isExpected }) => !isExpected),
  };
}

/** Reads on, unless only kept changes are wanted. Throws RPC_UNAVAILABLE if a chain does not answer. */
export async function listStanding(
  config: Config,
  { chainId, kept }: { readonly chainId?: number | undefined; readonly kept: boolean },
): Promise<readonly Standing[]> {
  const log = createLog({ level: config.logLevel, role: "governance" });
  return withDatabase(config, async ({ db }) => {
    const deps = { db, config, clock: systemClock, log };
    if (!kept) {
      const chains = createChains(config, { ...deps, trafficOf: createCommandTraffic() });
      for (const chain of chains.values()) {
        if (chainId !== undefined && chain.chainId !== chainId) continue;
        await createGovernanceWatch({ ...deps, chain })?.poll();
      }
    }
    return readStanding(deps, chainId);
  });
}

function isOpen({ state, atDeployment }: Standing): boolean {
  return !atDeployment && state !== "cancelled" && state !== "expired";
}
