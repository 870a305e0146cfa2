import { listPauses } from "../../settlements/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the open pauses, or all on record. */
export async function run(call: Call, { all }: { readonly all: boolean }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const pauses = await withDatabase(config, ({ db }) => listPauses(db, { all }));
  const lines = pauses.map(({ scope, chainId, subject, ...pause }) =>
    [
      [scope === "chain" ? "" : scope, subject, chainId === null ? "" : `chain ${chainId}`]
        .filter(Boolean)
        .join(" "),
      `since ${pause.pausedAt} by ${pause.operator}`,
      ...(pause.resumedAt
        ? [
            `until ${pause.resumedAt} by ${pause.resumedBy}: ${pause.resumeReason ?? "no reason on record"}`,
          ]
        : []),
      pause.reason,
    ].join("  "),
  );
  return { json: { pauses }, text: lines.join("\n") || "nothing is paused" };
}
