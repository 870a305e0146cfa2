/** The delivery worker over a real PostgreSQL, with what the chains show set by hand. */
import { describe, expect, test } from "vitest";
import { createStrictChain, hashOf, LANE, silentLog } from "../../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import type { FoundDelivery, Lock } from "../../chains/port.ts";
import { assert } from "../../core/assert.ts";
import { padAddress, toHex32 } from "../../core/hex.ts";
import { submitIntent } from "../../transactions/index.ts";
import { type DeliveryDeps, lookAtDueDeliveries } from "./deliver.ts";
import { getDelivery, insertDelivery } from "./store.ts";

const ID = toHex32(hashOf("delivery"));

/** A settlement whose sweep is mined, and its lock. */
async function openLocked() {
  const desk = await openDesk();
  const { db, clock } = desk;
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  await desk.look();
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
    hinted: [] as unknown[],
  };
  const source = createStrictChain({
    chainId: 2,
    getLock: async (_id, _at, hints) => {
      state.hinted.push(["lock", hints]);
      return state.lock;
    },
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
    onChanged: async () => undefined,
    onGivenBack: async () => undefined,
    wakeSettlements: nothing,
    wakeAttestor: nothing,
    wakeLanes: nothing,
    pollMs: 500,
  };
  const look = async () => {
    clock.advance(60_000);
    await lookAtDueDeliveries(deps, 30);
  };
  const requests = async () =>
    (await db.selectFrom("attestations").select(["id", "request"]).orderBy("id").execute()).map(
      // CAST: JSON of our own.
      ({ id, request }) => ({ id, ...(request as object) }),
    );
  return { desk, deps, settlementId: swap.id, state, look, requests };
}

describe("where a lock and its delivery are looked for", () => {
  test("are the transactions that we made, and the attestor is told", async () => {
    const { desk, deps, settlementId, state, look, requests } = await openLocked();
    const sweep = hashOf("sweep:");
    await look();
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
    await look();
    expect((await getDelivery(desk.db, ID))?.state).toBe("delivered");
    await look();
    expect(state.hinted.at(-1)).toEqual(["lock", expect.arrayContaining([sweep, txHash])]);
    expect(await requests()).toMatchObject([
      { id: `claim:${ID}:1`, hints: expect.arrayContaining([sweep, txHash]) },
      { id: `delivery:${ID}:1` },
    ]);
  });
});
