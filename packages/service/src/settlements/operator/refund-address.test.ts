/** Refunds by address and token, against real PostgreSQL, with the chain's answers set by hand. */
import { sql } from "kysely";
import { describe, expect, test, vi } from "vitest";
import { hashOf, LANE } from "../../../test/support/doubles.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { type Chain, MORE_ARRIVED } from "../../chains/port/index.ts";
import type { RefundPolicy } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { refundSettlement } from "./refund.ts";
import { retrySettlement } from "./retry.ts";
import { refundAddress } from "./refund-address.ts";
import { explainWait } from "./explain.ts";
import { readSettlementFile } from "./file.ts";

const BY = { operator: "ada@desk", reason: "ticket 7" };
/** The refund authority: the desk's integrator sets it to its recipient. */
const AUTHORITY = RECIPIENT;
const STRANGER = toEvmAddress(`0x${"5".repeat(40)}`);
const MINIMUM = 100n;
const DUST = 40n;

/** Opens a vault on a chain where only the signer can move funds, with a deposit below the minimum. */
async function openDust() {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  desk.turnIntoVaults();
  const chain: Chain = Object.assign(chainOf(desk), {
    readHolding: async () => {
      const { balance } = desk.state;
      await desk.state.meanwhile();
      return { amount: balance };
    },
  });
  const deposit = async (amount: bigint, block: bigint) => {
    desk.state.balance += amount;
    await desk.arrive(address, { amount, block });
  };
  await deposit(DUST, 90n);
  expect(await desk.swaps()).toEqual([]);
  const ask = (change: object = {}) =>
    refundAddress(desk.deps, {
      ...BY,
      chainId: 2,
      wallet: address.wallet,
      token: USDC,
      to: AUTHORITY,
      ...change,
    });
  const sent = () =>
    desk.db
      .selectFrom("transactions")
      .select(["intent", "state", "lane", "settlement_id"])
      .orderBy("created_at")
      .execute();
  const recorded = () => desk.db.selectFrom("address_refunds").selectAll().execute();
  /** Makes the refund's transaction final. */
  const land = async (intent: string, left = 0n) => {
    await desk.mine(intent);
    desk.state.balance = left;
  };
  return { desk, chain, address, deposit, ask, sent, recorded, land };
}

function chainOf(desk: Awaited<ReturnType<typeof openDesk>>): Chain {
  const chain = desk.deps.chains.get(2);
  if (!chain) throw new Error("the desk has a chain");
  return chain;
}

