/** Lines of comma-separated values by RFC 4180, safe to open in a spreadsheet. */

/** First characters by which spreadsheets take a cell for a formula, after spaces too; also in full width. */
const FORMULA = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|^[\t\r\n]/;

/** Returns a line of cells, without the end of line. */
export function formatCsvLine(cells: readonly string[]): string {
  return cells.map(formatCell).join(",");
}

/**
 * Returns a cell. Text that a spreadsheet would run gets an apostrophe in front, as OWASP advises: integrators write labels
 * and metadata, and strangers may have chosen them. No cell of ours begins so.
 */
function formatCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return safe === text && !/[",\r\n]/.test(text) ? text : `"${safe.replaceAll('"', '""')}"`;
}

/** Returns the text of a value of a JSON object at a path such as `fees.gas`; empty for null and absent ones. */
export function textAt(value: object, path: string): string {
  let at: unknown = value;
  for (const name of path.split(".")) at = Reflect.get(Object(at), name);
  if (at === undefined || at === null) return "";
  return typeof at === "object" ? JSON.stringify(at) : String(at);
}
