/**
 * Statements that many callers share: the calls of one turn of the event loop are sent as one. A poll works on its rows at the
 * same time, so that they cost as many statements as one row. Nothing is remembered: each call is answered by a statement
 * that is sent after it. In a transaction each call is a statement of its own, unless `shareStatements` says otherwise.
 */
import DataLoader from "dataloader";
import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "./schema.ts";
import { isTransientDatabaseError } from "./transient-errors.ts";

/** Keys of one statement. */
const KEYS_MAX = 200;

/** Decides when the calls of a turn are sent. */
type Schedule = (send: () => void) => void;

/** After all that is ready now, so that answers which came together lead to one statement. */
const sendAfterThisTurn: Schedule = (send) => void setImmediate(send);

const schedules = new WeakMap<Db, Schedule>();

/** Replaces the schedule of a database, where the order of everything is decided elsewhere. */
export function scheduleGathered(db: Db, schedule: Schedule): void {
  schedules.set(db, schedule);
}

const sharing = new WeakSet<Db>();

/**
 * Has the calls of a turn in this transaction share statements too. A statement that fails ends the transaction, so that none
 * is repeated alone there.
 */
export function shareStatements(tx: Tx): void {
  sharing.add(tx);
}

/**
 * Returns a read of one row by its key, null without one, from a read of many rows. `parse` is called for each row by itself:
 * a malformed one fails no other.
 */
export function gather<Key extends string, Row, Value>(
  readMany: (db: Db | Tx, keys: readonly Key[]) => Promise<readonly (readonly [string, Row])[]>,
  parse: (row: Row) => Value,
): (db: Db | Tx, key: Key) => Promise<Value | null> {
  const loadRow = gatherCalls(async (db, keys: readonly Key[]) => {
    const rows = new Map(await readMany(db, [...new Set(keys)]));
    return keys.map((key) => rows.get(key));
  });
  return async (db, key) => {
    const row = await loadRow(db, key);
    return row === undefined ? null : parse(row);
  };
}

/** Returns a read of the rows of a key, in the order of the statement, from a read of the rows of many keys. */
export function gatherLists<Key extends string, Row, Value>(
  readMany: (db: Db | Tx, keys: readonly Key[]) => Promise<readonly (readonly [string, Row])[]>,
  parse: (row: Row) => Value,
): (db: Db | Tx, key: Key) => Promise<Value[]> {
  const loadRows = gatherCalls(async (db, keys: readonly Key[]) => {
    const rows = Map.groupBy(await readMany(db, [...new Set(keys)]), ([key]) => key);
    return keys.map((key) => rows.get(key) ?? []);
  });
  return async (db, key) => (await loadRows(db, key)).map(([, row]) => parse(row));
}

/** A token in a wallet, as the columns of many tables name it. */
export interface HoldingKey {
  readonly chainId: number;
  readonly wallet: string;
  readonly token: string;
}

/** Returns holdings as rows: `held (chain_id, wallet, token, place)`. */
export function eachOf(holdings: readonly HoldingKey[]): RawBuilder<unknown> {
  return sql`unnest(
    ${holdings.map(({ chainId }) => chainId)}::integer[], ${holdings.map(({ wallet }) => wallet)}::text[],
    ${holdings.map(({ token }) => token)}::text[]
  ) with ordinality as held (chain_id, wallet, token, place)`;
}

/** Returns a write of one value by its key from a write of many. Of several values of a key the last is written. */
export function gatherWrites<Key extends string, Value>(
  writeMany: (db: Db | Tx, values: ReadonlyMap<Key, Value>) => Promise<void>,
): (db: Db | Tx, key: Key, value: Value) => Promise<void> {
  const write = gatherCalls(async (db, entries: readonly (readonly [Key, Value])[]) => {
    await writeMany(db, new Map(entries));
    return entries.map(() => undefined);
  });
  return (db, key, value) => write(db, [key, value]);
}

/**
 * Runs work for all items at once. If it fails for a reason that may be about one of them, runs it for each alone, and throws
 * the first error after all of them.
 */
export async function allOrEach<Item>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<void>,
): Promise<void> {
  try {
    if (items.length > 0) await work(items);
  } catch (error) {
    if (items.length === 1 || isTransientDatabaseError(error)) throw error;
    const errors: unknown[] = [];
    for (const item of items) await work([item]).catch((own: unknown) => errors.push(own));
    if (errors.length > 0) throw errors[0];
  }
}

/**
 * Returns a call with one argument from one with many, which returns a result for each in order. If the shared call fails for a
 * reason that may be about one of the arguments, each is called alone, so that it fails no other.
 */
export function gatherCalls<Arg, Result>(
  callMany: (db: Db | Tx, args: readonly Arg[]) => Promise<Result[]>,
): (db: Db | Tx, arg: Arg) => Promise<Result> {
  const loaders = new WeakMap<Db, DataLoader<Arg, Result>>();

  async function callOne(db: Db | Tx, arg: Arg): Promise<Result> {
    const [result] = await callMany(db, [arg]);
    // CAST: one argument has one result, which may be undefined.
    return result as Result;
  }

  async function callAll(db: Db, args: readonly Arg[]): Promise<(Result | Error)[]> {
    try {
      return await callMany(db, args);
    } catch (error) {
      if (args.length === 1 || isTransientDatabaseError(error)) throw error;
      const alone = await Promise.allSettled(args.map((arg) => callOne(db, arg)));
      return alone.map((one) => {
        if (one.status === "fulfilled") return one.value;
        return one.reason instanceof Error ? one.reason : new Error(String(one.reason));
      });
    }
  }

  return async (db, arg) => {
    if (db.isTransaction && !sharing.has(db)) return callOne(db, arg);
    let loader = loaders.get(db);
    if (!loader) {
      const options = { cache: false, maxBatchSize: KEYS_MAX };
      loader = db.isTransaction
        ? new DataLoader<Arg, Result>((args) => callMany(db, args), options)
        : new DataLoader<Arg, Result>((args) => callAll(db, args), {
            ...options,
            batchScheduleFn: schedules.get(db) ?? sendAfterThisTurn,
          });
      loaders.set(db, loader);
    }
    return loader.load(arg);
  };
}
