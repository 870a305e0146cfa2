import type { Secret } from "./secret.ts";

type Whole = string | number | bigint | boolean | null | undefined | Secret;

/** A type derived from a value that is made once and then only read: nothing in it can be assigned, at any depth. */
export type Frozen<Value> = Value extends Whole
  ? Value
  : Value extends ReadonlyMap<infer Key, infer Item>
    ? ReadonlyMap<Key, Frozen<Item>>
    : { readonly [Name in keyof Value]: Frozen<Value[Name]> };
