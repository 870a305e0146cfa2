/** The watch on a real database, over a chain whose changes the test writes. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
} from "../../test/support/doubles.ts";
import type { GovernanceChange, GovernedRole } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress, toTxHash } from "../core/hex.ts";
import { createGovernanceWatch, listUnexpected, readStanding, type WatchDeps } from "./watch.ts";
import { expectChange } from "./store.ts";

const accountOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const FACTORY = accountOf("fa");
const ROUTE = accountOf("70");
const ATTESTOR = accountOf("a7");
const TREASURY = accountOf("7e");
const RELAYER = accountOf("1a");
const CLAIMER = accountOf("c1");
const STRANGER = accountOf("5e");
const TOKEN = accountOf("dc");

const NOW_S = 10_000_000n;
const DAY_S = 86_400n;
const DELAY_S = 7n * DAY_S;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const lanes = [
    { chain_id: 2, address: RELAYER, purpose: "settle", next_nonce: 0 },
    { chain_id: 2, address: CLAIMER, purpose: "claim", next_nonce: 0 },
  ];
  await database.db.insertInto("lanes").values(lanes).execute();
});
afterEach(async () => {
  await database.db.deleteFrom("governance_changes").execute();
  await database.db.deleteFrom("governance_watches").execute();
});
afterAll(async () => {
  await database.drop();
});

// CAST: the watch reads no other field of a route.
const route = { chainId: 2, contract: ROUTE } as WatchDeps["config"]["routes"][number];
const config: WatchDeps["config"] = {
  chains: [],
  routes: [route],
  attestors: { threshold: 2, accounts: [ATTESTOR], cold: [], databaseUsers: [] },
  deployment: {
    owner: accountOf("01"),
    guardian: accountOf("02"),
    treasury: TREASURY,
    hasTreasuryContract: false,
    feeRecipient: TREASURY,
    delaySeconds: Number(DELAY_S),
    payoutWindowSeconds: 43_200,
    securityContact: undefined,
  },
};

type Given = Pick<GovernanceChange, "role" | "step"> & Partial<GovernanceChange>;

/** Opens a watch of a chain with these changes, one in each block from 100 on. */
function open(given: readonly Given[], more: { readonly blocksMax?: bigint } = {}) {
  const changes = given.map((change, index) => ({
    contract: FACTORY,
    subject: STRANGER,
    token: null,
    perDay: null,
    readyAt: change.step === "scheduled" ? NOW_S + DAY_S : null,
    atDeployment: false,
    blockNumber: 100n + BigInt(index),
    logIndex: 0,
    txHash: toTxHash(hashOf(`change ${index}`)),
    ...change,
  }));
  const clock = createStillClock(Number(NOW_S) * 1000);
  const ranges: string[] = [];
  const state = { final: 100n + BigInt(given.length) };
  const chain = createStrictChain({
    chainId: 2,
    getFinalNumber: async () => state.final,
    getDelay: async () => DELAY_S,
    findBlockAt: async (timeS) => (timeS === NOW_S - DELAY_S - 14n * DAY_S ? 40n : 0n),
    async listChanges({ from, to, routes }) {
      expect(routes).toEqual([ROUTE]);
      ranges.push(`${from}-${to}`);
      if (more.blocksMax !== undefined && to - from >= more.blocksMax) {
        throw new OperatingError("RPC_UNAVAILABLE", "too many blocks");
      }
      return changes.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to);
    },
  });
  const deps = { db: database.db, chain, config, clock, log: silentLog };
  const watch = createGovernanceWatch(deps);
  if (!watch) throw new Error("the chain is governed");
  const unexpected = async () =>
    ((await listUnexpected(deps)) ?? []).map(({ role, state: name }) => `${role} ${name}`);
  return { ...deps, watch, ranges, state, unexpected };
}

describe("the watch", () => {
  test("begins where a schedule could still be executed, and continues after its last block", async () => {
    const { watch, ranges, state } = open([{ role: "attestor", step: "scheduled" }]);
    await watch.poll();
    state.final = 150n;
    await watch.poll();
    await watch.poll();
    expect(ranges).toEqual(["40-101", "102-150"]);
  });

  test("halves its part until a node accepts it, and keeps its progress", async () => {
    const { watch, ranges, unexpected } = open([{ role: "route", step: "scheduled" }], {
      blocksMax: 20n,
    });
    await expect(watch.poll()).rejects.toThrow("too many blocks");
    await expect(watch.poll()).rejects.toThrow("too many blocks");
    for (let polls = 0; polls < 5; polls += 1) await watch.poll().catch(() => undefined);
    expect(ranges.slice(0, 3)).toEqual(["40-101", "40-70", "40-54"]);
    expect(ranges.at(-1)).toMatch(/-101$/);
    expect(await unexpected()).toEqual(["route pending"]);
  });

  test("judges nothing before it has read up to the newest final block", async () => {
    const { db, config: given, clock } = open([]);
    expect(await listUnexpected({ db, config: given, clock })).toBeNull();
  });
});

