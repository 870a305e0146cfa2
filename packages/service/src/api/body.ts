/** Parses the JSON bodies of our own endpoints, which refuse unknown fields. */
import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";

/** Returns the body. An absent one is an empty object. @throws OperatingError VALIDATION_ERROR naming the field. */
export function parseBody<Schema extends TSchema>(
  schema: Schema,
  { body = {} }: FastifyRequest,
): Static<Schema> {
  if (Value.Check(schema, body)) return body;
  const [first] = Value.Errors(schema, body);
  const params: { requiredProperties?: string[]; additionalProperties?: string[] } = Object(
    first?.params,
  );
  const [named] = params.requiredProperties ?? params.additionalProperties ?? [];
  const place = first?.instancePath.replace(/^\//, "").split("/") ?? [];
  const path = [...place, named].filter((part) => part !== undefined && part !== "");
  const expected = params.additionalProperties
    ? "no such field"
    : (describe(schema, path) ?? "an object");
  throw invalid(path.join(".") || "body", expected);
}

/** Creates the VALIDATION_ERROR of a field: the expected value, not the one that was sent. */
export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}

/** Returns the description of the deepest field of a path that has one, which says what is expected. */
function describe(schema: TSchema, path: readonly (string | undefined)[]): string | undefined {
  let text: string | undefined;
  let at: unknown = schema;
  for (const name of path) {
    const properties: object = Object(Reflect.get(Object(at), "properties"));
    at =
      Reflect.get(Object(at), "items") ??
      (Object.hasOwn(properties, name ?? "") ? Reflect.get(properties, name ?? "") : undefined);
    const own: unknown = Reflect.get(Object(at), "description");
    if (typeof own === "string") text = own;
  }
  return text && text.charAt(0).toLowerCase() + text.slice(1);
}
