/**
 * Classes and codes of PostgreSQL, and of the driver's connection, that say nothing about what was asked: connection
 * lost (08), out of resources (53), ended by an operator or a timeout (57, 25P03, 25P04), serialisation failure and
 * deadlock (40).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const CLASSES = /^((08|40|53|57)[0-9A-Z]{3}|25P0[34])$/;
const CONNECTION = /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ETIMEDOUT)$/;
/** The driver has no code for these. */
const MESSAGES = /^(timeout exceeded when trying to connect|Connection terminated)/;

/** Whether an error is the database's trouble rather than an answer: what was asked may simply be asked again. */
export function isTransientDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return CLASSES.test(code) || CONNECTION.test(code) || MESSAGES.test(error.message);
}
