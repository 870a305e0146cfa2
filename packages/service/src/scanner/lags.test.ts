/** Lags by minute: the most of each counts, in spans, until they are too old to be drawn. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { listLags, recordLag } from "./lags.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("the most of a minute and of a span is kept, by chain", async () => {
  const { db } = database;
  const record = (chainId: number, minute: number, blocks: bigint) =>
    recordLag(db, { chainId, blocks, nowMs: START_MS + minute * MINUTE_MS + 20_000 });
  await record(2, 0, 3n);
  await record(2, 0, 7n);
  await record(2, 0, 1n);
  await record(2, 1, 2n);
  await record(2, 5, 0n);
  await record(30, 5, 90n);
  const read = async () =>
    (await listLags(db, { fromMs: START_MS, spanMs: 5 * MINUTE_MS })).toSorted(
      (a, b) => a.place - b.place || a.chainId - b.chainId,
    );
  expect(await read()).toEqual([
    { place: 0, chainId: 2, blocks: 7 },
    { place: 1, chainId: 2, blocks: 0 },
    { place: 1, chainId: 30, blocks: 90 },
  ]);
  await record(2, 31 * 24 * 60 + 4, 4n);
  expect((await read()).filter(({ place }) => place < 2)).toEqual([
    { place: 1, chainId: 2, blocks: 0 },
    { place: 1, chainId: 30, blocks: 90 },
  ]);
});
