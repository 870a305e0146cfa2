/** Writes the dashboards of `deploy/grafana`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDashboards } from "./dashboards.ts";

const FOLDER = join(import.meta.dirname, "../deploy/grafana");
for (const [name, board] of await makeDashboards()) {
  writeFileSync(join(FOLDER, name), `${JSON.stringify(board, null, 2)}\n`);
}
