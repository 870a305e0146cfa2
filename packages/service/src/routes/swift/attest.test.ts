/** The attestor's decisions: it signs facts of final blocks and refuses everything else. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  unseenMetrics,
} from "../../../test/support/doubles.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import type { Chain, FoundDelivery, Lock, LockFacts, Payout } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type Hex,
  type Hex32,
  padAddress,
  toEvmAddress,
  toHex32,
  toTxHash,
} from "../../core/hex.ts";
import { createIntegrator } from "../../integrators/index.ts";
import { recordFindings, toFinding } from "../../ledger/index.ts";
import { SignerWaits } from "../../signers/refusal.ts";
import { type AttestorDeps, pollAttestationRequests } from "./attest.ts";
import { type AttestationId, type AttestationRequest } from "./attestation-requests.ts";
import { insertAttestation, listOpenRequests } from "./attestations.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC_SOURCE = address("a0");
const USDC_DEST = address("b0");
const ESCROW = address("e5");
const DELIVERY = address("de");
const RECIPIENT = address("1e");
const WALLET = address("3a");
const DELIVERY_ID = toHex32(hashOf("delivery id"));
const OTHER_ID = toHex32(hashOf("another delivery id"));
const WINDOW_S = 12n * 3600n;
const COMMITMENT_HASH = toHex32(hashOf("commitment"));
const SIGNATURE: Hex = "0x51";
/** One chain of each family. */
const HINTS = [hashOf("lock"), toTxHash(`0x${"7a".repeat(64)}`)];

const commitment: Commitment = {
  integrator: toHex32(hashOf("integrator")),
  userId: padAddress(address("01")),
  destChain: 30,
  destWallet: padAddress(RECIPIENT),
  destToken: padAddress(USDC_DEST),
  refundAuthority: padAddress(address("02")),
  maxFeeBps: 50,
  maxSlippageBps: 100,
  ...GOVERNED,
};

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

