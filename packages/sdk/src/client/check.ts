import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { SluiceResponseError } from "./errors.ts";

/** What a value was and where it came from, for the message when it does not fit. */
export interface Received {
  readonly source: string;
  readonly status?: number;
}

/** The value as its schema's type; throws `SluiceResponseError` with the first place that does not fit. */
export function checkShape<T extends TSchema>(
  schema: T,
  value: unknown,
  received: Received,
): Static<T> {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  const place = first?.instancePath === "" ? "the answer" : (first?.instancePath ?? "the answer");
  throw new SluiceResponseError(
    received.source,
    `${place} ${first?.message ?? "has another shape"}`,
    received.status,
  );
}
