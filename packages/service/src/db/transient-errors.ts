import { isOutdatedStatement } from "./named-statements.ts";

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
  if (isOutdatedStatement(error)) return true;
  return CLASSES.test(code) || CONNECTION.test(code) || MESSAGES.test(error.message);
}

/** Returns whether the server ended a statement, for its time or for its wait for a lock. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

/** Returns whether a statement waited in vain for a connection of its pool. */
export function isPoolExhausted(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}
