import { cancelNonce } from "../../transactions/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { formatNonce, type NonceInput, parseNonceRequest } from "./nonce.ts";

/** Gives up the unmined call of a nonce; the lane sends a transfer of nothing in its place. */
export async function run(call: Call, input: NonceInput): Promise<Result> {
  const request = parseNonceRequest(input);
  const config = call.readConfig({ roles: [] });
  const result = await withDatabase(config, ({ db }) => cancelNonce(db, request));
  return { json: { ...result }, text: formatNonce("cancel", input.nonce, result) };
}