function openAttestor() {
  const clock = createStillClock();
  const nowS = BigInt(clock.now() / 1000);
  const facts: LockFacts = {
    commitment: COMMITMENT_HASH,
    delivery: padAddress(DELIVERY),
    token: USDC_SOURCE,
    amount: 1_000_000n,
    minOut: 995_000n,
    seq: 0n,
  };
  const lock: Lock = { ...facts, lockedAt: nowS, state: "locked" };
  const state = {
    lock: lock as Lock | null,
    deliveredLatest: false,
    deliveredFinal: false,
    found: null as FoundDelivery | null,
    finalNumber: 10n,
    finalTime: nowS,
    /** Whether the lock is in a block that is not final. */
    isFresh: false,
    unreachable: false,
    /** Signatures that a claim needs. */
    threshold: 1,
    /** The time for which that threshold holds: that of the lock. */
    thresholdAt: nowS,
    /** Time at which the attestor was listed; null if it never was. */
    listedAt: nowS as bigint | null,
    /** Numbers of locks that are slow to read. */
    slow: new Map<bigint, Promise<void>>(),
    windowS: WINDOW_S,
    /** The locks that were read. */
    asked: [] as LockFacts[],
    hinted: [] as unknown[],
  };
  const shared = {
    hashCommitment: () => COMMITMENT_HASH,
    predictWallet: () => WALLET,
    deliveryIdOf: ({ amount }: LockFacts) => (amount === facts.amount ? DELIVERY_ID : OTHER_ID),
    deliveryIdOfPayout: () => DELIVERY_ID,
  };
  const source: Chain = createStrictChain({
    ...shared,
    chainId: 2,
    addresses: { walletRoot: address("fa"), escrow: ESCROW, delivery: address("d2") },
    getLock: async (asked, at, hints) => {
      state.hinted.push(hints);
      state.asked.push(asked);
      await state.slow.get(asked.seq);
      if (state.unreachable) throw new OperatingError("RPC_UNAVAILABLE", "No answer.");
      if (state.isFresh) return typeof at === "object" && at.number > 10n ? state.lock : null;
      if (at !== "final") throw new Error("the attestor reads final blocks");
      return state.lock;
    },
    getHead: async () => ({ number: 20n, hash: OTHER_ID, parentHash: OTHER_ID }),
    getFinalBlock: async () => ({ number: 10n, hash: OTHER_ID }),
    getBlock: async (number) => ({ number, hash: OTHER_ID, parentHash: OTHER_ID }),
    getTime: async () => nowS - 60n,
    getThresholdAt: async (time, at) => {
      if (at !== (state.isFresh ? "latest" : "final")) throw new Error("another block is read");
      return time === state.thresholdAt ? state.threshold : 9;
    },
    wasListed: async ({ role, account, time }, at) => {
      const read = state.isFresh ? "latest" : "final";
      expect([role, account, at]).toEqual(["attestor", address("ad"), read]);
      return state.listedAt !== null && state.listedAt <= time;
    },
  });
  const destination: Chain = createStrictChain({
    ...shared,
    chainId: 30,
    addresses: { walletRoot: address("fa"), escrow: address("e0"), delivery: DELIVERY },
    isDelivered: async (_id, at) => (at === "final" ? state.deliveredFinal : state.deliveredLatest),
    findDelivery: async (_id, _at, hints) => {
      state.hinted.push(hints);
      return state.found;
    },
    getFinalNumber: async () => state.finalNumber,
    getTime: async () => state.finalTime,
    getPayoutWindow: async () => state.windowS,
  });
  const signed: unknown[] = [];
  const deps: AttestorDeps = {
    db: database.db,
    chains: new Map([
      [2, source],
      [30, destination],
    ]),
    signer: {
      address: address("ad"),
      signDelivery: async (chainId, order) => {
        signed.push([chainId, order.amount]);
        return SIGNATURE;
      },
      signClaim: async (chainId, claim) => {
        signed.push([chainId, claim.paidAmount]);
        return SIGNATURE;
      },
      signPrice: async (chainId, order) => {
        signed.push([chainId, order.rate]);
        return SIGNATURE;
      },
      signRefund: async (chainId, proof) => {
        signed.push([chainId, proof.maxAmount]);
        return SIGNATURE;
      },
      signReturn: async (chainId, order) => {
        signed.push([chainId, order.deliveryId]);
        return SIGNATURE;
      },
    },
    clock,
    crashPoint: () => undefined,
    log: silentLog,
    metrics: unseenMetrics,
    threshold: 1,
    rateToleranceBps: 200,
    pairs: [
      {
        srcChain: 2,
        srcToken: USDC_SOURCE,
        destChain: 30,
        destToken: USDC_DEST,
        decimalsIn: 6,
        decimalsOut: 6,
        contract: address("cc"),
        fromInventory: true,
        readRate: null,
      },
    ],
    wakeSettler: () => undefined,
  };
  const order: Payout = {
    commitment,
    srcChain: 2,
    escrow: ESCROW,
    srcToken: USDC_SOURCE,
    lockedAmount: facts.amount,
    minOut: facts.minOut,
    seq: 0n,
    windowStart: nowS,
    amount: 999_000n,
  };
  let asked = 0;
  async function ask(
    request: AttestationRequest,
    deliveryId = DELIVERY_ID,
    attestor = deps,
    looks = true,
  ) {
    asked += 1;
    const id: AttestationId = `${request.kind}:${deliveryId}:${asked}`;
    const deadline = deadlineOf(request);
    await database.db
      .transaction()
      .execute((tx) => insertAttestation(tx, { id, deliveryId, deadline, request }));
    if (looks) await pollAttestationRequests(attestor);
    return answerOf(id);
  }
  function deadlineOf(request: AttestationRequest): bigint {
    if (request.kind === "price") return request.deadline;
    if (request.kind === "refund") return request.proof.deadline;
    if (request.kind === "delivery") return request.order.windowStart + WINDOW_S;
    return request.kind === "claim" ? request.claim.deadline : request.order.deadline;
  }
  async function answerOf(id: AttestationId) {
    const row = await database.db
      .selectFrom("attestation_answers")
      .select(["signature", "refusal"])
      .where("attestation_id", "=", id)
      .executeTakeFirst();
    return row?.refusal ?? row?.signature ?? "waits";
  }
  const askOrder = (change: Partial<Payout> = {}, deliveryId?: Hex32, attestor = deps) =>
    ask({ kind: "delivery", order: { ...order, ...change }, hints: HINTS }, deliveryId, attestor);
  const claim = { deliveryId: DELIVERY_ID, paidAmount: 999_000n, deadline: nowS + 3600n };
  const askClaim = (change: Partial<typeof claim> = {}, other: Partial<LockFacts> = {}) =>
    ask({
      kind: "claim",
      srcChain: 2,
      commitment,
      lock: { ...facts, ...other },
      claim: { ...claim, ...change },
      hints: HINTS,
    });
  const askReturn = (other: Partial<LockFacts> = {}) =>
    ask({
      kind: "return",
      srcChain: 2,
      commitment,
      lock: { ...facts, ...other },
      order: { deliveryId: DELIVERY_ID, deadline: nowS + 24n * 3600n },
      hints: HINTS,
    });
  const found: FoundDelivery = {
    deliveryId: DELIVERY_ID,
    commitment: COMMITMENT_HASH,
    to: RECIPIENT,
    token: USDC_DEST,
    amount: 999_000n,
    txHash: hashOf("payment"),
    blockNumber: 10n,
  };
  return {
    deps,
    state,
    facts,
    lock,
    clock,
    nowS,
    found,
    signed,
    order,
    ask,
    askOrder,
    askClaim,
    askReturn,
    answerOf,
  };
}

