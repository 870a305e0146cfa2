import { revokeKey } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Revokes a key permanently. */
export async function run(call: Call, { keyId }: { readonly keyId: string }): Promise<Result> {
  await withDatabase(call.readConfig(), ({ db }) => revokeKey(db, { keyId }));
  return { json: { revoked: keyId }, text: `the key ${keyId} is revoked` };
}
