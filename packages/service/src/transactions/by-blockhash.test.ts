/** A lane on a chain without nonces: what was signed is followed until it is mined or can no longer be. */
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
import { DEFAULT_LANE_LIMITS, type LaneDeps, pollLane, submitIntent } from "./lane.ts";
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

/** Heights for which a transaction is valid, and by which the final block is behind. */
const LIFETIME = 150n;
const FINAL_LAG = 32n;
const CHAIN = 1;

/**
 * A chain of blocks without gaps. What it was sent it may lose, or mine in any later block in which it is valid; blocks
 * above the final one may be replaced by others that hold none of it.
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
    /** Mines what waits and is still valid, in the newest block. */
    mine() {
      for (const [hash, { call }] of waiting) mined.set(hash, { call, height });
      waiting.clear();
    },
    /** Other blocks take the place of the newest `depth`, which are not final; what was in them waits again. */
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
    /** How often each call is on the chain. */
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
      suggestFees: async () => ({ maxFeePerGas: 5n, maxPriorityFeePerGas: 5n }),
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
    onChanged: async (_tx, { intent, state }) => void changes.push(`${intent} ${state}`),
    wakeOwners: () => undefined,
    limits: DEFAULT_LANE_LIMITS,
  };
  return {
    chain,
    clock,
    changes,
    look: (changed: Partial<LaneDeps> = {}) => pollLane({ ...deps, ...changed }),
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

describe("a transaction that lives by a blockhash", () => {
  test("is signed, sent, mined and final, and its owner hears of each change once", async () => {
    const { chain, changes, look, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await look();
    chain.mine();
    await look();
    expect(changes).toEqual(["sweep:a:1 mined"]);
    chain.grow(FINAL_LAG);
    await look();
    await look();
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 final"]);
    expect(chain.sent).toHaveLength(1);
    expect(chain.count("0x01")).toBe(1);
  });

  test("T64 is sent again with the same bytes while it is valid, however often it is lost", async () => {
    const { chain, clock, look, submit } = openLane();
    chain.answer("lose");
    await submit("sweep:a:1", "0x01");
    for (let round = 0; round < 5; round += 1) {
      await look();
      chain.grow(30n);
      clock.advance(20_000);
    }
    expect(chain.sent).toHaveLength(5);
    expect(new Set(chain.sent).size).toBe(1);
  });

  test("T39 is signed anew only once a final block is too high for it", async () => {
    const { chain, clock, look, submit } = openLane();
    chain.answer("lose");
    await submit("sweep:a:1", "0x01");
    await look();
    // The newest block is too high for it, the final one is not: on another fork it could still be mined.
    chain.grow(LIFETIME + FINAL_LAG);
    clock.advance(60_000);
    await look();
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
    chain.grow(1n);
    await look();
    const attempts = await attemptsOf("sweep:a:1");
    expect(attempts.map(({ number }) => number)).toEqual([2, 1]);
    expect(attempts[0]?.lifetime?.lastValidHeight).toBeGreaterThan(
      attempts[1]?.lifetime?.lastValidHeight ?? 0n,
    );
  });

  test("T39 that was mined in its last block is found by the look after its lifetime", async () => {
    const { chain, changes, look, submit } = openLane();
    chain.answer("take, answer lost");
    await submit("sweep:a:1", "0x01");
    await look();
    chain.grow(LIFETIME);
    chain.mine();
    chain.grow(FINAL_LAG + 1n);
    await look();
    expect(changes).toContain("sweep:a:1 mined");
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
  });

  test("T41 that lost its block is open again, and its bytes are sent again", async () => {
    const { chain, clock, changes, look, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await look();
    chain.grow(1n);
    chain.mine();
    await look();
    chain.fork(1n);
    chain.grow(FINAL_LAG);
    clock.advance(60_000);
    await look();
    await look();
    expect(changes).toEqual(["sweep:a:1 mined", "sweep:a:1 assigned"]);
    expect(new Set(chain.sent).size).toBe(1);
    expect(chain.sent.length).toBeGreaterThan(1);
  });

  test("is abandoned when the signer refuses it, but not while what was signed before can be mined", async () => {
    const { chain, clock, changes, look, submit } = openLane();
    chain.answer("take, answer lost");
    await submit("sweep:a:1", "0x01");
    await look();
    const refusing: LaneSigner = {
      ...signer,
      sign: () => Promise.reject(new SignerRefusal("the deadline has passed")),
    };
    chain.grow(LIFETIME + FINAL_LAG);
    clock.advance(60_000);
    await look({ signer: refusing });
    expect((await getByIntent(database.db, "sweep:a:1"))?.state).toBe("assigned");
    chain.grow(1n);
    await look({ signer: refusing });
    expect((await getByIntent(database.db, "sweep:a:1"))?.state).toBe("abandoned");
    expect(changes).toEqual(["sweep:a:1 abandoned"]);
    await look();
    expect(chain.count("0x01")).toBe(0);
    expect(await attemptsOf("sweep:a:1")).toHaveLength(1);
    // What comes after it is not held up.
    await submit("sweep:b:1", "0x02");
    await look();
    chain.mine();
    await look();
    expect(chain.count("0x02")).toBe(1);
  });

  test("that nobody signs at all is abandoned at once", async () => {
    const { changes, look, submit } = openLane();
    await submit("deliver:a:1", "0x01");
    const sign = () => Promise.reject(new SignerRefusal("above the daily cap"));
    await look({ signer: { ...signer, sign } });
    expect(changes).toEqual(["deliver:a:1 abandoned"]);
    expect(failureOf(await getByIntent(database.db, "deliver:a:1"))).toEqual({
      txHash: null,
      isFinal: true,
    });
  });

  test("that the signer does not sign yet holds up nobody, and is signed later", async () => {
    const { chain, clock, look, submit } = openLane();
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
    for (let round = 0; round < 3; round += 1) await look({ signer: hesitant });
    chain.mine();
    await look({ signer: hesitant });
    expect(chain.count("0xbb")).toBe(1);
    expect(asked).toBe(openMax);
    clock.advance(60_000);
    await look();
    chain.mine();
    for (const at of waiting.keys()) expect(chain.count(callOf(at))).toBe(1);
  });

  test("that cannot be brought forward holds up none of the others, and is told", async () => {
    const { chain, look, submit } = openLane();
    await submit("claim:a:1", "0xaa");
    await submit("sweep:b:1", "0xbb");
    const halfAway: LaneSigner = {
      ...signer,
      async sign(intent) {
        if (intent.call.data === "0xbb") return signer.sign(intent);
        throw new OperatingError("RPC_UNAVAILABLE", "Nobody answers.");
      },
    };
    await expect(look({ signer: halfAway })).rejects.toThrow("Nobody answers.");
    chain.mine();
    expect(chain.count("0xbb")).toBe(1);
  });

  test("is not sent while the books of its chain do not balance", async () => {
    const { chain, look, submit } = openLane();
    await submit("sweep:a:1", "0x01");
    await database.pool.query(
      `insert into breaches (chain_id, invariant, subject, details) values (1, 'balance', 'x', '{}')`,
    );
    await look();
    expect(chain.sent).toEqual([]);
  });
});

const STEPS = [
  "look",
  "look",
  "look, killed",
  "grow",
  "grow",
  "grow far",
  "mine",
  "fork",
  "lose",
  "take",
  "lose answer",
] as const;

test("T39 every intent is mined exactly once, whatever is lost, forked, late or killed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.integer({ min: 1, max: 40 })), {
        minLength: 10,
        maxLength: 60,
      }),
      async (steps) => {
        await database.pool.query("truncate lanes, transactions, attempts cascade");
        const { chain, clock, look, submit } = openLane();
        const names = ["a", "b", "c"].map((name) => `sweep:${name}:1` as const);
        const calls = names.map((_, index): Hex => `0x0${index + 1}`);
        for (const [index, name] of names.entries()) await submit(name, calls[index] ?? "0x");
        for (const [step, size] of steps) {
          clock.advance(5_000);
          if (step === "look") await look();
          if (step === "look, killed") {
            await look({ crashPoint: killAt(size % 4) }).catch((error: unknown) => {
              if (!(error instanceof Killed)) throw error;
            });
          }
          if (step === "grow") chain.grow(BigInt(size));
          if (step === "grow far") chain.grow(LIFETIME + BigInt(size));
          if (step === "mine") chain.mine();
          // No deeper than what is not final.
          if (step === "fork") chain.fork(BigInt(Math.min(size, Number(FINAL_LAG) - 1)));
          if (step === "lose") chain.answer("lose");
          if (step === "take") chain.answer("take");
          if (step === "lose answer") chain.answer("take, answer lost");
          for (const call of calls) expect(chain.count(call)).toBeLessThanOrEqual(1);
        }
        chain.answer("take");
        for (let round = 0; round < 12; round += 1) {
          clock.advance(60_000);
          await look();
          chain.mine();
          chain.grow(FINAL_LAG + 5n);
        }
        await look();
        for (const [index, name] of names.entries()) {
          expect(chain.count(calls[index] ?? "0x")).toBe(1);
          expect((await getByIntent(database.db, name))?.state).toBe("final");
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);