describe("a payout", () => {
  test("is signed when its lock is final, for this destination and unpaid", async () => {
    const { askOrder, signed } = openAttestor();
    expect(await askOrder()).toBe(SIGNATURE);
    expect(signed).toEqual([[30, 999_000n]]);
  });

  test("waits until its lock is in a final block, and is then signed", async () => {
    const { state, lock, clock, deps, askOrder, answerOf } = openAttestor();
    state.lock = null;
    expect(await askOrder()).toBe("waits");
    state.lock = lock;
    clock.advance(1_000);
    await pollAttestationRequests(deps);
    expect(await answerOf(`delivery:${DELIVERY_ID}:1`)).toBe(SIGNATURE);
  });

  test("does not delay others when its lock is slow to read", async () => {
    const { state, deps, order, ask, answerOf } = openAttestor();
    const slow = toHex32(hashOf("slow"));
    const source = deps.chains.get(30);
    assert(source, "there is a destination");
    Object.assign(source, {
      deliveryIdOfPayout: ({ seq }: Payout) => (seq === 1n ? slow : DELIVERY_ID),
    });
    let release = () => {};
    state.slow.set(1n, new Promise((resolve) => (release = resolve)));
    const hangs = ask(
      { kind: "delivery", order: { ...order, seq: 1n }, hints: [] },
      slow,
      deps,
      false,
    );
    const other = ask({ kind: "delivery", order, hints: [] }, DELIVERY_ID, deps, false);
    await Promise.all([hangs, other]);
    const poll = pollAttestationRequests(deps);
    await expect.poll(() => answerOf(`delivery:${DELIVERY_ID}:2`)).toBe(SIGNATURE);
    expect(await answerOf(`delivery:${slow}:1`)).toBe("waits");
    release();
    await poll;
    expect(await answerOf(`delivery:${slow}:1`)).toBe(SIGNATURE);
  });

  test("is verified in full, like its claim and return, when the request hints at a transaction", async () => {
    const { state, askOrder, askClaim, askReturn } = openAttestor();
    state.found = null;
    state.deliveredFinal = true;
    await askOrder();
    await askClaim();
    await askReturn();
    expect(state.hinted).toEqual([HINTS, HINTS, HINTS, HINTS]);
  });

  test("waits while the node does not answer [T48]", async () => {
    const { state, askOrder } = openAttestor();
    state.unreachable = true;
    expect(await askOrder()).toBe("waits");
  });

  test.each<[string, string, Partial<Payout>]>([
    ["for less than was promised", "below_promised_minimum", { amount: 994_999n }],
    ["for more than was locked", "above_locked_value", { amount: 1_000_001n }],
    ["from an escrow that is not ours", "unknown_escrow", { escrow: address("66") }],
    ["of a chain that is not ours", "unknown_chain", { srcChain: 4 }],
    ["of a pair that it does not sign for", "unknown_pair", { srcToken: address("66") }],
    [
      "towards a token it does not vouch for",
      "unknown_pair",
      { commitment: { ...commitment, destToken: padAddress(address("66")) } },
    ],
    [
      "towards a chain that is not ours",
      "unknown_chain",
      { commitment: { ...commitment, destChain: 4 } },
    ],
  ])("%s is refused with %s", async (_what, reason, change) => {
    const { askOrder, signed } = openAttestor();
    expect(await askOrder(change)).toBe(reason);
    expect(signed).toEqual([]);
  });

  test("is refused for a pair that is not paid from inventory", async () => {
    const { deps, askOrder, signed } = openAttestor();
    const [pair] = deps.pairs;
    assert(pair, "there is a pair");
    const swaps = { ...deps, pairs: [{ ...pair, fromInventory: false }] };
    expect(await askOrder({}, DELIVERY_ID, swaps)).toBe("unknown_pair");
    expect(signed).toEqual([]);
  });

  test("is refused when the source did not list the attestor at the lock, so that its claim is not certain [V11]", async () => {
    const { state, nowS, askOrder, signed } = openAttestor();
    for (const listedAt of [null, nowS + 1n]) {
      state.listedAt = listedAt;
      expect(await askOrder()).toBe("attestor_not_listed");
    }
    expect(signed).toEqual([]);
  });

  test("is refused when its signers would not suffice for the claim", async () => {
    const { state, askOrder, signed } = openAttestor();
    state.threshold = 2;
    expect(await askOrder()).toBe("threshold_too_low");
    expect(signed).toEqual([]);
  });

  test("is refused under a delivery id of another payout", async () => {
    const { askOrder } = openAttestor();
    expect(await askOrder({}, toHex32(hashOf("another id")))).toBe("other_delivery_id");
  });

  test("is of the lock with exactly the facts of the request, and of no other [V6]", async () => {
    const { state, askOrder, askClaim, askReturn, facts, nowS } = openAttestor();
    state.finalTime = nowS + WINDOW_S + 1n;
    await askOrder();
    await askClaim();
    await askReturn();
    expect(state.asked).toEqual([facts, facts, facts]);
    await askOrder({ lockedAmount: 7n, minOut: 6n, seq: 5n });
    const other = { amount: 7n, minOut: 6n, seq: 5n };
    expect(state.asked.at(-1)).toEqual({ ...facts, ...other });
  });

  test("is refused for a window that starts after the final lock [T241]", async () => {
    const { askOrder, signed, nowS } = openAttestor();
    expect(await askOrder({ windowStart: nowS + 1n })).toBe("window_starts_after_lock");
    expect(signed).toEqual([]);
    expect(await askOrder({ windowStart: nowS - 1n })).toBe(SIGNATURE);
  });

  test("is judged by the time of the final lock, wherever a reorg moved it [T240]", async () => {
    const { state, lock, askOrder, nowS } = openAttestor();
    state.lock = { ...lock, lockedAt: nowS - 60n };
    expect(await askOrder()).toBe("window_starts_after_lock");
    state.listedAt = nowS - 120n;
    state.thresholdAt = nowS - 60n;
    expect(await askOrder({ windowStart: nowS - 60n })).toBe(SIGNATURE);
  });

  test("is refused when its delivery is already on its chain [V6]", async () => {
    const { state, askOrder } = openAttestor();
    state.deliveredLatest = true;
    expect(await askOrder()).toBe("already_delivered");
  });

  test("is refused when its lock holds nothing any more", async () => {
    const { state, lock, askOrder } = openAttestor();
    state.lock = { ...lock, state: "claimed" };
    expect(await askOrder()).toBe("already_claimed");
  });

  test("is answered at once behind fifty waiting requests [T46]", async () => {
    const { state, lock, clock, deps, askOrder, answerOf } = openAttestor();
    state.lock = null;
    for (let i = 0; i < 60; i++) await askOrder();
    state.lock = lock;
    clock.advance(1);
    expect(await askOrder()).toBe(SIGNATURE);
    clock.advance(10_000);
    await pollAttestationRequests(deps);
    await pollAttestationRequests(deps);
    expect(await answerOf(`delivery:${DELIVERY_ID}:1`)).toBe(SIGNATURE);
  });

  test("waits for one turn of another integrator, however many requests that one has [T171]", async () => {
    const { ask, order, deps } = openAttestor();
    const integratorOf = (byte: string) => toHex32(`0x${"00".repeat(16)}${byte.repeat(16)}`);
    const request = (integrator: Hex32, seq: bigint): AttestationRequest => ({
      kind: "delivery",
      order: { ...order, seq, commitment: { ...commitment, integrator } },
      hints: [],
    });
    for (let seq = 0n; seq < 60n; seq += 1n) {
      await ask(request(integratorOf("aa"), seq), DELIVERY_ID, deps, false);
    }
    await ask(request(integratorOf("bb"), 60n), DELIVERY_ID, deps, false);
    const listed = async () =>
      (
        await listOpenRequests(database.db, {
          attestor: deps.signer.address,
          kinds: ["delivery"],
          nowMs: deps.clock.now(),
          limit: 4,
        })
      ).map(({ id }) => Number(id.split(":").at(-1)));
    expect(await listed()).toEqual([1, 61, 2, 3]);

    const { integratorId } = await createIntegrator(
      { db: database.db, random: createCountingRandom() },
      { name: "heavy", refundEvm: RECIPIENT, maxFeeBps: 50, maxSlippageBps: 100 },
    );
    const { db } = database;
    await db.updateTable("integrators").set({ queue_weight: 3 }).execute();
    const heavy = toHex32(`0x${"00".repeat(16)}${integratorId.replaceAll("-", "")}`);
    for (let seq = 61n; seq < 64n; seq += 1n) {
      await ask(request(heavy, seq), DELIVERY_ID, deps, false);
    }
    expect((await listed()).toSorted((a, b) => a - b)).toEqual(
      [1, 61, 62, 63].toSorted((a, b) => a - b),
    );
  });

  test("does not affect others when its request is malformed", async () => {
    const { state, lock, askOrder } = openAttestor();
    state.lock = null;
    await askOrder();
    await database.db.updateTable("attestations").set({ request: '{"kind":"delivery"}' }).execute();
    state.lock = lock;
    expect(await askOrder()).toBe(SIGNATURE);
  });

  test("is left unanswered after its deadline", async () => {
    const { askOrder, nowS } = openAttestor();
    expect(await askOrder({ windowStart: nowS - WINDOW_S - 1n })).toBe("waits");
  });
});

