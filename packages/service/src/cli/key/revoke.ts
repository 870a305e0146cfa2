import { revokeKeyByHand } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Revokes a key permanently. */
export async function run(
  call: Call,
  { keyId, reason }: { readonly keyId: string; readonly reason: string | undefined },
): Promise<Result> {
  await withDatabase(call.readConfig(), ({ db }) =>
    revokeKeyByHand(db, { keyId }, nameByHand(reason)),
  );
  return { json: { revoked: keyId }, text: `the key ${keyId} is revoked` };
}
