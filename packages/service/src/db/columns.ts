/**
 * The types of columns. `numeric` is read as a decimal string and converted to bigint in the stores, `bigint` as bigint, and
 * `timestamptz` as the wire's timestamp (`YYYY-MM-DDTHH:mm:ss.SSSZ`); see `pool.ts`.
 */
import type { ColumnType } from "kysely";

/** numeric(78,0): written as bigint or decimal string, read as decimal string. */
export type Numeric = ColumnType<string, bigint | string, bigint | string>;
export type NumericOrNull = ColumnType<
  string | null,
  bigint | string | null | undefined,
  bigint | string | null
>;
export type Int8 = ColumnType<bigint, bigint | number, bigint | number>;
export type Int8OrNull = ColumnType<
  bigint | null,
  bigint | number | null | undefined,
  bigint | number | null
>;
/** A wire timestamp. */
export type Stamp = string;
export type GeneratedStamp = ColumnType<string, string | undefined, string>;
export type Json<T> = ColumnType<T, string, string>;
export type JsonOrNull<T> = ColumnType<T | null, string | null | undefined, string | null>;
