/**
 * The log of what people did by hand. The database writes it (migration 0073): each line has the hash of the line before,
 * so that a changed or removed line shows, except at the end, which somebody must have noted elsewhere.
 */
import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** A line of the log. */
export interface LogLine {
  readonly seq: number;
  readonly at: string;
  readonly operator: string;
  readonly action: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** Lower-case hexadecimal. */
  readonly hash: string;
}

/** Whether the log is as it was written, and its newest line. */
export interface LogProof {
  readonly lines: number;
  /** Hash of the newest line, to be noted elsewhere; null for an empty log. */
  readonly head: string | null;
  /** The first line whose hash differs, or that does not follow the line before; null without one. */
  readonly brokenAt: number | null;
}

const LINES_AT_ONCE = 1_000;
const FIRST = Buffer.alloc(32);

/** Lists lines, newest first, before `before`. */
export async function listLog(
  db: Db,
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly LogLine[]> {
  let query = db
    .selectFrom("operator_log")
    .select(["seq", "at", "operator", "action", "entry", "hash"])
    .orderBy("seq", "desc")
    .limit(limit);
  if (before !== undefined) query = query.where("seq", "<", BigInt(before));
  const rows = await query.execute();
  return rows.map(({ seq, hash, ...row }) => ({
    ...row,
    seq: Number(seq),
    hash: hash.toString("hex"),
  }));
}

/** Computes every hash again, from the first line to the newest. */
export async function proveLog(db: Db): Promise<LogProof> {
  let previous: Buffer = FIRST;
  let lines = 0;
  for (;;) {
    const rows = await db
      .selectFrom("operator_log")
      .select(["seq", "at", "operator", "action", "previous", "hash"])
      .select(sql<string>`entry::text`.as("text"))
      .where("seq", ">", BigInt(lines))
      .orderBy("seq")
      .limit(LINES_AT_ONCE)
      .execute();
    for (const row of rows) {
      const fields = [String(row.seq), row.at, row.operator, row.action, row.text];
      const written = fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join("");
      const hash = createHash("sha256").update(previous).update(written).digest();
      const follows = row.seq === BigInt(lines + 1) && row.previous.equals(previous);
      if (!follows || !row.hash.equals(hash)) {
        return { lines, head: headOf(previous, lines), brokenAt: lines + 1 };
      }
      previous = hash;
      lines += 1;
    }
    if (rows.length < LINES_AT_ONCE) {
      return { lines, head: headOf(previous, lines), brokenAt: null };
    }
  }
}

function headOf(hash: Buffer, lines: number): string | null {
  return lines === 0 ? null : hash.toString("hex");
}
