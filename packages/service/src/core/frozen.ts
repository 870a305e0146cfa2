import type { Secret } from "./secret.ts";

type Whole = string | number | bigint | boolean | null | undefined | Secret;

/** A deeply read-only type, for values that are created once. `Secret` and primitives stay as they are. */
export type Frozen<Value> = Value extends Whole
  ? Value
  : Value extends ReadonlyMap<infer Key, infer Item>
    ? ReadonlyMap<Key, Frozen<Item>>
    : { readonly [Name in keyof Value]: Frozen<Value[Name]> };
