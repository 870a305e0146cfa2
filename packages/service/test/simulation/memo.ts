/**
 * Answers of the database that cannot have changed. Nobody else writes to the database of a run, so a question is put to
 * it again only once a table that it names was written to; loops that look for work mostly find what they found before,
 * and the way to the database is most of the time of a run.
 */

/** What is known of a database, apart from its rows. */
export interface Schema {
  readonly tables: readonly string[];
  /** Tables whose changes change others: by a trigger, or by a key that others follow. */
  readonly followed: ReadonlySet<string>;
  /** Functions that do something, or that do not always say the same. */
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
  /** It may change anything, whatever it says of rows. */
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
  /** Counts changes; of each table, and of all, the last. */
  #changes = 0;
  #lastOfAll = 0;
  readonly #lastOf = new Map<string, number>();

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#mentions = new RegExp(String.raw`\b(?:${schema.tables.join("|")})\b`, "g");
  }

  /** What the database would say, or null where it has to be asked. */
  recall(text: string, values: readonly unknown[]): Answer | null {
    const statement = this.#statementOf(text);
    if (statement.kind !== "question") return null;
    const known = this.#entries.get(keyOf(text, values));
    if (!known || known.asOf < this.#lastOfAll) return null;
    if (known.tables.some((table) => known.asOf < (this.#lastOf.get(table) ?? 0))) return null;
    return copyOf(known.answer);
  }

  /** Notes what the database said. */
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

  /** Whatever was known may be otherwise now. */
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
    // One connection never waits for itself.
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

/** Whoever gets rows may keep them and change them. */
function copyOf({ command, rowCount, rows }: Answer): Answer {
  return { command, rowCount, rows: rows.map((row) => ({ ...row })) };
}