describe("a claim", () => {
  test("is signed when the payout of its lock is final", async () => {
    const { state, found, askClaim, signed } = openAttestor();
    state.deliveredFinal = true;
    state.found = found;
    expect(await askClaim()).toBe(SIGNATURE);
    expect(signed).toEqual([[2, 999_000n]]);
  });

  test("is signed during a breach that leaves it safe, while payouts wait [T159]", async () => {
    const { state, found, askClaim, askOrder } = openAttestor();
    state.deliveredFinal = true;
    state.found = found;
    await recordFindings(database.db, [
      toFinding("lock_lost", { chainId: 2, subject: "a lock", details: {} }),
      toFinding("sweep_differs", { chainId: 30, subject: "a settlement", details: {} }),
    ]);
    expect(await askOrder()).toBe("waits");
    expect(await askClaim()).toBe(SIGNATURE);
  });

  test.each([2, 30])(
    "waits while final blocks of chain %i are in doubt [T158, T159]",
    async (chainId) => {
      const { state, found, askClaim } = openAttestor();
      state.deliveredFinal = true;
      state.found = found;
      await recordFindings(database.db, [
        toFinding("final_block_replaced", { chainId, subject: "0xab", details: {} }),
      ]);
      expect(await askClaim()).toBe("waits");
    },
  );

  test("waits until the payout is final", async () => {
    const { state, found, askClaim } = openAttestor();
    state.deliveredLatest = true;
    state.found = found;
    expect(await askClaim()).toBe("waits");
    state.deliveredFinal = true;
    state.found = { ...found, blockNumber: 11n };
    expect(await askClaim()).toBe("waits");
  });

  test.each<[string, Partial<FoundDelivery>]>([
    ["another recipient", { to: address("66") }],
    ["another token", { token: address("66") }],
    ["another amount", { amount: 999_001n }],
  ])("is refused for a payout of %s [V5]", async (_what, change) => {
    const { state, found, askClaim } = openAttestor();
    state.deliveredFinal = true;
    state.found = { ...found, ...change };
    expect(await askClaim()).toBe("other_payment");
  });

  test("is refused for a payout below the promised minimum", async () => {
    const { state, found, askClaim } = openAttestor();
    state.deliveredFinal = true;
    state.found = { ...found, amount: 994_999n };
    expect(await askClaim({ paidAmount: 994_999n })).toBe("other_payment");
  });

  test("is refused for a lock that is already claimed", async () => {
    const { state, lock, found, askClaim } = openAttestor();
    state.deliveredFinal = true;
    state.found = found;
    state.lock = { ...lock, state: "claimed" };
    expect(await askClaim()).toBe("already_claimed");
  });
});

