import { systemRandom } from "../../roles/system-ports.ts";
import { fillNonce } from "../../transactions/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { formatNonce, type NonceInput, parseNonceRequest } from "./nonce.ts";

/** Fills a nonce that no transaction has with a transfer of nothing. */
export async function run(call: Call, input: NonceInput): Promise<Result> {
  const request = parseNonceRequest(input);
  const config = call.readConfig({ roles: [] });
  const result = await withDatabase(config, ({ db }) => fillNonce(db, systemRandom, request));
  return { json: { ...result }, text: formatNonce("fill", input.nonce, result) };
}
