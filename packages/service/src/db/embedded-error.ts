import { OperatingError } from "../core/errors.ts";

/** The embedded server cannot be had here; one's own is always the way out. */
export function unusable(what: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `The embedded PostgreSQL cannot be used: ${what}. Set DATABASE_URL to use a server of your own.`,
    { cause },
  );
}