describe("a refund", () => {
  const proof = (nowS: bigint) =>
    ({
      commitment,
      token: USDC_SOURCE,
      maxAmount: 40n,
      reason: "below_minimum",
      deadline: nowS + 570n,
    }) as const;

  function openTerms(deps: AttestorDeps): AttestorDeps {
    Object.assign(deps.chains.get(2) ?? {}, { findBalance: async () => 40n });
    const general = { ...NOTHING_REFUNDED, belowMinimum: true };
    const policies = { general, byAuthority: new Map() };
    const isBelowMinimum = async (_: number, __: unknown, balance: bigint) => balance < 100n;
    return { ...deps, refunds: { policies, isBelowMinimum } };
  }

  test("is signed by the attestor's own terms, and by none of an attestor without them [T192]", async () => {
    const { deps, ask, nowS, signed } = openAttestor();
    const request = { kind: "refund", srcChain: 2, proof: proof(nowS) } as const;
    expect(await ask(request, COMMITMENT_HASH)).toBe("not_allowed");
    expect(await ask(request, COMMITMENT_HASH, openTerms(deps))).toBe(SIGNATURE);
    expect(signed).toEqual([[2, 40n]]);
  });

  test("is refused under another commitment, and for an unknown chain", async () => {
    const { deps, ask, nowS } = openAttestor();
    const request = { kind: "refund", srcChain: 2, proof: proof(nowS) } as const;
    const attestor = openTerms(deps);
    expect(await ask(request, OTHER_ID, attestor)).toBe("other_commitment");
    expect(await ask({ ...request, srcChain: 5 }, COMMITMENT_HASH, attestor)).toBe("unknown_chain");
  });

  test("waits while its chain is halted, and not for its destination", async () => {
    const { deps, ask, nowS } = openAttestor();
    const request = { kind: "refund", srcChain: 2, proof: proof(nowS) } as const;
    const halt = (chainId: number) =>
      recordFindings(database.db, [
        toFinding("sweep_differs", { chainId, subject: `of ${chainId}`, details: {} }),
      ]);
    await halt(30);
    expect(await ask(request, COMMITMENT_HASH, openTerms(deps))).toBe(SIGNATURE);
    await halt(2);
    expect(await ask(request, COMMITMENT_HASH, openTerms(deps))).toBe("waits");
  });
});

