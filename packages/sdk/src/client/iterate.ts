/** Iteration over the pages of a list. */
import { SluiceResponseError } from "./errors.ts";

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Reads pages until the cursor is null. Throws if the cursor does not advance, which would loop endlessly. */
export async function* iterate<T>(
  source: string,
  start: string | undefined,
  load: (cursor: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let cursor = start;
  for (;;) {
    const page = await load(cursor);
    yield* page.items;
    if (page.nextCursor === null) return;
    if (page.nextCursor === cursor) {
      throw new SluiceResponseError(source, `nextCursor ${cursor} did not advance`);
    }
    cursor = page.nextCursor;
  }
}
