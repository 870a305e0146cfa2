import { setKey } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { type KeyChoices, toKeySettings } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Changes the label, rights or expiry of a valid key. */
export async function run(
  call: Call,
  { keyId, ...choices }: KeyChoices & { readonly keyId: string },
): Promise<Result> {
  const settings = toKeySettings(choices);
  if (Object.values(settings).every((value) => value === undefined)) {
    throw new UsageError("Expected --label, --scopes, --allow or --expires.");
  }
  await withDatabase(call.readConfig(), ({ db }) => setKey(db, { ...settings, keyId }));
  return { json: { changed: keyId }, text: `the key ${keyId} is changed` };
}
