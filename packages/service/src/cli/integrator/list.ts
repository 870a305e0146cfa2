import { listIntegrators } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists every integrator, with who pays for the gas of its settlements. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig();
  const listed = await withDatabase(config, ({ db }) => listIntegrators(db));
  const integrators = listed.map((integrator) => ({
    ...integrator,
    gas: integrator.gas ?? config.gas,
    gasIsDefault: integrator.gas === null,
  }));
  const lines = integrators.map(
    ({ integratorId, name, gas, gasIsDefault, maxFeeBps, maxSlippageBps, ...other }) =>
      [
        integratorId,
        name,
        `gas ${gas}${gasIsDefault ? " (default)" : ""}`,
        `fees to ${maxFeeBps} bps, slippage to ${maxSlippageBps} bps`,
        `${other.routes} routes${other.unattended ? ", settled by anybody after 72 hours" : ""}`,
        `${other.addressesIssued} addresses, at most ${other.addressesMax ?? config.quotas.addresses}`,
        `at most ${other.openSettlementsMax ?? config.quotas.openSettlements} settlements in progress per chain`,
        `weight ${other.weight}`,
        `refunds to ${other.refundEvm}, on Solana ${other.refundSolana ?? "to nobody"}`,
      ].join("  "),
  );
  return { json: { integrators }, text: lines.join("\n") };
}
