import { listLog, type LogLine, proveLog } from "../../operators/index.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";

/** Lists the newest lines of the log of what people did by hand, and verifies all of it. */
export async function run(call: Call, { limit }: { readonly limit: number }): Promise<Result> {
  const { lines, proof } = await withDatabase(call.readConfig({ roles: [] }), async ({ db }) => ({
    lines: await listLog(db, { limit }),
    proof: await proveLog(db),
  }));
  const verdict =
    proof.brokenAt === null
      ? `${proof.lines} line(s), each follows the one before; the newest has the hash ${proof.head ?? "of an empty log"}`
      : `the hash of line ${proof.brokenAt} differs: the log was changed in the database`;
  return {
    json: { lines, proof },
    text: [...lines.toReversed().map(format), verdict].join("\n"),
    failed: proof.brokenAt !== null,
  };
}

function format({ seq, at, operator, action, entry }: LogLine): string {
  const reason = entry["reason"];
  return `${seq}  ${at}  ${operator}  ${action}${typeof reason === "string" ? `: ${reason}` : ""}`;
}
