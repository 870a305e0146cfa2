/**
 * Reads the files of `migrations/`. A file is applied in a transaction, unless it ends with `.concurrent.sql`: then it
 * creates and drops indexes `concurrently`, which PostgreSQL refuses in a transaction.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export const MIGRATIONS_FOLDER = join(import.meta.dirname, "../../migrations");

/** The newest migration of the first release. Its processes apply and expect exactly the migrations up to this one. */
export const FIRST_RELEASE = "0022-route-sets";

export interface MigrationFile {
  /** Such as `0001-initial`. */
  readonly name: string;
  readonly isConcurrent: boolean;
  readonly text: string;
  /** The newest migration of the oldest release whose processes work with the schema from this migration on. */
  readonly compatibleFrom: string;
}

const CONCURRENT = ".concurrent.sql";
const COMPATIBLE = /^-- compatible-from: (\S+)$/m;

/** Returns the migrations of this version in the order in which they are applied. */
export async function readMigrations(folder: string): Promise<readonly MigrationFile[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql"));
  const migrations = await Promise.all(
    files.map(async (file): Promise<MigrationFile> => {
      const text = await readFile(join(folder, file), "utf8");
      return {
        name: file.replace(/(\.concurrent)?\.sql$/, ""),
        isConcurrent: file.endsWith(CONCURRENT),
        text,
        compatibleFrom: COMPATIBLE.exec(text)?.[1] ?? FIRST_RELEASE,
      };
    }),
  );
  return migrations.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** An index of a concurrent migration. */
export interface IndexStatement {
  readonly kind: "create" | "drop";
  readonly index: string;
  readonly text: string;
}

const INDEX = /^(?:create (?:unique )?index|drop index) concurrently(?: if exists)? (\w+)/i;

/**
 * Returns the statements of a concurrent migration. Only indexes are allowed, since each statement commits by itself and
 * is repeated after a crash.
 */
export function parseIndexStatements({ name, text }: MigrationFile): readonly IndexStatement[] {
  const statements = text
    .replace(/--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
  return statements.map((statement) => {
    const index = INDEX.exec(statement)?.[1]?.toLowerCase();
    if (index === undefined) {
      throw new RangeError(
        `${name}: expected "create index concurrently" or "drop index concurrently", found ${statement}`,
      );
    }
    return { kind: /^create/i.test(statement) ? "create" : "drop", index, text: statement };
  });
}
