import { createKey } from "../../integrators/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Creates an API key, which is shown only this once. */
export async function run(
  call: Call,
  input: { readonly integrator: string; readonly depositAddresses: boolean | undefined },
): Promise<Result> {
  const config = call.readConfig();
  const pepper = config.apiKeyPepper;
  const { integrator, depositAddresses = true } = input;
  const created = await withDatabase(config, ({ db }) =>
    createKey({ db, random: systemRandom, pepper }, { integrator, depositAddresses }),
  );
  return { json: created, text: `API key (shown once): ${created.apiKey}` };
}
