/** A lane on a chain without nonces: an attempt is followed until it is mined or expired. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createCountingRandom,
  createKeepingLog,
  createStillClock,
  createStrictChain,
  hashOf,
  LANE,
} from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { Killed, killAt } from "../../test/support/kill.ts";
import type { Chain, Receipt, SendOutcome } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type Hex, toHex, toHex32, type TxHash } from "../core/hex.ts";
import type { LaneSigner } from "../signers/port.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createLaneWaits, DEFAULT_LANE_LIMITS, type LaneDeps } from "./lane-deps.ts";
import { pollLane, submitIntent } from "./lane.ts";
import { getByIntent } from "./store.ts";
import { listAttempts } from "./attempts.ts";
import { failureOf, type IntentName } from "./types.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

/** The lifetime of a transaction and the distance of the final block, in blocks. */
const LIFETIME = 150n;
const FINAL_LAG = 32n;
const CHAIN = 1;

/**
 * Creates a chain without skipped heights. It may lose a sent transaction, or mine it in any later block in which it is
 * valid. A fork replaces blocks that are not final with empty ones.
 */
function createForgetfulChain() {
  let height = 1_000n;
  let salt = 0;
  const hashes = new Map<bigint, string>();
  const waiting = new Map<TxHash, { readonly call: string; readonly lastValid: bigint }>();
  const mined = new Map<TxHash, { readonly call: string; readonly height: bigint }>();
  const hashAt = (number: bigint) => {
    const known = hashes.get(number) ?? number.toString(16);
    hashes.set(number, known);
    return toHex32(`0x${known.padStart(64, "0")}`);
  };
  const finalHeight = () => height - FINAL_LAG;
  const refAt = (number: bigint) => ({
    number,
    hash: hashAt(number),
    parentHash: hashAt(number - 1n),
  });
  let sends: "take" | "lose" | "take, answer lost" = "take";
  const sent: Hex[] = [];
  return {
    sent,
    answer(next: typeof sends) {
      sends = next;
    },
    grow(blocks: bigint) {
      height += blocks;
      for (const [hash, { lastValid }] of waiting) if (height > lastValid) waiting.delete(hash);
    },
    /** Mines all valid pending transactions in the newest block. */
    mine() {
      for (const [hash, { call }] of waiting) mined.set(hash, { call, height });
      waiting.clear();
    },
    /** Replaces the newest `depth` blocks, which are not final. Their transactions are pending again. */
    fork(depth: bigint) {
      salt += 1;
      for (let number = height - depth + 1n; number <= height; number += 1n) {
        hashes.set(number, `${number.toString(16)}${salt.toString(16)}`);
      }
      for (const [hash, { call, height: at }] of mined) {
        if (at > height - depth) {
          mined.delete(hash);
          waiting.set(hash, { call, lastValid: lastValidOf(hash) });
        }
      }
    },
    /** Counts how often a call is mined. */
    count(call: Hex): number {
      return [...mined.values()].filter((landed) => landed.call === call).length;
    },
    members: {
      chainId: CHAIN,
      kind: "svm",
      sequencing: {
        kind: "blockhash",
        getLifetime: async () => ({
          blockhash: hashAt(height),
          lastValidHeight: height + LIFETIME,
        }),
        isExpired: async ({ lastValidHeight }) => finalHeight() > lastValidHeight,
      },
      combine: () => null,
      suggestFees: async () => ({ gasPriceMax: 5n, tipMax: 5n }),
      getFinalNumber: async () => finalHeight(),
      getHead: async () => refAt(finalHeight()),
      getBlock: async (number) => (number <= finalHeight() ? refAt(number) : null),
      async getReceipt(txHash): Promise<Receipt | null> {
        const found = mined.get(txHash);
        if (!found) return null;
        return {
          txHash,
          blockHash: hashAt(found.height),
          blockNumber: found.height,
          succeeded: true,
          gasCost: 10_000n,
          effects: [],
        };
      },
      async send(raw): Promise<SendOutcome> {
        sent.push(raw);
        const hash = hashOf(raw);
        const { call, lastValid } = readRaw(raw);
        lastValids.set(hash, lastValid);
        if (mined.has(hash)) return "known";
        if (sends !== "lose" && height <= lastValid) waiting.set(hash, { call, lastValid });
        return sends === "take" ? "accepted" : "unknown";
      },
    } satisfies Partial<Chain>,
  };
}

const lastValids = new Map<TxHash, bigint>();
const lastValidOf = (hash: TxHash): bigint => lastValids.get(hash) ?? 0n;

function readRaw(raw: Hex): { readonly call: Hex; readonly lastValid: bigint } {
  const [call = "0x", lastValid = "0"] = Buffer.from(raw.slice(2), "hex").toString().split("|");
  return { call: toHex(call), lastValid: BigInt(lastValid) };
}

