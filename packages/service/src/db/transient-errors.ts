/**
 * Error classes and codes of PostgreSQL that do not concern the statement itself: connection lost (08), insufficient
 * resources (53), ended by an operator or a timeout (57, 25P03, 25P04), serialization failure and deadlock (40).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const CLASSES = /^((08|40|53|57)[0-9A-Z]{3}|25P0[34])$/;
const CONNECTION = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT)$/;
/** Messages of driver errors without a code. */
const MESSAGES = /^(timeout exceeded when trying to connect|Connection terminated)/;

/** Returns whether a database error is transient, so that the same work can be repeated. */
export function isTransientDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return CLASSES.test(code) || CONNECTION.test(code) || MESSAGES.test(error.message);
}
