/** Details of events: enough to credit a customer from the event alone, and equal to the ledger. */
import {
  type DepositDetectedDetails,
  DETAILS_DEPOSITS_MAX,
  ExtendedEventItem,
  type StatusChangedDetails,
} from "@sluice/sdk/wire";
import { sql } from "kysely";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { type Desk, openDesk, RECIPIENT, USDC } from "../../test/support/settlement-desk.ts";
import { listExtendedEvents } from "../events/index.ts";
import { readReport } from "./report.ts";

async function openCharged(): Promise<Desk> {
  const desk = await openDesk();
  Object.assign(desk.route, { kind: "MONO_CHAIN", deliversBySweep: true });
  Object.assign(desk.state, { gas: 4n, feeBps: 10, balance: 1_000n });
  return desk;
}

const extendedOf = async ({ db, integratorId }: Desk) => {
  const { items } = await listExtendedEvents(db, integratorId, { limit: 500 });
  return items;
};

async function complete(desk: Desk, amount: bigint): Promise<void> {
  await desk.poll();
  await desk.mine("sweep:");
  desk.state.swept = amount;
  desk.state.balance = 0n;
  desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: amount - 5n };
  await desk.poll();
}

test("the event of a completed settlement names its deposits, amounts, fees and transactions", async () => {
  const desk = await openCharged();
  const address = await desk.issue("0xa1");
  await desk.db
    .insertInto("address_notes")
    .values({ address_id: address.id, label: "Ann", metadata: JSON.stringify({ order: "17" }) })
    .execute();
  await desk.arrive(address, { amount: 600n, block: 10n, tx: "one" });
  await desk.arrive(address, { amount: 400n, block: 11n, tx: "two" });
  await complete(desk, 1_000n);

  const events = await extendedOf(desk);
  // The double's addresses have no checksum; every other field is held against the schema.
  expect(events.flatMap((event) => [...Value.Errors(ExtendedEventItem, event)])).toEqual([]);
  const rows = await desk.deposits();
  const [swap] = await desk.swaps();
  const owner = {
    depositAddressId: address.id,
    userId: address.userId,
    label: "Ann",
    metadata: { order: "17" },
  };
  const listed = [
    { id: rows[0]?.id, amount: "600", txHash: hashOf("one"), sender: RECIPIENT, blockNumber: 10 },
    { id: rows[1]?.id, amount: "400", txHash: hashOf("two"), sender: RECIPIENT, blockNumber: 11 },
  ];
  const detected = events.filter(({ type }) => type === "deposit_detected");
  expect(detected.map(({ details }) => details)).toEqual([
    { ...owner, settlementId: swap?.id, amount: "600", deposits: [listed[0]], moreDeposits: false },
    { ...owner, settlementId: swap?.id, amount: "400", deposits: [listed[1]], moreDeposits: false },
  ]);
  expect(events.at(-1)).toMatchObject({ data: { status: "completed", queueItemId: swap?.id } });
  expect(events.at(-1)?.details).toEqual({
    ...owner,
    settlementId: swap?.id,
    deposits: listed,
    moreDeposits: false,
    amount: "1000",
    route: "MONO_CHAIN",
    sweepTxHash: swap?.swapTxHash,
    destChain: "30",
    destWallet: RECIPIENT,
    destToken: USDC,
    promisedAmount: "1",
    deliveredAmount: "995",
    deliveryTxHash: hashOf("delivery"),
    fees: { service: "1", gas: "4", bridge: "0" },
  });
});

test("fees are null until the settlement is completed, and then those of the ledger [T210]", async () => {
  const desk = await openCharged();
  await desk.arrive(await desk.issue("0xa1"), { amount: 1_000n, block: 10n });
  await complete(desk, 1_000n);
  const details = (await extendedOf(desk)).flatMap((event) =>
    event.type === "status_changed" && event.details ? [event.details] : [],
  );
  expect(details.slice(0, -1).map(({ fees }) => fees)).toEqual(details.slice(1).map(() => null));
  const { rows } = await sql<{
    part: keyof NonNullable<StatusChangedDetails["fees"]>;
    sum: string;
  }>`
    select owner as part, sum(amount)::text as sum from ledger_lines where account = 'fees'
    group by owner`.execute(desk.db);
  expect(details.at(-1)?.fees).toEqual({
    bridge: "0",
    ...Object.fromEntries(rows.map(({ part, sum }) => [part, sum])),
  });
});

