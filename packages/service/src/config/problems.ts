/** What is wrong with a value, setting by setting, in the words of its schema. */
import {
  IsArray,
  IsLiteral,
  IsObject,
  IsRecord,
  IsUnion,
  type TLiteral,
  type TSchema,
} from "typebox";
import { Value } from "typebox/value";

/** A configuration that cannot be used; one problem a line, each naming a setting and what was expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** An option of a union whose alternatives are told apart by more than `kind`: lists the problems of a value itself. */
interface Discriminating {
  readonly listProblems: (value: unknown, setting: string) => string[];
}

/**
 * Every problem of a value, one line each: the setting by its path and what was expected there. Values are not repeated:
 * one may be a secret in the wrong place.
 */
export function listProblems(schema: TSchema, value: unknown, setting = ""): string[] {
  const fits: boolean = Value.Check(schema, value);
  if (fits) return [];
  if (IsUnion(schema) && isDiscriminating(schema) && isPlainObject(value)) {
    return schema.listProblems(value, setting);
  }
  if (IsUnion(schema)) return listUnionProblems(schema.anyOf, schema, value, setting);
  if (IsObject(schema) && isPlainObject(value)) {
    return listObjectProblems(schema.properties, schema.required ?? [], value, setting);
  }
  if (IsRecord(schema) && isPlainObject(value)) {
    return Object.entries(value).flatMap(([name, item]) => {
      const [pattern, of] = Object.entries(schema.patternProperties)[0] ?? ["", undefined];
      const at = join(setting, name);
      if (!of || !new RegExp(pattern).test(name)) return [expected(at, schema)];
      return listProblems(of, item, at);
    });
  }
  if (IsArray(schema) && Array.isArray(value) && value.length > 0) {
    return value.flatMap((item, index) => listProblems(schema.items, item, `${setting}[${index}]`));
  }
  return [expected(setting, schema)];
}

function listObjectProblems(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[],
  value: Readonly<Record<string, unknown>>,
  setting: string,
): string[] {
  const unknown = Object.keys(value)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `${join(setting, name)}: expected no such setting`);
  const known = Object.entries(properties).flatMap(([name, schema]) => {
    const at = join(setting, name);
    if (Object.hasOwn(value, name)) return listProblems(schema, value[name], at);
    return required.includes(name) ? [`${expected(at, schema)}, it is missing`] : [];
  });
  return [...known, ...unknown];
}

/**
 * Of alternatives that name themselves in `kind`, the one that is meant, and so of an object the only alternative that is
 * one; else the description of them all.
 */
function listUnionProblems(
  alternatives: readonly TSchema[],
  schema: TSchema,
  value: unknown,
  setting: string,
): string[] {
  const objects = alternatives.filter((alternative) => IsObject(alternative));
  const [only, ...others] = objects;
  if (only && others.length === 0 && isPlainObject(value)) {
    return listProblems(only, value, setting);
  }
  const kinds = alternatives.flatMap((alternative) => {
    const kind = IsObject(alternative) ? alternative.properties.kind : undefined;
    return IsLiteral(kind) ? [{ alternative, kind }] : [];
  });
  if (kinds.length === 0 || !isPlainObject(value)) return [expected(setting, schema)];
  const meant = kinds.find(({ kind }: { kind: TLiteral }) => kind.const === value.kind);
  if (meant) return listProblems(meant.alternative, value, setting);
  const names = kinds.map(({ kind }) => JSON.stringify(kind.const)).join(" or ");
  return [`${join(setting, "kind")}: expected ${names}`];
}

function expected(setting: string, schema: TSchema): string {
  const description =
    "description" in schema && typeof schema.description === "string"
      ? schema.description
      : "another value";
  return `${setting || "the file"}: expected ${description}`;
}

function join(setting: string, name: string): string {
  return setting ? `${setting}.${name}` : name;
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDiscriminating(schema: TSchema): schema is TSchema & Discriminating {
  return "listProblems" in schema && typeof schema.listProblems === "function";
}
