/** The wire's schemas as named JSON Schemas that refer to each other. */
import type { TSchema } from "typebox";
import * as wire from "../wire/index.ts";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const NAMED = new Map<string, TSchema>(
  Object.values(wire).flatMap((value) => (isNamed(value) ? [[value.$id, value]] : [])),
);

/** Every schema with a name, by it. */
export function listSchemas(): Readonly<Record<string, JsonSchema>> {
  const names = [...NAMED.keys()].toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const { $id: _, ...schema } = toJson(NAMED.get(name));
      return [name, asObject(refer(schema))];
    }),
  );
}

/** A schema where it is used: by its name if it has one. */
export function schemaOf(schema: TSchema): JsonSchema {
  return asObject(refer(toJson(schema)));
}

/** Puts references in the place of schemas that have a name. */
function refer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refer);
  if (typeof value !== "object" || value === null) return value;
  if ("$id" in value && typeof value.$id === "string") {
    return { $ref: `#/components/schemas/${value.$id}` };
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, refer(item)]));
}

/** Plain data: what the library knows beside it is not serialised. */
function toJson(schema: unknown): Readonly<Record<string, unknown>> {
  return asObject(JSON.parse(JSON.stringify(schema)));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new TypeError("a schema is an object");
}

function isNamed(value: unknown): value is TSchema & { readonly $id: string } {
  return (
    typeof value === "object" && value !== null && "$id" in value && typeof value.$id === "string"
  );
}
