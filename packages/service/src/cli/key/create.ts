import { isLocal } from "../../config/index.ts";
import { createKeyByHand } from "../../integrators/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { type KeyChoices, toKeySettings } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Creates an API key, which is shown only this once. */
export async function run(
  call: Call,
  input: KeyChoices & {
    readonly integrator: string;
    readonly depositAddresses: boolean | undefined;
    readonly prefixed: boolean;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const config = call.readConfig();
  const pepper = config.apiKeyPepper;
  const { integrator, depositAddresses = true, prefixed, reason } = input;
  const kind = config.chains.every(isLocal) ? "sk_test_" : "sk_live_";
  const created = await withDatabase(config, ({ db }) =>
    createKeyByHand(
      { db, random: systemRandom, pepper },
      {
        ...toKeySettings(input),
        integrator,
        depositAddresses,
        ...(prefixed ? { prefix: kind } : {}),
      },
      nameByHand(reason),
    ),
  );
  return { json: created, text: `API key (shown once): ${created.apiKey}` };
}
