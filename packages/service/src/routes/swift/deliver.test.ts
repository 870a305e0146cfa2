/** The delivery worker over a real PostgreSQL; tests set the state of the chains. */
import { describe, expect, test } from "vitest";
import { createStrictChain, hashOf, LANE, silentLog } from "../../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import type { FoundDelivery, Lock, OpenLock, Simulation } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { padAddress, toHex32 } from "../../core/hex.ts";
import { submitIntent } from "../../transactions/index.ts";
import { readAddressOf } from "../../settlements/index.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { pollDeliveries } from "./deliver.ts";
import { createSwiftRoute } from "./route.ts";
import { getDelivery, insertDelivery } from "./store.ts";

const ID = toHex32(hashOf("delivery"));

/** A settlement with a mined sweep, and its lock. */
async function openLocked() {
  const desk = await openDesk();
  const { db, clock } = desk;
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  await desk.poll();
  await desk.mine("sweep:");
  const [swap] = await desk.swaps();
  assert(swap, "there is a settlement");
  const facts = {
    wallet: address.wallet,
    token: USDC,
    seq: 7n,
    minOut: 990n,
    destChain: 30,
  };
  await db.transaction().execute((tx) =>
    insertDelivery(
      tx,
      {
        ...facts,
        id: ID,
        settlementId: swap.id,
        srcChain: 2,
        escrow: RECIPIENT,
        lockedAmount: 1_000n,
        destToken: USDC,
        destWallet: RECIPIENT,
        payAmount: 999n,
        feeService: 1n,
        feeGas: 0n,
      },
      clock.now(),
    ),
  );
  const lock: Lock = {
    ...facts,
    commitment: address.commitmentHash,
    amount: 1_000n,
    delivery: padAddress(RECIPIENT),
    state: "locked",
    lockedAt: BigInt(Math.floor(clock.now() / 1000)),
  };
  const state = {
    lock,
    found: null as FoundDelivery | null,
    deliveredFinal: false,
    /** Whether the lane was a relayer at the time of the lock. */
    wasRelayer: true,
    hinted: [] as unknown[],
    /** The way in which each claim was to end the lock. */
    ended: [] as Pick<OpenLock, "held" | "whole">[],
    /** Results of the next simulations; later ones succeed. */
    simulations: [] as Simulation[],
  };
  const source = createStrictChain({
    chainId: 2,
    getLock: async (_id, _at, hints) => {
      state.hinted.push(["lock", hints]);
      return state.lock;
    },
    wasListed: async (listing, at) => {
      expect(listing).toEqual({ role: "relayer", account: LANE, time: state.lock.lockedAt });
      expect(at).toBe("final");
      return state.wasRelayer;
    },
    buildClaim: (_claim, _signature, { held, whole }) => {
      state.ended.push({ held, ...(whole && { whole }) });
      return { to: RECIPIENT, data: "0xc1", value: 0n };
    },
    simulate: async () => state.simulations.shift() ?? { ok: true, gas: 7n },
  });
  const destination = createStrictChain({
    chainId: 30,
    findDelivery: async (_id, _at, hints) => {
      state.hinted.push(["delivery", hints]);
      return state.found;
    },
    isDelivered: async () => state.deliveredFinal,
    getHead: async () => ({ number: 100n, hash: ID, parentHash: ID }),
  });
  const nothing = () => undefined;
  const deps: DeliveryDeps = {
    db,
    chains: new Map([
      [2, source],
      [30, destination],
    ]),
    clock,
    random: desk.deps.random,
    log: silentLog,
    lanes: new Map([2, 30].map((chainId) => [chainId, { deliver: [LANE], claim: [LANE] }])),
    deliveryConfirmations: new Map([[30, 1]]),
    payoutWindowS: 3_600n,
    readAddress: (settlementId) => readAddressOf(db, settlementId),
    onChanged: async () => undefined,
    onGivenBack: async () => undefined,
    wakeSettlements: nothing,
    wakeAttestor: nothing,
    wakeLanes: nothing,
    pollMs: 500,
  };
  const poll = async () => {
    clock.advance(60_000);
    await pollDeliveries(deps, 30);
  };
  const requests = async () =>
    (await db.selectFrom("attestations").select(["id", "request"]).orderBy("id").execute()).map(
      // CAST: our own JSON.
      ({ id, request }) => ({ id, ...(request as object) }),
    );
  return { desk, deps, clock, settlementId: swap.id, state, poll, requests };
}