test("an event lists few of many deposits, and says that there are more [T211]", async () => {
  const desk = await openCharged();
  const count = DETAILS_DEPOSITS_MAX + 5;
  await desk.arrive(await desk.issue("0xa1"), { amount: 100n, block: 10n, times: count });
  await complete(desk, 100n * BigInt(count));
  const events = await extendedOf(desk);
  for (const event of [events[0], events.at(-1)]) {
    // CAST: both kinds of details list deposits.
    const details = event?.details as DepositDetectedDetails | StatusChangedDetails;
    expect(details.deposits).toHaveLength(DETAILS_DEPOSITS_MAX);
    expect(details).toMatchObject({ moreDeposits: true, amount: String(100 * count) });
  }
});

test("an ignored deposit has details without a settlement", async () => {
  const desk = await openCharged();
  desk.state.balance = 50n;
  await desk.arrive(await desk.issue("0xa1"), { amount: 50n, block: 10n });
  expect(await extendedOf(desk)).toMatchObject([
    { data: { queued: false }, details: { settlementId: null, amount: "50", metadata: {} } },
  ]);
});

test("the published replay shows neither details nor events of other types [T212]", async () => {
  const desk = await openCharged();
  await desk.arrive(await desk.issue("0xa1"), { amount: 1_000n, block: 10n });
  await sql`select append_event(gen_random_uuid(), ${desk.integratorId}::uuid, 'another.type', '{}', '{}')`.execute(
    desk.db,
  );
  const published = await desk.events();
  expect(published.map((event) => Object.keys(event).toSorted())).toEqual([
    ["data", "id", "timestamp", "type"],
  ]);
  expect((await extendedOf(desk)).map(({ type }) => type)).toEqual([
    "deposit_detected",
    "another.type",
  ]);
});

test("the report of a settlement lists its transactions with their purposes and its estimate", async () => {
  const desk = await openCharged();
  desk.state.hasCode = false;
  const address = await desk.issue("0xa1");
  const heights = new Map([[2, { tip: 105n, final: 50n }]]);
  const report = async () => {
    const [swap] = await desk.swaps();
    return readReport(desk.db, desk.integratorId, {
      id: swap?.id ?? "",
      display: (text) => text,
      readHeights: async () => heights,
    });
  };
  Object.assign(desk.state, { gas: 2n });
  await desk.arrive(address, { amount: 1_000n, block: 10n, tx: "one" });
  await desk.poll();
  expect(await report()).toMatchObject({
    status: "deploying",
    transactions: [
      { purpose: "deposit", txHash: hashOf("one"), finality: "final", confirmations: 96 },
      { purpose: "sweep", state: "queued", finality: "seen", txHash: null },
    ],
    waiting: { reason: "transaction" },
    estimate: null,
  });
  await desk.mine("sweep:", true, "mined");
  await desk.poll();
  expect(await report()).toMatchObject({
    plannedFees: { service: "1", gas: "4", bridge: "0" },
    fees: null,
    transactions: [{}, { purpose: "sweep", state: "mined", finality: "confirming" }],
    waiting: { reason: "confirmations", confirmations: 6, required: 56 },
  });
  await desk.mine("sweep:");
  desk.state.swept = 1_000n;
  desk.state.balance = 0n;
  desk.state.delivery = { kind: "delivered", txHash: hashOf("delivery"), amount: 995n };
  await desk.poll();
  expect(await report()).toMatchObject({
    status: "completed",
    sweptAmount: "1000",
    deliveredAmount: "995",
    fees: { service: "1", gas: "4", bridge: "0" },
    transactions: [{}, { purpose: "sweep", finality: "final", succeeded: true }],
    waiting: null,
    estimate: null,
  });

  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 120n });
  const next = (await desk.swaps()).at(-1);
  const waiting = await readReport(desk.db, desk.integratorId, {
    id: next?.id ?? "",
    display: (text) => text,
    readHeights: async () => heights,
  });
  expect(waiting).toMatchObject({
    waiting: { reason: "worker" },
    estimate: { basis: "recent_settlements", sample: 1 },
  });
});
