/** Errors as the command line shows them: a line for people, an object with `--json`, and an exit code. */
import { ConfigError } from "../config/index.ts";
import { OperatingError, toErrorObject } from "../core/errors.ts";

/** Exit codes of the program. */
export const EXIT = { ok: 0, failed: 1 } as const;

/** The command line itself cannot be used: unknown command or option, missing or unusable value. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An error as `--json` prints it, under `error`. */
export interface ShownError {
  readonly code: string;
  readonly message: string;
  /** Only of a configuration that cannot be used: every reason. */
  readonly problems?: readonly string[];
  /** Only of an operating error: whether the same command may succeed later. */
  readonly retryable?: boolean;
  readonly details?: object;
}

/** One line per problem; the stack only of a bug. */
export function formatFailure(error: unknown): string {
  if (isExpected(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The same for programs. */
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