const signer: LaneSigner = {
  chainId: CHAIN,
  purpose: "settle",
  address: LANE,
  retired: false,
  async sign({ call, lifetime }) {
    if (!lifetime) throw new Error("a transaction of this chain has a lifetime");
    const text = `${call.data}|${lifetime.lastValidHeight}|${lifetime.blockhash}`;
    const raw: Hex = `0x${Buffer.from(text).toString("hex")}`;
    return { raw, hash: hashOf(raw) };
  },
};

function openLane() {
  const chain = createForgetfulChain();
  const clock = createStillClock();
  const random = createCountingRandom();
  const changes: string[] = [];
  const deps: LaneDeps = {
    db: database.db,
    chain: createStrictChain(chain.members),
    signer,
    clock,
    random,
    log: createKeepingLog().log,
    metrics: createMetrics(),
    crashPoint: () => undefined,
    onChanged: async (_tx, transactions) => {
      changes.push(...transactions.map(({ intent, state }) => `${intent} ${state}`));
      return [];
    },
    wakeOwners: () => undefined,
    limits: DEFAULT_LANE_LIMITS,
    follows: new Map(),
    waits: createLaneWaits(),
  };
  return {
    chain,
    clock,
    changes,
    poll: (changed: Partial<LaneDeps> = {}) => pollLane({ ...deps, ...changed }),
    submit: (intent: IntentName, data: Hex) =>
      database.db.transaction().execute((tx) =>
        submitIntent(tx, random, {
          chainId: CHAIN,
          lane: LANE,
          intent,
          settlementId: null,
          call: { to: LANE, data, value: 0n },
          gas: 1_000n,
        }),
      ),
  };
}

async function attemptsOf(intent: IntentName) {
  const transaction = await getByIntent(database.db, intent);
  return transaction ? listAttempts(database.db, transaction.id) : [];
}

