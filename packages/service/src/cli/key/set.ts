import { setKeyByHand } from "../../integrators/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameByHand } from "../operator.ts";
import { type KeyChoices, toKeySettings } from "../values.ts";
import { withDatabase } from "../with-database.ts";

/** Changes the label, rights or expiry of a valid key. */
export async function run(
  call: Call,
  {
    keyId,
    reason,
    ...choices
  }: KeyChoices & { readonly keyId: string; readonly reason: string | undefined },
): Promise<Result> {
  const settings = toKeySettings(choices);
  if (Object.values(settings).every((value) => value === undefined)) {
    throw new UsageError("Expected --label, --scopes, --allow or --expires.");
  }
  await withDatabase(call.readConfig(), ({ db }) =>
    setKeyByHand(db, { ...settings, keyId }, nameByHand(reason)),
  );
  return { json: { changed: keyId }, text: `the key ${keyId} is changed` };
}
