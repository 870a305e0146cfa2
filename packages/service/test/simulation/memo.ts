/**
 * Remembers answers of the database that cannot have changed. Only the run writes to its database, so a query is sent again
 * only after a write to a table that it names. Polls mostly find the same rows as before, and round trips to the database
 * take most of the time of a run.
 */

/** Facts about a database's schema. */
export interface Schema {
  readonly tables: readonly string[];
  /** Tables whose writes change other tables, by a trigger or a cascading foreign key. */
  readonly followed: ReadonlySet<string>;
  /** Functions with side effects, or with results that vary. */
  readonly volatile: ReadonlySet<string>;
}

export interface Answer {
  readonly command: string;
  readonly rowCount: number | null;
  readonly rows: object[];
}

type Statement =
  | { readonly kind: "question"; readonly tables: readonly string[] }
  | { readonly kind: "change"; readonly table: string }
  /** A statement that may change anything, whatever row count it returns. */
  | { readonly kind: "deed" };

const DEED = { kind: "deed" } as const;

interface Entry {
  readonly answer: Answer;
  readonly tables: readonly string[];
  readonly asOf: number;
}

export class Memo {
  readonly #schema: Schema;
  readonly #mentions: RegExp;
  readonly #statements = new Map<string, Statement>();
  readonly #entries = new Map<string, Entry>();
  /** Counts writes; keeps the last one per table, and of all tables. */
  #changes = 0;
  #lastOfAll = 0;
  readonly #lastOf = new Map<string, number>();

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#mentions = new RegExp(String.raw`\b(?:${schema.tables.join("|")})\b`, "g");
  }

  /** Returns the remembered answer, or null if the database must be queried. */
  recall(text: string, values: readonly unknown[]): Answer | null {
    const statement = this.#statementOf(text);
    if (statement.kind !== "question") return null;
    const known = this.#entries.get(keyOf(text, values));
    if (!known || known.asOf < this.#lastOfAll) return null;
    if (known.tables.some((table) => known.asOf < (this.#lastOf.get(table) ?? 0))) return null;
    return copyOf(known.answer);
  }

  /** Remembers an answer of the database. */
  note(text: string, values: readonly unknown[], answer: Answer): void {
    const statement = this.#statementOf(text);
    if (statement.kind === "question") {
      const { tables } = statement;
      const entry = { answer: copyOf(answer), tables, asOf: this.#changes };
      this.#entries.set(keyOf(text, values), entry);
    } else if (statement.kind === "deed") {
      this.forget();
    } else if (answer.rowCount !== 0) {
      if (this.#schema.followed.has(statement.table)) return this.forget();
      this.#changes += 1;
      this.#lastOf.set(statement.table, this.#changes);
    }
  }

  /** Invalidates every remembered answer. */
  forget(): void {
    this.#changes += 1;
    this.#lastOfAll = this.#changes;
  }

  #statementOf(text: string): Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const statement = this.#read(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #read(text: string): Statement {
    // The one connection never waits for its own locks.
    if (/^\s*select pg_advisory_xact_lock/i.test(text)) return { kind: "question", tables: [] };
    if (/^\s*select\b/i.test(text)) {
      const calls = [...text.matchAll(/\b([a-z_]\w*)\s*\(/gi)].map(([, name = ""]) => name);
      if (calls.some((name) => this.#schema.volatile.has(name.toLowerCase()))) return DEED;
      return { kind: "question", tables: [...new Set(text.match(this.#mentions))] };
    }
    const table = /^\s*(?:insert into|update|delete from) "(\w+)"/i.exec(text)?.[1];
    return table === undefined ? DEED : { kind: "change", table };
  }
}

function keyOf(text: string, values: readonly unknown[]): string {
  const shown = JSON.stringify(values, (_, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
  return `${text}\n${shown}`;
}

/** Copies rows, since callers may keep and change them. */
function copyOf({ command, rowCount, rows }: Answer): Answer {
  return { command, rowCount, rows: rows.map((row) => ({ ...row })) };
}