describe("a return", () => {
  test("is signed when a final block after the payout window shows no delivery", async () => {
    const { askReturn, state, nowS, signed } = openAttestor();
    state.finalTime = nowS + WINDOW_S + 1n;
    expect(await askReturn()).toBe(SIGNATURE);
    expect(signed).toEqual([[2, DELIVERY_ID]]);
  });

  test("waits while a payout can still be paid", async () => {
    const { askReturn, state, nowS, signed } = openAttestor();
    state.finalTime = nowS + WINDOW_S;
    expect(await askReturn()).toBe("waits");
    expect(signed).toEqual([]);
  });

  test("waits out the window of the contract, which refuses all later payouts", async () => {
    const { askReturn, state, nowS } = openAttestor();
    state.windowS = WINDOW_S + 5n;
    state.finalTime = nowS + WINDOW_S + 5n;
    expect(await askReturn()).toBe("waits");
    state.finalTime += 1n;
    expect(await askReturn()).toBe(SIGNATURE);
  });

  test("counts the window from the time of the final lock, wherever a reorg moved it [T240]", async () => {
    const { askReturn, state, lock, nowS } = openAttestor();
    state.lock = { ...lock, lockedAt: nowS + 60n };
    state.finalTime = nowS + 60n + WINDOW_S;
    expect(await askReturn()).toBe("waits");
    state.finalTime += 1n;
    expect(await askReturn()).toBe(SIGNATURE);
  });

  test("is refused after the delivery", async () => {
    const { askReturn, state, nowS } = openAttestor();
    state.finalTime = nowS + WINDOW_S + 1n;
    state.deliveredFinal = true;
    expect(await askReturn()).toBe("already_delivered");
  });

  test.each(["claimed", "returned", "taken_back"] as const)(
    "is refused when the lock is %s",
    async (ended) => {
      const { askReturn, state, lock, nowS } = openAttestor();
      state.finalTime = nowS + WINDOW_S + 1n;
      state.lock = { ...lock, state: ended };
      expect(await askReturn()).toBe(`already_${ended}`);
    },
  );

  test("is refused like a claim for a lock of another id or contract, and waits for one that is not final", async () => {
    const { askClaim, askReturn, state, nowS } = openAttestor();
    state.finalTime = nowS + WINDOW_S + 1n;
    const delivery = padAddress(address("66"));
    expect(await askReturn({ delivery })).toBe("other_lock");
    expect(await askClaim({}, { delivery })).toBe("other_lock");
    expect(await askReturn({ amount: 1n })).toBe("other_delivery_id");
    expect(await askClaim({}, { amount: 1n })).toBe("other_delivery_id");
    expect(state.asked).toEqual([]);
    state.lock = null;
    expect(await askReturn()).toBe("waits");
  });
});

