/** The bank of planted bugs: each is one realistic mistake as text replacements, with the test that must catch it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Bug {
  readonly name: string;
  /** The mistake and its consequence. */
  readonly mistake: string;
  /** Ids of the threats and invariants that it violates. */
  readonly threats: string;
  /** `simulation`, or the file of the service's unit test. */
  readonly by: string;
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Path within the service's package. */
  readonly file: string;
  /** Exact text, which must occur once. */
  readonly find: string;
  readonly replace: string;
}

export const SERVICE_DIR = join(import.meta.dirname, "../..");

// CAST: the project's own file; planting fails for an entry of another form.
export const BUGS = JSON.parse(
  readFileSync(join(import.meta.dirname, "bugs.json"), "utf8"),
) as readonly Bug[];

/** Returns a source with a bug in it. Throws unless the text occurs exactly once; then the bug must follow the changed code. */
export function plant(source: string, { file, find, replace }: Edit, name: string): string {
  const parts = source.split(find);
  if (parts.length !== 2) {
    throw new Error(
      `"${name}": expected its text once in ${file}, found it ${parts.length - 1} times`,
    );
  }
  return parts.join(replace);
}