describe("a refund by address", () => {
  test("is one order for the whole balance, recorded with operator and reason", async () => {
    const { desk, chain, address, ask, sent, recorded } = await openDust();
    const build = vi.spyOn(chain.wallets, "buildRefund");
    const wakeLanes = vi.spyOn(desk.deps, "wakeLanes");
    const { refund, changed } = await ask();
    expect(changed).toBe(true);
    expect(refund).toMatchObject({
      amount: DUST,
      authority: AUTHORITY,
      intent: `refund:${refund.id}:1`,
      state: "queued",
      succeeded: null,
      txHash: null,
      ...BY,
    });
    expect(build.mock.calls).toEqual([[address.commitment, USDC, { amount: DUST, reason: null }]]);
    expect(wakeLanes).toHaveBeenCalledExactlyOnceWith(2);
    expect(await sent()).toEqual([
      { intent: refund.intent, state: "queued", lane: LANE, settlement_id: null },
    ]);
    expect(await recorded()).toMatchObject([
      { id: refund.id, wallet: address.wallet, token: USDC, refund_to: AUTHORITY, ...BY },
    ]);
    expect(await desk.swaps()).toEqual([]);
  });

  test("states the reason that policy and chain show, and none that they do not", async () => {
    const { desk, chain, ask, land } = await openDust();
    const build = vi.spyOn(chain.wallets, "buildRefund");
    const refunds = async (policy: Partial<RefundPolicy>) => {
      const general = { ...NOTHING_REFUNDED, ...policy };
      Object.assign(desk.deps, {
        attestedRefunds: {
          policies: { general, byAuthority: new Map() },
          attestors: { threshold: 1, accounts: [], recover: () => null },
          wakeAttestor: () => undefined,
        },
      });
      const { refund } = await ask();
      await land(refund.intent, DUST);
      return build.mock.lastCall?.at(2);
    };
    expect(await refunds({ unlisted: true, deadAfterS: 60n })).toMatchObject({ reason: null });
    expect(await refunds({ belowMinimum: true })).toMatchObject({ reason: "below_minimum" });
    expect(await refunds({ expiredAfterS: 60n })).toMatchObject({ reason: null });
    desk.state.stood = DUST;
    expect(await refunds({ expiredAfterS: 60n })).toMatchObject({ reason: "expired" });
    desk.state.stood = DUST - 1n;
    expect(await refunds({ expiredAfterS: 60n })).toMatchObject({ reason: null });
  });

  test("leaves the account's minimum balance behind when dust keeps arriving", async () => {
    const { chain, ask, recorded } = await openDust();
    const amount = 1_000n;
    vi.spyOn(chain, "readHolding").mockResolvedValue({ amount, spare: 400n });
    vi.spyOn(chain, "simulate").mockRejectedValueOnce(
      new OperatingError("RPC_UNAVAILABLE", "Not now.", { details: { reason: MORE_ARRIVED } }),
    );
    expect(await ask()).toMatchObject({ changed: true, refund: { amount: 600n } });
    expect(await recorded()).toHaveLength(1);
  });

  test("requested concurrently is one order, and a repeated request returns that order", async () => {
    const { ask, sent, recorded } = await openDust();
    const results = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(new Set(results.map(({ refund }) => refund.intent)).size).toBe(1);
    const again = await ask();
    expect(again).toMatchObject({ changed: false, refund: { amount: DUST } });
    expect(await sent()).toHaveLength(1);
    expect(await recorded()).toHaveLength(1);
  });

  test("that is mined is returned with its transaction, and a later balance gets a new refund", async () => {
    const { desk, ask, land, sent } = await openDust();
    const { refund } = await ask();
    await desk.mine(refund.intent, true, "mined");
    desk.state.balance = 0n;
    const txHash = hashOf(refund.intent);
    expect(await ask()).toMatchObject({
      changed: false,
      refund: { id: refund.id, state: "mined", txHash },
    });
    await land(refund.intent);
    expect(await ask()).toMatchObject({
      changed: false,
      refund: { id: refund.id, state: "final", succeeded: true, txHash },
    });
    desk.state.balance = 7n;
    const next = await ask();
    expect(next).toMatchObject({ changed: true, refund: { amount: 7n } });
    expect(next.refund.id).not.toBe(refund.id);
    expect(await sent()).toHaveLength(2);
  });

  test.each([
    ["failed finally", false],
    ["was abandoned by the signer", true],
  ])("that %s can be requested again", async (_, isAbandoned) => {
    const { desk, ask } = await openDust();
    const { refund } = await ask();
    await desk.mine(refund.intent, false);
    if (isAbandoned) {
      await sql`update transactions set state = 'abandoned', succeeded = null, mined_hash = null,
                  mined_block_hash = null, mined_block_number = null`.execute(desk.db);
    }
    const next = await ask();
    expect(next.changed).toBe(true);
    expect(next.refund.id).not.toBe(refund.id);
  });

  test("whose simulation fails changes nothing", async () => {
    const { desk, ask, sent, recorded } = await openDust();
    desk.state.simulation = { ok: false, reason: "frozen" };
    await expect(ask()).rejects.toMatchObject({ code: "SIMULATION_REVERTED" });
    expect([await sent(), await recorded()]).toEqual([[], []]);
  });

  test.each([
    ["of an empty balance", "holds nothing of the token"],
    ["to a stranger", "nobody else can get a refund"],
    ["of an unknown address", `There is no deposit address ${STRANGER}`],
    ["where the authority can take it directly", "The refund authority can take it by itself"],
  ])("%s is refused", async (what, message) => {
    const { desk, chain, ask, sent } = await openDust();
    if (what === "of an empty balance") desk.state.balance = 0n;
    if (what.startsWith("where"))
      Object.assign(chain, { kind: "evm", wallets: { kind: "contract" } });
    const change =
      what === "to a stranger"
        ? { to: STRANGER }
        : what === "of an unknown address"
          ? { wallet: STRANGER }
          : {};
    await expect(ask(change)).rejects.toThrow(message);
    expect(await sent()).toEqual([]);
  });
});