describe("a payout before its lock is final", () => {
  const terms = { exposure: 100n, tiers: [{ after: 3, upTo: 10n }], exceptions: [] };

  /** An attestor with rules of its own, which values the payout at 5. */
  function openEarly() {
    const opened = openAttestor();
    const { deps, state, order } = opened;
    state.isFresh = true;
    const early = {
      closed: false,
      worth: 5n,
      refusal: null as Error | null,
      signed: [] as unknown[],
    };
    const attestor: AttestorDeps = {
      ...deps,
      signer: {
        ...deps.signer,
        signDelivery: async (_chainId, _order, worth) => {
          if (early.refusal) throw early.refusal;
          early.signed.push(worth);
          return SIGNATURE;
        },
      },
      early: {
        rules: new Map([[2, { terms, readWorth: async () => early.worth }]]),
        isClosed: () => early.closed,
      },
    };
    const ask = (windowStart = order.windowStart - 60n, by = attestor) =>
      opened.ask(
        { kind: "delivery", order: { ...order, windowStart }, hints: [] },
        DELIVERY_ID,
        by,
      );
    return { ...opened, early, ask };
  }

  test("is signed deep enough, with the value at risk [T270]", async () => {
    const { early, ask } = openEarly();
    expect(await ask()).toBe(SIGNATURE);
    expect(early.signed).toEqual([5n]);
  });

  test("waits without rules, above the tiers, and while a lock of the chain is missing [T273]", async () => {
    const { deps, early, ask } = openEarly();
    expect(await ask(undefined, deps)).toBe("waits");
    early.worth = 11n;
    expect(await ask()).toBe("waits");
    early.worth = 5n;
    early.closed = true;
    expect(await ask()).toBe("waits");
    expect(early.signed).toEqual([]);
  });

  test("waits for a window that starts no later than a final block without the lock [T271]", async () => {
    const { early, order, ask } = openEarly();
    // The lock may come back in a block of any later time, whose return would wait only for the window of that time.
    expect(await ask(order.windowStart - 59n)).toBe("waits");
    expect(early.signed).toEqual([]);
  });

  test("waits while the exposure of the signer has no room [T270]", async () => {
    const { early, ask } = openEarly();
    early.refusal = new SignerWaits("above the exposure");
    expect(await ask()).toBe("waits");
  });
});