describe("a transaction with a blockhash lifetime", () => {
  test("is signed, sent and followed until final, and reports each change once", async () => {
    const { chain, changes, poll, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await poll();
    chain.mine();
    await poll();
    expect(changes).toEqual(["sweep:a:1 mined"]);
    chain.grow(FINAL_LAG);
    await poll();
    await poll();
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 final"]);
    expect(chain.sent).toHaveLength(1);
    expect(chain.count("0x01")).toBe(1);
  });

  test("is rebroadcast with the same bytes while it is valid [T64]", async () => {
    const { chain, clock, poll, submit } = openLane();
    chain.answer("lose");
    await submit("sweep:a:1", "0x01");
    for (let round = 0; round < 5; round += 1) {
      await poll();
      chain.grow(30n);
      clock.advance(20_000);
    }
    expect(chain.sent).toHaveLength(5);
    expect(new Set(chain.sent).size).toBe(1);
  });

  test("is signed again only after it expired by a final block [T39]", async () => {
    const { chain, clock, poll, submit } = openLane();
    chain.answer("lose");
    await submit("sweep:a:1", "0x01");
    await poll();
    // Expired by the newest block, but not by the final one: it could still be mined on another fork.
    chain.grow(LIFETIME + FINAL_LAG);
    clock.advance(60_000);
    await poll();
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
    chain.grow(1n);
    await poll();
    const attempts = await attemptsOf("sweep:a:1");
    expect(attempts.map(({ number }) => number)).toEqual([2, 1]);
    expect(attempts[0]?.lifetime?.lastValidHeight).toBeGreaterThan(
      attempts[1]?.lifetime?.lastValidHeight ?? 0n,
    );
  });

  test("is found if it was mined in its last valid block [T39]", async () => {
    const { chain, changes, poll, submit } = openLane();
    chain.answer("take, answer lost");
    await submit("sweep:a:1", "0x01");
    await poll();
    chain.grow(LIFETIME);
    chain.mine();
    chain.grow(FINAL_LAG + 1n);
    await poll();
    expect(changes).toContain("sweep:a:1 mined");
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
  });

  test("is rebroadcast with the same bytes when it is orphaned [T41]", async () => {
    const { chain, clock, changes, poll, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await poll();
    chain.grow(1n);
    chain.mine();
    await poll();
    chain.fork(1n);
    chain.grow(FINAL_LAG);
    clock.advance(60_000);
    await poll();
    await poll();
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 assigned"]);
    expect(new Set(chain.sent).size).toBe(1);
    expect(chain.sent.length).toBeGreaterThan(1);
  });

  test("is abandoned when the signer refuses it, but only after earlier attempts expired", async () => {
    const { chain, clock, changes, poll, submit } = openLane();
    chain.answer("take, answer lost");
    await submit("sweep:a:1", "0x01");
    await poll();
    const refusing: LaneSigner = {
      ...signer,
      sign: () => Promise.reject(new SignerRefusal("the deadline has passed")),
    };
    chain.grow(LIFETIME + FINAL_LAG);
    clock.advance(60_000);
    await poll({ signer: refusing });
    expect((await getByIntent(database.db, "sweep:a:1"))?.state).toBe("assigned");
    chain.grow(1n);
    await poll({ signer: refusing });
    expect((await getByIntent(database.db, "sweep:a:1"))?.state).toBe("abandoned");
    expect(changes).toEqual(["sweep:a:1 abandoned"]);
    await poll();
    expect(chain.count("0x01")).toBe(0);
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
    // Later intents are not blocked.
    await submit("sweep:b:1", "0x02");
    await poll();
    chain.mine();
    await poll();
    expect(chain.count("0x02")).toBe(1);
  });

  test("is abandoned at once if the signer refuses its first attempt", async () => {
    const { changes, poll, submit } = openLane();
    await submit("deliver:a:1", "0x01");
    const sign = () => Promise.reject(new SignerRefusal("above the daily cap"));
    await poll({ signer: { ...signer, sign } });
    expect(changes).toEqual(["deliver:a:1 abandoned"]);
    expect(failureOf(await getByIntent(database.db, "deliver:a:1"))).toEqual({
      txHash: null,
      isFinal: true,
    });
  });

  test("is rescheduled while the signer waits, without blocking others", async () => {
    const { chain, clock, poll, submit } = openLane();
    const { openMax } = DEFAULT_LANE_LIMITS;
    const waiting = Array.from({ length: openMax }, (_, i): IntentName => `claim:${i}:1`);
    const callOf = (at: number): Hex => `0xaa${at.toString(16).padStart(2, "0")}`;
    for (const [at, intent] of waiting.entries()) await submit(intent, callOf(at));
    await submit("sweep:b:1", "0xbb");
    let asked = 0;
    const hesitant: LaneSigner = {
      ...signer,
      async sign(intent) {
        if (intent.call.data === "0xbb") return signer.sign(intent);
        asked += 1;
        throw new SignerWaits("another signature of the lock may be alive");
      },
    };
    for (let round = 0; round < 3; round += 1) await poll({ signer: hesitant });
    chain.mine();
    await poll({ signer: hesitant });
    expect(chain.count("0xbb")).toBe(1);
    expect(asked).toBe(openMax);
    clock.advance(60_000);
    await poll();
    chain.mine();
    for (const at of waiting.keys()) expect(chain.count(callOf(at))).toBe(1);
  });

  test("does not block others when it fails, and its error is thrown", async () => {
    const { chain, poll, submit } = openLane();
    await submit("claim:a:1", "0xaa");
    await submit("sweep:b:1", "0xbb");
    const halfAway: LaneSigner = {
      ...signer,
      async sign(intent) {
        if (intent.call.data === "0xbb") return signer.sign(intent);
        throw new OperatingError("RPC_UNAVAILABLE", "Nobody answers.");
      },
    };
    await expect(poll({ signer: halfAway })).rejects.toThrow("Nobody answers.");
    chain.mine();
    expect(chain.count("0xbb")).toBe(1);
  });

  test("is not sent while its chain has a breach", async () => {
    const { chain, poll, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await database.pool.query(
      `insert into breaches (chain_id, invariant, subject, details) values (1, 'balance', 'x', '{}')`,
    );
    await poll();
    expect(chain.sent).toEqual([]);
  });
});

const STEPS = [
  "poll",
  "poll",
  "poll, killed",
  "grow",
  "grow",
  "grow far",
  "mine",
  "fork",
  "lose",
  "take",
  "lose answer",
] as const;

test("mines every intent exactly once under losses, forks, delays and crashes [T39]", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.integer({ min: 1, max: 40 })), {
        minLength: 10,
        maxLength: 60,
      }),
      async (steps) => {
        await database.pool.query("truncate lanes, transactions, attempts cascade");
        const { chain, clock, poll, submit } = openLane();
        const names = ["a", "b", "c"].map((name) => `sweep:${name}:1` as const);
        const calls = names.map((_, index): Hex => `0x0${index + 1}`);
        for (const [index, name] of names.entries()) await submit(name, calls[index] ?? "0x");
        for (const [step, size] of steps) {
          clock.advance(5_000);
          if (step === "poll") await poll();
          if (step === "poll, killed") {
            await poll({ crashPoint: killAt(size % 4) }).catch((error: unknown) => {
              if (!(error instanceof Killed)) throw error;
            });
          }
          if (step === "grow") chain.grow(BigInt(size));
          if (step === "grow far") chain.grow(LIFETIME + BigInt(size));
          if (step === "mine") chain.mine();
          // Forks never reach the final block.
          if (step === "fork") chain.fork(BigInt(Math.min(size, Number(FINAL_LAG) - 1)));
          if (step === "lose") chain.answer("lose");
          if (step === "take") chain.answer("take");
          if (step === "lose answer") chain.answer("take, answer lost");
          for (const call of calls) expect(chain.count(call)).toBeLessThanOrEqual(1);
        }
        chain.answer("take");
        for (let round = 0; round < 12; round += 1) {
          clock.advance(60_000);
          await poll();
          chain.mine();
          chain.grow(FINAL_LAG + 5n);
        }
        await poll();
        for (const [index, name] of names.entries()) {
          expect(chain.count(calls[index] ?? "0x")).toBe(1);
          expect((await getByIntent(database.db, name))?.state).toBe("final");
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);
