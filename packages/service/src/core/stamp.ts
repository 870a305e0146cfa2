/** A time as the wire and the database write it: `YYYY-MM-DDTHH:mm:ss.SSSZ`. `ms` is milliseconds since the epoch. */
export function formatStamp(ms: number): string {
  return new Date(ms).toISOString();
}
