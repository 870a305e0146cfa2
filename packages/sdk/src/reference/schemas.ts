/** Converts the interface's schemas to named JSON Schemas that refer to each other. */
import type { TSchema } from "typebox";
import * as wire from "../wire/index.ts";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const NAMED = new Map<string, TSchema>(
  Object.values(wire).flatMap((value) => (isNamed(value) ? [[value.$id, value]] : [])),
);

/** Returns every named schema by its name. */
export function listSchemas(): Readonly<Record<string, JsonSchema>> {
  const names = [...NAMED.keys()].toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const { $id: _, ...schema } = toJson(NAMED.get(name));
      return [name, asObject(replaceNamed(schema))];
    }),
  );
}

/** Returns a schema for use in a document: a reference if it has a name. */
export function schemaOf(schema: TSchema): JsonSchema {
  return asObject(replaceNamed(toJson(schema)));
}

/** Replaces named schemas by references. */
function replaceNamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceNamed);
  if (typeof value !== "object" || value === null) return value;
  if ("$id" in value && typeof value.$id === "string") {
    return { $ref: `#/components/schemas/${value.$id}` };
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, replaceNamed(item)]),
  );
}

/** Converts a schema to plain JSON, without typebox's internal properties. */
function toJson(schema: unknown): Readonly<Record<string, unknown>> {
  return asObject(JSON.parse(JSON.stringify(schema)));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw new TypeError(`expected a schema object, got ${typeof value}`);
}

function isNamed(value: unknown): value is TSchema & { readonly $id: string } {
  return (
    typeof value === "object" && value !== null && "$id" in value && typeof value.$id === "string"
  );
}
