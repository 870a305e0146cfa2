import { OperatingError } from "../core/errors.ts";

/** Refuses a field of a request. */
export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