describe("a refund and a settlement of one holding", () => {
  test("exclude each other: a refund is refused while a settlement is active", async () => {
    const { desk, ask, deposit, sent } = await openDust();
    await deposit(MINIMUM, 91n);
    const [swap] = await desk.swaps();
    await expect(ask()).rejects.toThrow(`Settlement ${swap?.id} is settling`);
    await desk.poll();
    expect((await sent()).map(({ intent }) => intent)).toEqual([`sweep:${swap?.id}:1`]);
    await expect(ask()).rejects.toThrow("(settling)");
  });

  test("exclude each other: a new settlement waits until the refund is final", async () => {
    const { desk, ask, deposit, sent, land } = await openDust();
    const { refund } = await ask();
    await deposit(1_000n, 91n);
    const [swap] = await desk.swaps();
    await desk.poll();
    await desk.poll();
    expect((await sent()).map(({ intent }) => intent)).toEqual([refund.intent]);
    await desk.mine(refund.intent, true, "mined");
    await desk.poll();
    expect(await sent()).toHaveLength(1);
    expect((await desk.swaps())[0]).toMatchObject({
      status: "pending_settle",
      retryCount: 0,
      error: null,
    });
    const file = swap && (await readSettlementFile(desk.db, swap.id));
    expect(file && explainWait(file)).toBe(
      `${refund.intent} to end; the remaining balance is swept afterwards`,
    );
    await land(refund.intent, 1_000n);
    await desk.poll();
    expect((await sent()).map(({ intent }) => intent)).toEqual([
      refund.intent,
      `sweep:${swap?.id}:1`,
    ]);
    expect((await desk.swaps())[0]).toMatchObject({ status: "settling" });
  });

  test("read the balance again when a settlement was queued and completed during the first read", async () => {
    const { desk, ask, deposit, recorded } = await openDust();
    desk.state.meanwhile = async () => {
      desk.state.meanwhile = async () => {};
      await deposit(MINIMUM, 91n);
      await desk.poll();
      const [swap] = await desk.swaps();
      desk.state.balance = 0n;
      await desk.mine(`sweep:${swap?.id}`);
      desk.state.swept = MINIMUM + DUST;
      desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 1n };
      await desk.poll();
      expect((await desk.swaps())[0]).toMatchObject({ status: "completed" });
      desk.state.balance = 3n;
    };
    expect(await ask()).toMatchObject({ changed: true, refund: { amount: 3n } });
    expect(await recorded()).toHaveLength(1);
  });

  test("exclude each other when the settlement is dead: one refund at a time, and no retry before it is final", async () => {
    const { desk, ask, deposit, land } = await openDust();
    desk.state.simulation = { ok: false, reason: "Paused" };
    await deposit(MINIMUM, 91n);
    for (let i = 0; i < 8; i++) await desk.poll();
    const [swap] = await desk.swaps();
    if (!swap) throw new Error("there is a settlement");
    expect(swap).toMatchObject({ status: "dead" });
    desk.state.simulation = { ok: true, gas: 1n };

    const byId = () => refundSettlement(desk.deps, { ...BY, id: swap.id, to: AUTHORITY });
    const retry = () => retrySettlement(desk.deps, { ...BY, id: swap.id });
    const { refund } = await ask();
    await expect(byId()).rejects.toThrow(`The refund ${refund.intent} takes the balance`);
    await expect(retry()).rejects.toThrow(`The refund ${refund.intent} is pending`);
    await land(refund.intent, 1_000n);

    expect(await byId()).toMatchObject({ intent: `refund:${swap.id}:1`, changed: true });
    await expect(ask()).rejects.toThrow(`The refund refund:${swap.id}:1 of a settlement`);
  });
});

describe("the database", () => {
  const insert = (desk: Awaited<ReturnType<typeof openDesk>>, intent: string, id: string | null) =>
    sql`insert into transactions (id, chain_id, lane, intent, settlement_id, to_address, data, value, gas, state)
        values (gen_random_uuid(), 2, ${LANE}, ${intent}, ${id}, ${LANE}, '0x', 0, 1, 'queued')`.execute(
      desk.db,
    );

  test("rejects a sweep during a refund, and a refund during a settlement or another refund", async () => {
    const { desk, ask, deposit, address, land } = await openDust();
    const { refund } = await ask();
    await deposit(1_000n, 91n);
    const [swap] = await desk.swaps();
    if (!swap) throw new Error("there is a settlement");
    const rival = "a refund of the same holding is on its way";
    await expect(insert(desk, `sweep:${swap.id}:1`, swap.id)).rejects.toThrow(rival);
    await expect(insert(desk, `refund:${swap.id}:1`, swap.id)).rejects.toThrow(rival);
    await land(refund.intent, 1_000n);
    const other = await sql<{ intent: string }>`
      insert into address_refunds (id, address_id, chain_id, wallet, token, amount, refund_to, operator, reason)
      values (gen_random_uuid(), ${address.id}, 2, ${address.wallet}, ${USDC}, 1, ${AUTHORITY}, 'a', 'b')
      returning intent`.execute(desk.db);
    await expect(insert(desk, other.rows[0]?.intent ?? "", null)).rejects.toThrow(
      "a settlement of the same holding is under way",
    );
    await insert(desk, `sweep:${swap.id}:1`, swap.id);
  });

  test("rejects changes to recorded refunds by address", async () => {
    const { desk, ask } = await openDust();
    await ask();
    for (const change of [
      sql`update address_refunds set reason = 'another'`,
      sql`delete from address_refunds`,
      sql`truncate address_refunds`,
    ]) {
      await expect(change.execute(desk.db)).rejects.toThrow("only added to");
    }
  });
});
