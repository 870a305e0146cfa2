/** Fee terms of settlements: planned before anything is spent, stored, and waited for while they exceed the cap. */
import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { DEPLOY_COST, openDesk } from "../../test/support/settlement-desk.ts";
import { createGasPoll } from "./waiting/gas.ts";
import { readSettlementFile } from "./operator/file.ts";

/** Opens a deposit of 1,000 base units whose address allows a fee of 5. */
async function openPending(given: { readonly gas: bigint; readonly hasCode?: boolean }) {
  const desk = await openDesk();
  desk.state.hasCode = given.hasCode ?? true;
  desk.state.gas = given.gas;
  desk.state.feeBps = 10;
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0xa1"), { amount: 1_000n, block: 10n });
  const [swap] = await desk.swaps();
  if (!swap) throw new Error("the deposit was queued");
  const statusOf = async () => (await desk.swaps())[0];
  const fileOf = async () => {
    const file = await readSettlementFile(desk.db, swap.id);
    if (!file) throw new Error("the settlement is there");
    return file;
  };
  const intents = async () => {
    const rows = await desk.db.selectFrom("transactions").select("intent").execute();
    return rows.map(({ intent }) => intent);
  };
  return { desk, id: swap.id, statusOf, fileOf, intents };
}

test("a settlement whose gas exceeds the fee cap uses up no try, and settles once gas falls", async () => {
  const { desk, id, statusOf, fileOf, intents } = await openPending({ gas: 6n });
  for (let poll = 0; poll < 9; poll++) await desk.poll();
  expect(await statusOf()).toMatchObject({
    status: "failed_swap",
    retryCount: 9,
    error: { code: "FEE_NOT_COVERED", retryable: true, details: { needed: "6", cap: "5" } },
  });
  expect(await fileOf()).toMatchObject({ settlement: { triesUsed: 0, fee: null } });
  const events = (await desk.events()).length;

  // Polling creates no event and changes nothing while gas costs the same.
  await createGasPoll(desk.deps, 2)();
  expect((await fileOf()).settlement.retryAtMs).not.toBeNull();
  desk.state.gas = 4n;
  await createGasPoll(desk.deps, 2)();
  expect((await fileOf()).settlement.retryAtMs).toBeNull();
  expect(await desk.events()).toHaveLength(events);

  await desk.poll();
  expect(await intents()).toEqual([`sweep:${id}:1`]);
  expect((await fileOf()).settlement).toMatchObject({
    status: "swapping",
    fee: { bps: 10, flat: 4n, bridge: 0n },
  });
  await desk.mine(`sweep:${id}`);
  desk.state.swept = 1_000n;
  desk.state.balance = 0n;
  desk.state.delivery = {
    kind: "delivered",
    txHash: hashOf("delivery"),
    amount: 995n,
  };
  await desk.poll();
  expect(await statusOf()).toMatchObject({ status: "completed", error: null });
  expect((await fileOf()).fees).toEqual({ service: 1n, gas: 4n, bridge: 0n });
});

test("a deposit that gas would use up defers with AMOUNT_TOO_SMALL, and is polled again once gas falls", async () => {
  const { desk, statusOf, fileOf } = await openPending({ gas: 1_000n });
  await desk.poll();
  expect(await statusOf()).toMatchObject({
    status: "failed_swap",
    error: { code: "AMOUNT_TOO_SMALL", details: { reason: "fees", needed: "1000" } },
  });
  desk.state.gas = 1n;
  await createGasPoll(desk.deps, 2)();
  expect((await fileOf()).settlement.retryAtMs).toBeNull();
});

test("a deposit below its minimum is not polled again when gas falls", async () => {
  const { desk, statusOf, fileOf } = await openPending({ gas: 1n });
  desk.state.minimums = { token: 2_000n, floor: undefined };
  await desk.poll();
  expect(await statusOf()).toMatchObject({ error: { code: "AMOUNT_TOO_SMALL" } });
  await createGasPoll(desk.deps, 2)();
  expect((await fileOf()).settlement.retryAtMs).not.toBeNull();
});

test("a wallet is deployed only for a deposit that covers the deployment, and the deployment is charged", async () => {
  const { desk, id, statusOf, fileOf, intents } = await openPending({ gas: 4n, hasCode: false });
  await desk.poll();
  expect(await statusOf()).toMatchObject({
    status: "failed_deploy",
    error: { code: "FEE_NOT_COVERED", details: { needed: String(4n + DEPLOY_COST), cap: "5" } },
  });
  expect(await intents()).toEqual([]);

  desk.state.gas = 3n;
  await createGasPoll(desk.deps, 2)();
  await desk.poll();
  expect(await intents()).toEqual([`sweep:${id}:1`]);
  await desk.mine(`sweep:${id}`);
  await desk.poll();
  expect((await fileOf()).settlement).toMatchObject({
    status: "swapping",
    fee: { bps: 0, flat: 3n + DEPLOY_COST, bridge: 0n },
  });
});

test("a sweep keeps its planned fee terms when fees and gas change before it is mined [T82]", async () => {
  const { desk, id, fileOf } = await openPending({ gas: 4n });
  await desk.poll();
  const planned = { bps: 10, flat: 4n, bridge: 0n };
  expect(desk.state.prepared).toEqual([planned]);

  desk.state.feeBps = 50;
  desk.state.gas = 5_000n;
  desk.state.swept = 1_000n;
  desk.state.balance = 0n;
  await desk.mine(`sweep:${id}`);
  await desk.poll();
  expect(desk.state.recorded).toEqual([planned]);
  expect((await fileOf()).settlement.fee).toEqual(planned);
});

test("a retried sweep is planned with the current fee terms", async () => {
  const { desk, id, statusOf, fileOf } = await openPending({ gas: 4n });
  await desk.poll();
  await desk.mine(`sweep:${id}`, false);
  await desk.poll();
  expect(await statusOf()).toMatchObject({ error: { code: "TX_REVERTED" } });
  desk.state.gas = 1n;
  await desk.poll();
  expect((await fileOf()).settlement.fee).toEqual({ bps: 10, flat: 1n, bridge: 0n });
  expect(desk.state.prepared.map(({ flat }) => flat)).toEqual([4n, 1n]);
});

test("a sweep planned before fee terms were stored is recorded with the service's fee only", async () => {
  const { desk, id } = await openPending({ gas: 4n });
  await desk.poll();
  await desk.db
    .updateTable("settlements")
    .set({ fee_bps: null, fee_flat: null, fee_bridge: null })
    .execute();
  desk.state.swept = 1_000n;
  desk.state.balance = 0n;
  await desk.mine(`sweep:${id}`);
  await desk.poll();
  expect(desk.state.recorded).toEqual([{ bps: 10, flat: 0n, bridge: 0n }]);
});

test("a sweep of a vault pays for no deployment", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0xa2");
  desk.turnIntoVaults();
  desk.state.gas = 4n;
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 10n });
  await desk.poll();
  expect(desk.state.prepared).toMatchObject([{ flat: 4n }]);
});
