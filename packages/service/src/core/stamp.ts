/** Formats milliseconds since the epoch as on the wire and in the database: `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
export function formatStamp(ms: number): string {
  return new Date(ms).toISOString();
}
