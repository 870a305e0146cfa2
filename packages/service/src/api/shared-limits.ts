/**
 * Rate limits that several processes count together, in PostgreSQL. A refusal is remembered until its window ends, so that a
 * refused subject costs no further statement. If the database fails, the request fails as it would at its next statement.
 */
import { sql } from "kysely";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import {
  type Allowance,
  RATE_WINDOW_MS,
  type RateLimiter,
  type RateLimits,
} from "./rate-limits.ts";

/** Refused subjects that a process remembers. */
const REFUSED_MAX = 100_000;

interface Counted {
  readonly count: number;
  readonly leftMs: number;
}

/** Creates a limiter over the counts of the database. */
export function createSharedLimiter(
  limits: RateLimits,
  { db, clock }: { readonly db: Db; readonly clock: Clock },
): RateLimiter {
  /** Ends of the windows of refused subjects, by limit and subject. */
  const refused = new Map<string, number>();

  function describe(name: keyof RateLimits, { count, leftMs }: Counted, taken = 0): Allowance {
    const limit = limits[name];
    return {
      name,
      limit,
      remaining: Math.max(0, limit - count),
      resetS: Math.max(1, Math.ceil(leftMs / 1000)),
      isExceeded: count > limit,
      isFirstExceeded: count > limit && count - taken <= limit,
    };
  }

  /** Returns the allowance of a subject that was refused in this window. */
  function recall(name: keyof RateLimits, subject: string): Allowance | undefined {
    const key = `${name} ${subject}`;
    const leftMs = (refused.get(key) ?? 0) - clock.now();
    if (leftMs > 0) {
      return describe(name, { count: limits[name] + 1, leftMs });
    }
    refused.delete(key);
    return undefined;
  }

  function remember(name: keyof RateLimits, subject: string, leftMs: number): void {
    const [oldest] = refused.keys();
    if (refused.size >= REFUSED_MAX && oldest !== undefined) refused.delete(oldest);
    refused.set(`${name} ${subject}`, clock.now() + leftMs);
  }

  return {
    async take(name, subject, taken = 1) {
      const known = recall(name, subject);
      if (known) return known;
      const counted = await count(db, { name, subject, taken });
      const allowance = describe(name, counted, taken);
      if (allowance.isExceeded) remember(name, subject, counted.leftMs);
      return allowance;
    },
    async peek(name, subject) {
      const known = recall(name, subject);
      if (known) return known;
      const counted = await read(db, name, subject);
      const allowance = describe(name, counted);
      const isExceeded = allowance.remaining === 0;
      if (isExceeded) remember(name, subject, counted.leftMs);
      return { ...allowance, isExceeded };
    },
  };
}

/** Deletes the counts of windows that have ended. */
export async function deleteEndedWindows(db: Db): Promise<void> {
  await db
    .deleteFrom("rate_limits")
    .where("until", "<=", sql<string>`clock_timestamp()`)
    .execute();
}

const LEFT_MS = sql<number>`(extract(epoch from until - clock_timestamp()) * 1000)::float8`;

async function count(
  db: Db,
  {
    name,
    subject,
    taken,
  }: Readonly<Record<"name" | "subject", string>> & { readonly taken: number },
): Promise<Counted> {
  const until = sql<string>`clock_timestamp() + ${RATE_WINDOW_MS} * interval '1 millisecond'`;
  const isOver = sql<boolean>`rate_limits.until <= clock_timestamp()`;
  const row = await db
    .insertInto("rate_limits")
    .values({ name, subject, count: taken, until })
    .onConflict((conflict) =>
      conflict.columns(["name", "subject"]).doUpdateSet({
        count: sql<number>`case when ${isOver} then excluded.count else rate_limits.count + excluded.count end`,
        until: sql<string>`case when ${isOver} then excluded.until else rate_limits.until end`,
      }),
    )
    .returning(["count", LEFT_MS.as("leftMs")])
    .executeTakeFirstOrThrow();
  return row;
}

async function read(db: Db, name: string, subject: string): Promise<Counted> {
  const row = await db
    .selectFrom("rate_limits")
    .select(["count", LEFT_MS.as("leftMs")])
    .where("name", "=", name)
    .where("subject", "=", subject)
    .where("until", ">", sql<string>`clock_timestamp()`)
    .executeTakeFirst();
  return row ?? { count: 0, leftMs: RATE_WINDOW_MS };
}
