/** Formats errors of the command line: a line for people, an object with `--json`, and an exit code. */
import { ConfigError } from "../config/index.ts";
import { OperatingError, toErrorObject } from "../core/errors.ts";

/** Exit codes of the program. With `unusable`, the same command fails until its arguments or the configuration change. */
export const EXIT = { ok: 0, failed: 1, unusable: 2 } as const;

/** An invalid command line: unknown command or option, missing or invalid value. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An error as `--json` prints it, under `error`. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  /** Every problem; only for an invalid configuration. */
  readonly problems?: readonly string[];
  /** Whether the same command may succeed later; only for an operating error. */
  readonly retryable?: boolean;
  readonly details?: object;
}

/** Formats an error for people, one line per problem. Only a bug shows its stack. */
export function formatFailure(error: unknown): string {
  if (isExpected(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Returns the exit code of a command that ended with an error. */
export function exitCodeOf(error: unknown): number {
  const isUnusable = error instanceof UsageError || error instanceof ConfigError;
  return isUnusable ? EXIT.unusable : EXIT.failed;
}

/** Returns an error as `--json` prints it. */
export function describeFailure(error: unknown): ShownError {
  if (error instanceof OperatingError) return toErrorObject(error);
  if (error instanceof UsageError) return { code: "USAGE_ERROR", message: error.message };
  if (error instanceof ConfigError) {
    const { message, problems } = error;
    return { code: "CONFIG_INVALID", message, problems };
  }
  return { code: "INTERNAL", message: formatFailure(error) };
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof OperatingError || error instanceof ConfigError || error instanceof UsageError
  );
}
