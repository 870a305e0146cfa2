import { rotateKeyByHand } from "../../integrators/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import type { LifetimeChoice } from "../values.ts";
import { withDatabase } from "../with-database.ts";

const DAY_MS = 86_400_000;

/** Creates the successor of a key and lets the key expire. The successor is shown only this once. */
export async function run(
  call: Call,
  {
    keyId,
    overlap = DAY_MS,
    expires,
    reason,
  }: {
    readonly keyId: string;
    readonly overlap: number | undefined;
    readonly expires: LifetimeChoice | undefined;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const config = call.readConfig();
  const pepper = config.apiKeyPepper;
  const rotated = await withDatabase(config, ({ db }) =>
    rotateKeyByHand(
      { db, random: systemRandom, pepper },
      { keyId, overlapMs: overlap, expiresInMs: expires === "never" ? null : expires },
      nameByHand(reason),
    ),
  );
  return {
    json: rotated,
    text: [
      `API key (shown once): ${rotated.apiKey}`,
      `its id is ${rotated.keyId}; the key ${keyId} is valid until ${rotated.replacedExpiresAt}`,
    ].join("\n"),
  };
}