describe("the search for a lock and its delivery", () => {
  test("reads our own transactions and passes them to the attestor as hints", async () => {
    const { desk, deps, settlementId, state, poll, requests } = await openLocked();
    const sweep = hashOf("sweep:");
    await poll();
    expect(state.hinted).toEqual([
      ["delivery", [sweep]],
      ["lock", [sweep]],
    ]);
    expect(await requests()).toMatchObject([{ id: `delivery:${ID}:1`, hints: [sweep] }]);

    const intent = `deliver:${ID}:1` as const;
    await desk.db.transaction().execute((tx) =>
      submitIntent(tx, deps.random, {
        chainId: 30,
        lane: LANE,
        intent,
        settlementId,
        call: { to: RECIPIENT, data: "0xde", value: 0n },
        gas: 1n,
      }),
    );
    await desk.mine(intent);
    const txHash = hashOf(intent);
    state.hinted = [];
    state.deliveredFinal = true;
    state.found = {
      deliveryId: ID,
      commitment: state.lock.commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash,
      blockNumber: 90n,
    };
    await poll();
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    await poll();
    expect(state.hinted.at(-1)).toEqual(["lock", expect.arrayContaining([sweep, txHash])]);
    expect(await requests()).toMatchObject([
      { id: `claim:${ID}:1`, hints: expect.arrayContaining([sweep, txHash]) },
      { id: `delivery:${ID}:1` },
    ]);
  });
});

describe("a payout", () => {
  test("is not requested while no lane was a relayer at the lock, and its lock is returned in the end [V11]", async () => {
    const { desk, clock, state, poll, requests } = await openLocked();
    state.wasRelayer = false;
    await poll();
    expect(await requests()).toEqual([]);
    expect((await getDelivery(desk.db, ID))?.trouble).toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "relayer_not_listed" },
    });
    clock.advance(3_600_000);
    await poll();
    expect(await requests()).toMatchObject([{ id: `return:${ID}:1` }]);
  });
});

describe("a claim of a lock that third parties can top up", () => {
  /** A final delivery whose claim the attestor has signed. */
  async function openClaim() {
    const opened = await openLocked();
    const { desk, state, poll } = opened;
    const { amount, commitment } = state.lock;
    state.lock = { ...state.lock, held: amount };
    state.found = {
      deliveryId: ID,
      commitment,
      to: RECIPIENT,
      token: USDC,
      amount: 999n,
      txHash: hashOf("paid"),
      blockNumber: 90n,
    };
    state.deliveredFinal = true;
    const sign = async () => {
      await desk.db.updateTable("attestations").set({ signature: "0x51" }).execute();
    };
    await poll();
    await poll();
    await sign();
    const stateOf = async () => (await getDelivery(desk.db, ID))?.state;
    return { ...opened, sign, stateOf };
  }

  test("takes the balance and closes the lock", async () => {
    const { state, poll, stateOf } = await openClaim();
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n }]);
  });

  test("takes the whole balance when the simulation finds that it grew", async () => {
    const { state, poll, stateOf } = await openClaim();
    state.simulations = [{ ok: false, reason: "NonNativeHasBalance" }];
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n }, { held: 1_000n, whole: true }]);
  });

  test("takes the whole balance after a failure on the chain", async () => {
    const { desk, state, poll, sign, stateOf } = await openClaim();
    await poll();
    await desk.mine(`claim:${ID}:1`, false);
    await poll();
    expect(await stateOf()).toBe("delivered");
    await poll();
    await sign();
    state.ended = [];
    await poll();
    expect(await stateOf()).toBe("claiming");
    expect(state.ended).toEqual([{ held: 1_000n, whole: true }]);
  });

  test("is not sent when both ways would fail", async () => {
    const { state, poll, stateOf } = await openClaim();
    const frozen = { ok: false, reason: "AccountFrozen" } as const;
    state.simulations = [frozen, frozen];
    await poll();
    expect(await stateOf()).toBe("delivered");
    expect(state.ended).toHaveLength(2);
  });
});

describe("the number of a lock", () => {
  test("is unique for its wallet and token, even when the clock moves back", async () => {
    const { desk, clock } = await openLocked();
    const { db } = desk;
    const seqs: bigint[] = [];
    const source = createStrictChain({
      chainId: 2,
      addresses: { walletRoot: RECIPIENT, escrow: RECIPIENT, delivery: RECIPIENT },
      encodeLockData: ({ seq }) => {
        seqs.push(seq);
        return "0x10";
      },
      buildSettle: () => ({ to: RECIPIENT, data: "0x5e", value: 0n }),
    });
    const destination = createStrictChain({
      chainId: 30,
      addresses: { walletRoot: RECIPIENT, escrow: RECIPIENT, delivery: RECIPIENT },
    });
    const plan = async (token = USDC) => {
      const route = createSwiftRoute({
        db,
        clock,
        source,
        destination,
        token,
        destToken: USDC,
        decimalsIn: 6,
        decimalsOut: 6,
        contract: RECIPIENT,
        pricing: null,
      });
      await route.prepareSweep(await desk.issue("0x01"), 1_000n, { bps: 0, flat: 0n, bridge: 0n });
      const seq = seqs.pop();
      assert(seq !== undefined, "a lock has a number");
      return seq;
    };
    const setSeq = (seq: bigint) => db.updateTable("deliveries").set({ seq }).execute();
    const now = BigInt(clock.now());
    expect(await plan()).toBe(now);
    await setSeq(now);
    expect(await plan()).toBe(now + 1n);
    // The clock jumps back an hour, then forward again.
    clock.advance(-3_600_000);
    expect(await plan()).toBe(now + 1n);
    expect(await plan(RECIPIENT)).toBe(now - 3_600_000n);
    clock.advance(7_200_000);
    expect(await plan()).toBe(now + 3_600_000n);
  });
});
