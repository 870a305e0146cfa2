/**
 * Preloaded into the service by a benchmark: counts the statements that it sends to PostgreSQL, by text, and writes the counts
 * to the file that `BENCH_STATEMENTS` names, twice a second.
 */
import { renameSync, writeFileSync } from "node:fs";
import pg from "pg";

const path = process.env["BENCH_STATEMENTS"];
if (path !== undefined && process.argv.includes("serve")) {
  const counts = new Map<string, number>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: readonly unknown[]) {
    const [first] = args;
    const text = typeof first === "string" ? first : String(Object(first).text ?? first);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    return Reflect.apply(query, this, args);
  } as typeof query;
  setInterval(() => {
    writeFileSync(`${path}.new`, JSON.stringify([...counts]));
    renameSync(`${path}.new`, path);
  }, 500).unref();
}
