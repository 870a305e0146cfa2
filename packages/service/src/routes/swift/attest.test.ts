/** The attestor's decisions: it signs facts of final blocks and refuses everything else. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  unseenMetrics,
} from "../../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import type { Chain, Payout, FoundDelivery, Lock } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import {
  type Hex,
  type Hex32,
  padAddress,
  toEvmAddress,
  toHex32,
  toTxHash,
} from "../../core/hex.ts";
import { type AttestorDeps, pollAttestationRequests } from "./attest.ts";
import { type AttestationId, type AttestationRequest } from "./attestation-requests.ts";
import { insertAttestation } from "./attestations.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC_SOURCE = address("a0");
const USDC_DEST = address("b0");
const ESCROW = address("e5");
const DELIVERY = address("de");
const RECIPIENT = address("1e");
const WALLET = address("3a");
const DELIVERY_ID = toHex32(hashOf("delivery id"));
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
  const lock: Lock = {
    wallet: WALLET,
    commitment: COMMITMENT_HASH,
    token: USDC_SOURCE,
    amount: 1_000_000n,
    minOut: 995_000n,
    seq: 0n,
    destChain: 30,
    delivery: padAddress(DELIVERY),
    state: "locked",
    lockedAt: nowS,
  };
  const state = {
    lock: lock as Lock | null,
    deliveredLatest: false,
    deliveredFinal: false,
    found: null as FoundDelivery | null,
    finalNumber: 10n,
    finalTime: nowS,
    unreachable: false,
    /** Time at which the attestor was listed; null if it never was. */
    listedAt: nowS as bigint | null,
    /** Delivery ids whose locks are slow to read. */
    slow: new Map<Hex32, Promise<void>>(),
    hinted: [] as unknown[],
  };
  const shared = {
    hashCommitment: () => COMMITMENT_HASH,
    predictWallet: () => WALLET,
    deliveryIdOfPayout: () => DELIVERY_ID,
  };
  const source: Chain = createStrictChain({
    ...shared,
    chainId: 2,
    addresses: { walletRoot: address("fa"), escrow: ESCROW, delivery: address("d2") },
    getLock: async (id, at, hints) => {
      state.hinted.push(hints);
      await state.slow.get(id);
      if (state.unreachable) throw new OperatingError("RPC_UNAVAILABLE", "No answer.");
      if (at !== "final") throw new Error("the attestor looks at final blocks");
      return state.lock;
    },
    wasListed: async ({ role, account, time }, at) => {
      expect([role, account, at]).toEqual(["attestor", address("ad"), "final"]);
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
      signReturn: async (chainId, order) => {
        signed.push([chainId, order.deliveryId]);
        return SIGNATURE;
      },
    },
    clock,
    crashPoint: () => undefined,
    log: silentLog,
    metrics: unseenMetrics,
    payoutWindowS: 12n * 3600n,
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
    seq: 0n,
    amount: 999_000n,
    deadline: nowS + 3600n,
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
      .execute((tx) =>
        insertAttestation(tx, { id, deliveryId, deadline, request, nowMs: clock.now() }),
      );
    if (looks) await pollAttestationRequests(attestor);
    return answerOf(id);
  }
  function deadlineOf(request: AttestationRequest): bigint {
    if (request.kind === "price") return request.deadline;
    return request.kind === "claim" ? request.claim.deadline : request.order.deadline;
  }
  async function answerOf(id: AttestationId) {
    const row = await database.db
      .selectFrom("attestations")
      .select(["signature", "refusal"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return row.refusal ?? row.signature ?? "waits";
  }
  const askOrder = (change: Partial<Payout> = {}, deliveryId?: Hex32, attestor = deps) =>
    ask({ kind: "delivery", order: { ...order, ...change }, hints: HINTS }, deliveryId, attestor);
  const claim = { deliveryId: DELIVERY_ID, paidAmount: 999_000n, deadline: nowS + 3600n };
  const askClaim = (change: Partial<typeof claim> = {}) =>
    ask({ kind: "claim", srcChain: 2, commitment, claim: { ...claim, ...change }, hints: HINTS });
  const askReturn = (deliveryId = DELIVERY_ID) =>
    ask({
      kind: "return",
      srcChain: 2,
      commitment,
      order: { deliveryId, deadline: nowS + 24n * 3600n },
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
    state.slow.set(slow, new Promise((resolve) => (release = resolve)));
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
    for (const ask of [askOrder, askClaim, askReturn]) await ask();
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

  test("is refused under a delivery id of another payout", async () => {
    const { askOrder } = openAttestor();
    expect(await askOrder({}, toHex32(hashOf("another id")))).toBe("other_delivery_id");
  });

  test("is refused with a deadline more than 12 hours after its lock", async () => {
    const { askOrder, nowS } = openAttestor();
    expect(await askOrder({ deadline: nowS + 12n * 3600n + 1n })).toBe("deadline_too_late");
    expect(await askOrder({ deadline: nowS + 12n * 3600n })).toBe(SIGNATURE);
  });

  test("is refused when its delivery is already on its chain [V6]", async () => {
    const { state, askOrder } = openAttestor();
    state.deliveredLatest = true;
    expect(await askOrder()).toBe("already_delivered");
  });

  test.each<[string, string, Partial<Lock>]>([
    ["another commitment", "other_lock", { commitment: toHex32(hashOf("other")) }],
    ["another wallet", "other_lock", { wallet: address("66") }],
    ["another destination", "other_lock", { destChain: 4 }],
    ["another Delivery contract", "other_lock", { delivery: padAddress(address("66")) }],
    ["nothing any more", "already_claimed", { state: "claimed" }],
  ])("is refused when its lock holds %s, with %s", async (_what, reason, change) => {
    const { state, lock, askOrder } = openAttestor();
    state.lock = { ...lock, ...change };
    expect(await askOrder()).toBe(reason);
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
    expect(await askOrder({ deadline: nowS - 1n })).toBe("waits");
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

describe("a return", () => {
  const WINDOW_S = 12n * 3600n;

  test("is signed when a final block after every payout deadline shows no delivery", async () => {
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

  test("waits for payouts signed under a longer window", async () => {
    const { askOrder, askReturn, deps, state, nowS } = openAttestor();
    expect(await askOrder({ deadline: nowS + WINDOW_S })).toBe(SIGNATURE);
    Object.assign(deps, { payoutWindowS: 10n });
    state.finalTime = nowS + WINDOW_S;
    expect(await askReturn()).toBe("waits");
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

  test("is refused for a lock of another wallet, and waits for a lock that is not final", async () => {
    const { askReturn, state, lock, nowS } = openAttestor();
    state.finalTime = nowS + WINDOW_S + 1n;
    state.lock = { ...lock, wallet: address("bb") };
    expect(await askReturn()).toBe("other_lock");
    state.lock = null;
    expect(await askReturn()).toBe("waits");
  });
});
