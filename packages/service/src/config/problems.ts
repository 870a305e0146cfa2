/** Lists the problems of a value by setting, with the descriptions of its schema. */
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

/** An invalid configuration. Each line is one problem: a setting and the expected value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** A schema that lists the problems of a value itself, because `kind` does not distinguish its alternatives. */
interface Discriminating {
  readonly listProblems: (value: unknown, setting: string) => string[];
}

/**
 * Returns every problem of a value, one line each: the path of the setting and the expected value. Does not repeat the
 * value, which may be a misplaced secret.
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

/** Lists the problems of an object's settings, then the settings that do not exist: mostly typing errors. */
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
 * Lists the problems of a value of a union. For an object, uses the alternative with its `kind`, or the only
 * alternative that is an object; otherwise returns one problem with the description of the union.
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

/** Returns the line of a problem. The description of a schema completes "expected". */
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
