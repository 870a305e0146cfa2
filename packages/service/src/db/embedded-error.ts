import { OperatingError } from "../core/errors.ts";

/** Returns the error of an unusable embedded server. The message names the alternative, DATABASE_URL. */
export function unusable(what: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `The embedded PostgreSQL cannot be used: ${what}. Set DATABASE_URL to use a server of your own.`,
    { cause },
  );
}