/** A role, and the subject that the configuration names for it. */
const NAMED: readonly (readonly [GovernedRole, EvmAddress])[] = [
  ["route", ROUTE],
  ["attestor", ATTESTOR],
  ["treasury", TREASURY],
  ["threshold", toEvmAddress(`0x${"0".repeat(39)}2`)],
  ["relayer", RELAYER],
  ["relayer", CLAIMER],
];

describe("a change", () => {
  test.each(NAMED)(
    "of %s is expected only as the configuration names it [T250]",
    async (role, subject) => {
      const step = role === "relayer" ? "in_force" : "scheduled";
      const ours = open([{ role, subject, step }]);
      await ours.watch.poll();
      expect(await ours.unexpected()).toEqual([]);
      await database.db.deleteFrom("governance_changes").execute();
      await database.db.deleteFrom("governance_watches").execute();
      const theirs = open([{ role, step }]);
      await theirs.watch.poll();
      expect(await theirs.unexpected()).toEqual([
        `${role} ${role === "relayer" ? "in_force" : "pending"}`,
      ]);
    },
  );

  test("that nobody expects is counted until it is cancelled, also once it is in force [T250]", async () => {
    const { watch, unexpected, db } = open([
      { role: "attestor", step: "scheduled", blockNumber: 50n },
      { role: "attestor", step: "in_force", blockNumber: 60n },
      { role: "settler", step: "scheduled" },
      { role: "settler", step: "cancelled" },
      { role: "owner", subject: STRANGER, step: "scheduled", readyAt: null },
      { role: "owner", subject: NATIVE_TOKEN, step: "cancelled" },
      { role: "daily_cap", subject: TOKEN, step: "scheduled", perDay: 5n },
    ]);
    await watch.poll();
    expect(await unexpected()).toEqual(["attestor in_force", "daily_cap pending"]);
    const marked = await db
      .selectFrom("governance_changes")
      .select("role")
      .where("unexpected", "=", true)
      .execute();
    expect(marked.map(({ role }) => role).toSorted()).toEqual(["attestor", "daily_cap"]);
  });

  test("that can no longer be executed is not counted", async () => {
    const { watch, unexpected } = open([
      { role: "route", step: "scheduled", readyAt: NOW_S - 14n * DAY_S - 1n },
      { role: "attestor", step: "scheduled", readyAt: NOW_S - 14n * DAY_S },
    ]);
    await watch.poll();
    expect(await unexpected()).toEqual(["attestor pending"]);
  });

  test("of the deployment, a lowered cap and a pause are expected; the removal of a configured account is not", async () => {
    const { watch, unexpected } = open([
      { role: "attestor", step: "in_force", atDeployment: true },
      { role: "daily_cap", subject: TOKEN, step: "in_force", perDay: 1n },
      { role: "pause", subject: NATIVE_TOKEN, step: "in_force" },
      { role: "settler", step: "removed" },
      { role: "guardian", step: "removed" },
      { role: "attestor", subject: ATTESTOR, step: "removed" },
    ]);
    await watch.poll();
    expect(await unexpected()).toEqual(["attestor removed"]);
  });

  test("that an operator expects stays expected when it is executed, and no other is", async () => {
    const first = open([{ role: "daily_cap", subject: TOKEN, step: "scheduled", perDay: 5n }]);
    await first.watch.poll();
    const [change] = (await listUnexpected(first)) ?? [];
    if (!change) throw new Error("it is not expected yet");
    const record = { operator: "ann@desk", reason: "more volume", nowMs: first.clock.now() };
    expect(await expectChange(database.db, change.id, record)).toBe(true);
    expect(await expectChange(database.db, change.id, record)).toBe(false);
    await first.watch.poll();
    expect(await first.unexpected()).toEqual([]);
    const cap = { role: "daily_cap", subject: TOKEN } as const;
    const then = open([
      { ...cap, step: "scheduled", perDay: 5n },
      { ...cap, step: "in_force", perDay: 5n },
      { ...cap, step: "scheduled", perDay: 9n },
    ]);
    then.state.final = 101n;
    await then.watch.poll();
    expect(await then.unexpected()).toEqual([]);
    then.state.final = 102n;
    await then.watch.poll();
    expect(await then.unexpected()).toEqual(["daily_cap pending"]);
    const standing = await readStanding(then);
    expect(standing).toMatchObject([{ perDay: 9n, state: "pending", isExpected: false }]);
  });
});
