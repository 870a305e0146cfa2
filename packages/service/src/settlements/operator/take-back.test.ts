/** The steps of a take-back, as an operator shows them to a refund authority. */
import { describe, expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { formatTakeBack } from "../../cli/settlement/take-back.ts";
import type { Lock, TakeBackStep } from "../../chains/port/index.ts";
import { padAddress, toHex32 } from "../../core/hex.ts";
import { insertDelivery } from "../../routes/swift/store.ts";
import { planTakeBack } from "./take-back.ts";

const DELIVERY_ID = toHex32(hashOf("delivery"));
const HOUR_S = 3_600n;

/** A settlement whose deposit is locked. */
async function openLocked() {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  const [swap] = await desk.swaps();
  if (!swap) throw new Error("there is a settlement");
  const { wallet, commitment } = address;
  const nowS = BigInt(Math.floor(desk.clock.now() / 1000));
  const numbers = { minOut: 990n, seq: 0n, lockedAt: nowS };
  const facts = { delivery: padAddress(RECIPIENT), token: USDC, ...numbers };
  const state = {
    lock: {
      ...facts,
      commitment: address.commitmentHash,
      amount: 1_000n,
      state: "locked",
    } as Lock | null,
    announcedAt: null as bigint | null,
    steps: [] as TakeBackStep[],
  };
  const chain = desk.deps.chains.get(2);
  if (!chain) throw new Error("the desk has a chain");
  Object.assign(chain, { getLock: async () => state.lock });
  Object.assign(chain.wallets, {
    getAnnouncement: async () => state.announcedAt,
    buildTakeBack(step: TakeBackStep) {
      state.steps.push(step);
      return { to: RECIPIENT, data: "0x7a", value: 0n };
    },
  });
  await desk.db.transaction().execute((tx) =>
    insertDelivery(
      tx,
      {
        ...facts,
        wallet,
        destChain: 30,
        id: DELIVERY_ID,
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
      desk.clock.now(),
    ),
  );
  const plan = (cancels = false) => planTakeBack(desk.deps, { id: swap.id, cancels });
  return { desk, id: swap.id, commitment, state, nowS, plan };
}

describe("a take-back", () => {
  test("is announced first, at least a day before it is possible", async () => {
    const { state, commitment, nowS, plan } = await openLocked();
    expect(await plan()).toMatchObject({
      step: "announce",
      authority: RECIPIENT,
      lock: { amount: 1_000n, possibleFrom: nowS + 72n * HOUR_S },
      obstacle: null,
    });
    if (state.lock) state.lock = { ...state.lock, lockedAt: nowS - 60n * HOUR_S };
    expect((await plan()).lock?.possibleFrom).toBe(nowS + 24n * HOUR_S);
    expect(state.steps.at(-1)).toEqual({ kind: "announce", commitment, token: USDC });
  });

  test("is executed from the later of 72 hours after the lock and 24 after the announcement", async () => {
    const { desk, state, commitment, nowS, plan } = await openLocked();
    state.announcedAt = nowS + 60n * HOUR_S;
    desk.state.simulation = { ok: false, reason: "TooEarly" };
    const planned = await plan();
    expect(planned).toMatchObject({
      step: "take_back",
      lock: { possibleFrom: nowS + 84n * HOUR_S },
      obstacle: "it reverts with TooEarly",
    });
    const step = { kind: "take_back", commitment, lock: state.lock };
    expect(state.steps).toEqual([step]);
    const text = formatTakeBack({ chains: [] }, planned);
    expect(text).toContain("Step 2 of 2");
    expect(text).toContain("would fail now: it reverts with TooEarly");
  });

  test("is cancelled, also after the lock ended, so that the deposit address locks again", async () => {
    const { state, commitment, nowS, plan } = await openLocked();
    await expect(plan(true)).rejects.toThrow("No take-back");
    state.announcedAt = nowS;
    state.lock = null;
    expect(await plan(true)).toMatchObject({ step: "cancel", lock: null });
    expect(state.steps).toEqual([{ kind: "cancel", commitment, token: USDC }]);
  });

  test("is refused for a lock that ended or was paid", async () => {
    const { desk, state, plan } = await openLocked();
    const { lock } = state;
    state.lock = null;
    await expect(plan()).rejects.toThrow("holds no lock");
    state.lock = lock && { ...lock, state: "claimed" };
    await expect(plan()).rejects.toThrow("holds no lock");
    state.lock = lock;
    const deliveredTxHash = hashOf("payout");
    await desk.db
      .updateTable("deliveries")
      .set({ state: "delivered", delivered_tx_hash: deliveredTxHash, delivered_amount: "999" })
      .execute();
    await expect(plan()).rejects.toThrow(`delivered in ${deliveredTxHash}`);
  });
});
