/**
 * Statements that are built and compiled once for each form, which takes as long as the rest of a short read. A form is the
 * set of the values that are given: a filter that is absent has no condition in the text.
 */
import { type Compilable, type CompiledQuery, type Expression, sql } from "kysely";
import { assert } from "../core/assert.ts";
import type { Db, Tx } from "./schema.ts";

/** The place of a value in a compiled statement. */
class Place {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** For each given value an expression, whose type lets a builder do nothing but pass it to the statement. */
export type Places<Values> = {
  readonly [Name in keyof Values]:
    | Expression<Exclude<Values[Name], undefined>>
    | Extract<Values[Name], undefined>;
};

/**
 * Returns a read whose statement is built once per form. `build` gets the places of the given values; those that are undefined
 * are absent. It passes each to the statement, once or more; a list of values is one array, for `any(…)`.
 */
export function compileOnce<Values extends object, Row>(
  build: (db: Db | Tx, places: Places<Values>) => Compilable<Row>,
): (db: Db | Tx, values: Values) => Promise<Row[]> {
  const forms = new Map<string, CompiledQuery<Row>>();

  function compile(db: Db | Tx, names: readonly string[]): CompiledQuery<Row> {
    const places = names.map((name) => [name, new Place(name)] as const);
    const expressions = places.map(([name, place]) => [name, sql.val(place)]);
    // CAST: the names are those of the values.
    const compiled = build(db, Object.fromEntries(expressions) as Places<Values>).compile();
    for (const [name, place] of places) {
      assert(compiled.parameters.includes(place), `the statement uses the value ${name}`);
    }
    return compiled;
  }

  return async (db, values) => {
    const given = new Map(Object.entries(values).filter(([, value]) => value !== undefined));
    const names = [...given.keys()].toSorted();
    const form = names.join();
    const compiled = forms.get(form) ?? compile(db, names);
    forms.set(form, compiled);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Place ? given.get(parameter.name) : parameter,
    );
    const { rows } = await db.executeQuery<Row>({ ...compiled, parameters });
    return rows;
  };
}
