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
    ({ integratorId, name, gas, gasIsDefault, maxFeeBps, maxSlippageBps, ...refund }) =>
      [
        integratorId,
        name,
        `gas ${gas}${gasIsDefault ? " (default)" : ""}`,
        `fees to ${maxFeeBps} bps, slippage to ${maxSlippageBps} bps`,
        `refunds to ${refund.refundEvm}, on Solana ${refund.refundSolana ?? "to nobody"}`,
      ].join("  "),
  );
  return { json: { integrators }, text: lines.join("\n") };
}
