import { type Hex32, toHex32 } from "../../core/hex.ts";
import { acceptEarlyLoss } from "../../routes/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Books the payout of a missing lock as a loss, which frees its part of the exposure. */
export async function run(
  call: Call,
  { reason, ...input }: { readonly delivery: string; readonly reason: string },
): Promise<Result> {
  const delivery = parseDelivery(input.delivery);
  const act = { operator: nameOperator(), reason: parseReason(reason) };
  const changed = await withDatabase(call.readConfig({ roles: [] }), ({ db }) =>
    acceptEarlyLoss(db, delivery, act),
  );
  const text = changed
    ? `the payout ${delivery} is booked as lost; add it to acceptedLosses in the configuration of each attestor`
    : `the lock of ${delivery} is not recorded as missing: nothing is booked`;
  return { json: { delivery, changed }, text };
}

function parseDelivery(text: string): Hex32 {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return toHex32(text.toLowerCase());
  throw new UsageError("delivery: expected 0x and 64 hex digits.");
}
