/** The error of an invalid request field: names the field and the expected form, and does not repeat the value. */
import { OperatingError } from "../core/errors.ts";

/** Creates the VALIDATION_ERROR of a request field. */
export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
