import { systemClock } from "../../roles/system-ports.ts";
import { decideScreening } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameOperator, parseReason } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

export interface DecisionInput {
  readonly deposit: string;
  readonly reason: string;
}

/** Records an operator's decision about a deposit. */
export async function decide(
  call: Call,
  { deposit, reason }: DecisionInput,
  verdict: "allow" | "refuse",
): Promise<Result> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(deposit)) {
    throw new UsageError("expected the id of a deposit, as `screening list` prints it");
  }
  const decision = { verdict, reason: parseReason(reason), operator: nameOperator() };
  const config = call.readConfig({ roles: [] });
  if (config.screening === undefined) {
    throw new UsageError("screening: the configuration has none, so every deposit is swept");
  }
  const nowMs = systemClock.now();
  const changed = await withDatabase(config, ({ db }) =>
    decideScreening(db, { depositId: deposit, ...decision, nowMs }),
  );
  const done = verdict === "allow" ? "may be swept" : "is held";
  const text = changed ? `deposit ${deposit} ${done}` : "nothing changed";
  return { json: { deposit, verdict, changed }, text };
}
