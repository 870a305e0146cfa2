/**
 * Constants in the text of a statement instead of among its values. A plan that PostgreSQL keeps for all values uses an index
 * with a condition only where the text shows that the condition holds.
 */
import { type RawBuilder, sql } from "kysely";

/** Returns a constant of the code, such as a state, for the text of a statement. Never for a value from outside. */
export function literal<Value extends string>(value: Value): RawBuilder<Value> {
  return sql.lit(value);
}

/** Returns constants for a list in the text of a statement. */
export function literals<Value extends string>(values: readonly Value[]): RawBuilder<Value>[] {
  return values.map(literal);
}
