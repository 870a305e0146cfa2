import { iterateAddresses } from "../../addresses/index.ts";
import { findIntegrator } from "../../integrators/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import type { Call } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/**
 * Writes one line of JSON per deposit address, with the preimage of its commitment, in the form of
 * `GET /deposit-addresses/{id}`: a copy that survives the loss of the database.
 */
export async function run(
  call: Call,
  { integrator }: { readonly integrator: string | undefined },
): Promise<undefined> {
  await withDatabase(call.readConfig({ roles: [] }), async ({ db }) => {
    const integratorId =
      integrator === undefined ? undefined : await findIntegrator(db, integrator);
    const { display } = addressFormat;
    for await (const address of iterateAddresses(db, { integratorId, display })) {
      await call.write(JSON.stringify(address));
    }
  });
}
