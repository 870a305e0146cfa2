import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { SluiceResponseError } from "./errors.ts";

/** The origin of a value, for the error message. */
interface Received {
  readonly source: string;
  readonly status?: number;
}

/** Returns the value as its schema's type. Throws `SluiceResponseError` with the first path that does not match. */
export function checkShape<T extends TSchema>(
  schema: T,
  value: unknown,
  received: Received,
): Static<T> {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  const path = first?.instancePath || "the response";
  throw new SluiceResponseError(
    received.source,
    `${path} ${first?.message ?? "does not match the schema"}`,
    received.status,
  );
}
