import { existsSync } from "node:fs";
import { SIGNER_NAMES } from "../../config/index.ts";
import { journalPath } from "../../roles/keys.ts";
import { verifyJournal } from "../../signers/journal.ts";
import type { Call, Result } from "../command.ts";

/** Verifies the journals that exist. Throws CONFIG_MISSING that names the line of one that was tampered with. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const journals = SIGNER_NAMES.map((name) => journalPath(config, name))
    .filter((path) => existsSync(path))
    .map((journal) => ({ journal, ...verifyJournal(journal) }));
  const lines = journals.map(
    ({ journal, count, hash }) => `${journal}: ${count} entries, unbroken, the newest is ${hash}`,
  );
  return { json: { journals }, text: lines.join("\n") || "Nothing was signed yet." };
}
