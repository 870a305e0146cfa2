import { listKeys } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists every key, or those of one integrator. */
export async function run(
  call: Call,
  { integrator }: { readonly integrator: string | undefined },
): Promise<Result> {
  const keys = await withDatabase(call.readConfig(), ({ db }) => listKeys(db, { integrator }));
  const lines = keys.map(({ keyId, integrator: owner, createdAt, revokedAt, depositAddresses }) =>
    [
      keyId,
      owner,
      `created ${createdAt}`,
      revokedAt === null ? "valid" : `revoked ${revokedAt}`,
      `${depositAddresses ? "with" : "without"} deposit addresses`,
    ].join("  "),
  );
  return { json: { keys }, text: lines.join("\n") };
}
