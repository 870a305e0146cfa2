import { expect, test } from "vitest";
import { silentLog } from "../../test/support/doubles.ts";
import type { Config, PoolName } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import { API_PARTS } from "./api.ts";
import { ATTESTOR_PARTS } from "./attestor.ts";
import { AUDITOR_PARTS } from "./auditor.ts";
import { type RoleContext, takeParts } from "./context.ts";
import type { Health } from "./health.ts";
import { createParts } from "./parts.ts";
import { QUOTER_PARTS } from "./quoter.ts";
import { SCANNER_PARTS } from "./scanner.ts";
import { SETTLER_PARTS } from "./settler.ts";

const MADE_ON_USE: readonly (keyof RoleContext)[] = ["chains", "prices", "routes", "attestations"];

// CAST: no statement is run.
const OPEN = {} as Db;

/** Parts of a process that can open nothing: each use throws. */
function createClosedParts(dbOf: (pool: PoolName) => Db = () => OPEN): RoleContext {
  const refuse = () => {
    throw new Error("opened");
  };
  const closed = new Proxy({}, { get: (_, name) => (name === "crashAt" ? undefined : refuse()) });
  return createParts({
    // CAST: no setting is read before a part is taken.
    config: closed as Config,
    dbOf,
    log: silentLog,
    health: {} as Health,
    wakeups: {} as Wakeups,
    lanes: undefined,
    findVault: undefined,
  })("api");
}

test("does not create readers, prices, routes and the bridge client before a role takes them", () => {
  const parts = createClosedParts();
  expect(Object.keys(takeParts(parts, API_PARTS))).toEqual([...API_PARTS]);
  expect(Object.keys(takeParts(parts, ATTESTOR_PARTS))).toEqual([...ATTESTOR_PARTS]);
  for (const name of MADE_ON_USE) expect(() => parts[name]).toThrow("opened");
});

test("each role takes only the readers that it uses", () => {
  const taken = (names: readonly (keyof RoleContext)[]) =>
    MADE_ON_USE.filter((name) => names.includes(name));
  expect(taken(API_PARTS)).toEqual([]);
  expect(taken(ATTESTOR_PARTS)).toEqual([]);
  expect(taken(AUDITOR_PARTS)).toEqual(["chains"]);
  expect(taken(SCANNER_PARTS)).toEqual(["chains", "prices", "routes"]);
  expect(taken(QUOTER_PARTS)).toEqual(["chains", "prices", "routes"]);
  expect(taken(SETTLER_PARTS)).toEqual(["chains", "prices", "routes", "attestations"]);
});

test("the API, which outlasts its parts, has the wake-ups of the process and none of theirs [T303]", () => {
  // Those of parts end when the configuration is read again; its stream would find events by polling alone.
  expect(API_PARTS).not.toContain("wakeups");
});

test("each role reads and writes over the connections of its own pool [T178]", () => {
  const asked: PoolName[] = [];
  const parts = createClosedParts((pool) => {
    asked.push(pool);
    return OPEN;
  });
  expect(asked).toEqual(["shared", "api"]);
  expect(parts.streamDb).toBe(OPEN);
  expect(asked.at(-1)).toBe("stream");
});
