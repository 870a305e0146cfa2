import { type KeyFacts, listKeys } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists every key, or those of one integrator. */
export async function run(
  call: Call,
  { integrator }: { readonly integrator: string | undefined },
): Promise<Result> {
  const keys = await withDatabase(call.readConfig(), ({ db }) => listKeys(db, { integrator }));
  const lines = keys.map((key) =>
    [
      key.keyId,
      key.integrator,
      ...(key.label === null ? [] : [JSON.stringify(key.label)]),
      `created ${key.createdAt}`,
      describeState(key),
      `scopes ${key.scopes.join(",")}`,
      `from ${key.allowedNetworks?.join(",") ?? "every address"}`,
      `${key.depositAddresses ? "with" : "without"} deposit addresses`,
      key.lastUsedAt === null ? "not used yet" : `last used ${key.lastUsedAt}`,
      ...(key.replaces === null ? [] : [`replaces ${key.replaces}`]),
    ].join("  "),
  );
  return { json: { keys }, text: lines.join("\n") };
}

function describeState({ state, expiresAt, revokedAt }: KeyFacts): string {
  if (state === "revoked") return `revoked ${revokedAt}`;
  if (expiresAt === null) return state;
  return state === "expired" ? `expired ${expiresAt}` : `valid until ${expiresAt}`;
}
