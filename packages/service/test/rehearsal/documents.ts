/** Commands as the documents have them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dirname, "../../../../docs");

/** Returns the lines of the first indented block after a text of a page. Throws if there is none. */
export function commandsAfter(page: string, text: string): readonly string[] {
  const lines = readFileSync(join(DOCS, page), "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes(text));
  const first = lines.findIndex((line, index) => index > at && line.startsWith("    "));
  if (at < 0 || first < 0) throw new Error(`${page}: expected commands after "${text}"`);
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => !line.startsWith("    "));
  return rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim().replace(/\s+#.*$/, ""));
}
