import { createIntegrator } from "../../integrators/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { RouteTerms } from "../../core/commitment.ts";
import type { Call, Result } from "../command.ts";
import type { GasChoice } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Creates an integrator; absent caps default to the configuration's. */
export async function run(
  call: Call,
  input: {
    readonly name: string;
    readonly refundEvm: string;
    readonly refundSolana: string | undefined;
    readonly maxFeeBps: number | undefined;
    readonly maxSlippageBps: number | undefined;
    readonly gas: GasChoice | undefined;
    readonly routes: RouteTerms | undefined;
    readonly unattended: boolean | undefined;
  },
): Promise<Result> {
  const config = call.readConfig();
  const { name, refundEvm, refundSolana, gas, routes, unattended } = input;
  const created = await withDatabase(config, ({ db }) =>
    createIntegrator(
      { db, random: systemRandom },
      {
        name,
        refundEvm,
        refundSolana,
        maxFeeBps: input.maxFeeBps ?? config.maxFeeBps,
        maxSlippageBps: input.maxSlippageBps ?? config.maxSlippageBps,
        gas: gas === "default" ? undefined : gas,
        terms: { routes, unattended },
      },
    ),
  );
  return { json: created, text: `integrator ${created.name} has the id ${created.integratorId}` };
}
