/** `sluice addresses export`: every deposit address with the preimage of its commitment, for a copy that outlives us. */
import { iterateAddresses } from "../addresses/index.ts";
import type { Config } from "../config/index.ts";
import { findIntegrator } from "../integrators/index.ts";
import { addressFormat } from "../roles/address-format.ts";
import { withDatabase } from "./integrators.ts";

/** Hands out a line of JSON per address, in the form of `GET /deposit-addresses/{id}`. */
export async function exportAddressesCommand(
  config: Config,
  args: {
    /** Name or id; all of them where there is none. */
    readonly integrator: string | undefined;
    /** Resolves when there is room for more. */
    readonly write: (line: string) => Promise<void>;
  },
): Promise<void> {
  return withDatabase(config, async ({ db }) => {
    const { integrator } = args;
    const integratorId =
      integrator === undefined ? undefined : await findIntegrator(db, integrator);
    for await (const address of iterateAddresses(db, {
      integratorId,
      display: addressFormat.display,
    })) {
      await args.write(JSON.stringify(address));
    }
  });
}
