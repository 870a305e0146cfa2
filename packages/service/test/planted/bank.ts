/** The bank of planted bugs: each is one real mistake, as replacements of text in the service, and what has to catch it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Bug {
  readonly name: string;
  /** What somebody got wrong, and what comes of it. */
  readonly mistake: string;
  /** Threats and invariants that it belongs to. */
  readonly threats: string;
  /** `simulation`, or the file of the service's unit test. */
  readonly by: string;
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** In the package of the service. */
  readonly file: string;
  /** Exact text that must be there once. */
  readonly find: string;
  readonly replace: string;
}

export const SERVICE_DIR = join(import.meta.dirname, "../..");

// CAST: the project's own file; an entry of another form cannot be planted.
export const BUGS = JSON.parse(
  readFileSync(join(import.meta.dirname, "bugs.json"), "utf8"),
) as readonly Bug[];

/** A source with a bug in it. Throws where its text is not there exactly once: the code has moved on, and the bug must. */
export function plant(source: string, { file, find, replace }: Edit, name: string): string {
  const parts = source.split(find);
  if (parts.length !== 2) {
    throw new Error(
      `"${name}": expected its text once in ${file}, found it ${parts.length - 1} times`,
    );
  }
  return parts.join(replace);
}
