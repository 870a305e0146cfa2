/** The life of a burn, over a real PostgreSQL; each test sets the answers of the chains and of Circle's service. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
  hashOf,
  LANE,
  silentLog,
} from "../../../test/support/doubles.ts";
import { createTenant, insertAddress, insertSettlement } from "../../../test/support/tenants.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { BurnTerms, Effect, FoundMint, Receipt, Simulation } from "../../chains/port/index.ts";
import { padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { AttestedMessage } from "./bridge-attestations.ts";
import { type BurnMessage, encodeBurnMessage, ZERO_WORD } from "./message.ts";
import { createTransfersPoll, type RelayDeps } from "./relay.ts";
import type { Delivered } from "../module.ts";
import { createFastMctpRoute } from "./route.ts";
import type { Burn } from "./store.ts";
import * as store from "./store.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC_HERE = address("a0");
const USDC_THERE = address("b0");
const RECIPIENT = address("1e");
const ROUTE = address("cc");
const FACTORY = address("fa");
const THIEF = address("bd");
const HERE = { domain: 0, messenger: address("31"), transmitter: address("71") };
const THERE = { domain: 6, messenger: address("32"), transmitter: address("72") };
const NONCE = toHex32(`0x${"c1".repeat(32)}`);
const AMOUNT = 10_000_000n;
const FEE = 10_000n;
const BURNED = AMOUNT - FEE;
const MAX_FEE = 1_559n;
const TERMS = { bps: 10, flat: 0n, bridge: MAX_FEE };
const MINUTE = 60_000;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

async function openBridge() {
  const { db } = database;
  const clock = createStillClock();
  const random = createCountingRandom();
  const state = {
    messages: [] as readonly AttestedMessage[],
    mint: null as FoundMint | null,
    mintIsFinal: false,
    head: 100n,
    /** The block number that contracts of the destination see; the head unless given. */
    contractHeight: null as bigint | null,
    burnLimit: 10n ** 13n,
    simulation: { ok: true, gas: 100_000n } as Simulation,
    reattested: [] as string[],
    changed: [] as string[],
    delivered: [] as Delivered[],
  };
  const asked: BurnTerms[] = [];
  const source = createStrictChain({
    chainId: 2,
    cctp: {
      contracts: HERE,
      buildReceive: () => ({ to: HERE.transmitter, data: "0x", value: 0n }),
      encodeBurnData(terms) {
        asked.push(terms);
        return "0xb0";
      },
      encodeSwapBurnData: () => {
        throw new Error("a burn without a swap");
      },
      readBurnLimit: async (token) => (token === USDC_HERE ? state.burnLimit : 0n),
      readContractHeight: () => Promise.reject(new Error("nothing is minted on the source")),
      findMint: async () => null,
    },
    buildSettle: ({ route, routeData }) => ({
      to: FACTORY,
      data: `0x${route.slice(2)}${routeData.slice(2)}`,
      value: 0n,
    }),
  });
  const destination = createStrictChain({
    chainId: 30,
    cctp: {
      contracts: THERE,
      buildReceive: (message) => ({ to: THERE.transmitter, data: message, value: 0n }),
      encodeBurnData: () => {
        throw new Error("nothing is burned on the destination");
      },
      encodeSwapBurnData: () => {
        throw new Error("nothing is burned on the destination");
      },
      readBurnLimit: () => Promise.reject(new Error("nothing is burned on the destination")),
      readContractHeight: async () => state.contractHeight ?? state.head,
      findMint: async (nonce, at) =>
        nonce === NONCE && (at !== "final" || state.mintIsFinal) ? state.mint : null,
    },
    getHead: async () => ({
      number: state.head,
      hash: toHex32(hashOf("head")),
      parentHash: toHex32(hashOf("parent")),
    }),
    simulate: async () => state.simulation,
  });
  const attestations = {
    getMessages: async () => state.messages,
    reattest: async (nonce: string) => void state.reattested.push(nonce),
    getFees: async () => ({ fast: 1_300_000n, standard: 0n }),
    getFastAllowance: async () => 10n ** 15n,
  };
  const route = createFastMctpRoute({
    db,
    clock,
    random,
    source,
    destination,
    token: USDC_HERE,
    destToken: USDC_THERE,
    decimals: 6,
    contract: ROUTE,
    attestations,
  });
  const deps: RelayDeps = {
    db,
    chains: new Map([
      [2, source],
      [30, destination],
    ]),
    clock,
    random,
    log: silentLog,
    attestations,
    lanes: new Map([[30, [LANE]]]),
    deliveryConfirmations: new Map([[30, 3]]),
    onChanged: async (_, settlementId) => void state.changed.push(settlementId),
    onDelivered: async (_, delivered) => void state.delivered.push(delivered),
    wakeSettlements: () => undefined,
    wakeLanes: () => undefined,
    pollMs: 500,
  };
  const tenant = await createTenant(db);
  const issued = await insertAddress(db, tenant);
  const settlementId = await insertSettlement(db, tenant, issued, { status: "swapping" });
  const wallet = toEvmAddress(issued.wallet);
  await db
    .updateTable("settlements")
    .set({ token: USDC_HERE, swept_amount: AMOUNT, swept_block: 7n, step: "deliver" })
    .where("id", "=", settlementId)
    .execute();
  // CAST: only the fields of an address that a route reads.
  const deposit = {
    wallet,
    destWallet: RECIPIENT,
    routeSet: null,
    commitment: { destWallet: padAddress(RECIPIENT), maxFeeBps: 50, maxSlippageBps: 100 },
  } as DepositAddress;

  const sent = (change: Partial<BurnMessage> = {}): BurnMessage => ({
    version: 1,
    sourceDomain: 0,
    destinationDomain: 6,
    nonce: ZERO_WORD,
    sender: padAddress(HERE.messenger),
    recipient: padAddress(THERE.messenger),
    destinationCaller: ZERO_WORD,
    minFinalityThreshold: 1000,
    finalityThresholdExecuted: 0,
    bodyVersion: 1,
    burnToken: padAddress(USDC_HERE),
    mintRecipient: padAddress(RECIPIENT),
    amount: BURNED,
    messageSender: padAddress(ROUTE),
    maxFee: MAX_FEE,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: padAddress(wallet),
    ...change,
  });
  const attested = (change: Partial<BurnMessage> = {}): AttestedMessage => ({
    attested: {
      message: encodeBurnMessage(
        sent({
          nonce: NONCE,
          finalityThresholdExecuted: 1000,
          feeExecuted: 1_299n,
          expirationBlock: 5_000n,
          ...change,
        }),
      ),
      attestation: "0x5160",
    },
    delayReason: null,
  });
  const settled: Effect = {
    kind: "settled",
    wallet,
    token: USDC_HERE,
    route: ROUTE,
    amount: AMOUNT,
    logIndex: 4,
  };
  const burned: Effect = {
    kind: "burned",
    wallet,
    token: USDC_HERE,
    amount: BURNED,
    fee: FEE,
    maxFee: MAX_FEE,
    destDomain: 6,
    recipient: padAddress(RECIPIENT),
  };
  const message = (change: Partial<BurnMessage> = {}): Effect => ({
    kind: "message_sent",
    message: encodeBurnMessage(sent(change)),
  });
  const receiptOf = (effects: readonly Effect[], tx = "burn", blockNumber = 7n): Receipt => ({
    txHash: hashOf(tx),
    blockHash: toHex32(hashOf(`block ${blockNumber}`)),
    blockNumber,
    succeeded: true,
    gasCost: 0n,
    effects,
  });

  async function record(receipt = receiptOf([message(), burned, settled])): Promise<void> {
    const sweep = await route.readSweep(receipt, deposit);
    if (!sweep) throw new Error("the receipt shows the burn");
    await db
      .transaction()
      .execute((tx) =>
        route.recordSweep(tx, { settlementId, address: deposit, sweep, fee: TERMS, receipt }),
      );
  }

  /** Polls the rows that are due after a minute. */
  async function poll(afterMs = MINUTE): Promise<void> {
    clock.advance(afterMs);
    await createTransfersPoll(deps, 30)();
  }

  async function transfer(): Promise<store.Transfer> {
    const found = await store.findOfSettlement(db, settlementId);
    if (!found) throw new Error("the settlement has a transfer");
    return found;
  }

  const intents = () =>
    db.selectFrom("transactions").select(["intent", "to_address", "data"]).orderBy("id").execute();
  const checkDelivery = () =>
    route.checkDelivery(
      {
        settlementId,
        address: deposit,
        sweep: { amount: AMOUNT, minOut: 1n, logIndex: 4, deliveryId: null },
      },
      null,
    );
  /** Returns the ledger's balances as `chain account: amount`, without zero balances. */
  async function books(): Promise<string[]> {
    const { rows } = await sql<{ line: string }>`
      select chain_id || ' ' || account || ': ' || sum(amount) as line from ledger_lines
       group by chain_id, account having sum(amount) <> 0 order by 1`.execute(db);
    return rows.map(({ line }) => line);
  }
  async function endTransaction(intent: string, succeeded: boolean): Promise<void> {
    await db
      .updateTable("transactions")
      .set({
        state: "final",
        nonce: Number(intent.split(":").at(-1)),
        succeeded,
        mined_hash: hashOf(intent),
        mined_block_hash: hashOf("block"),
        mined_block_number: 9n,
      })
      .where("intent", "=", intent)
      .execute();
  }
  const minted = (change: Partial<FoundMint> = {}): FoundMint => ({
    to: RECIPIENT,
    token: USDC_THERE,
    amount: BURNED - 1_299n,
    fee: 1_299n,
    txHash: hashOf("mint"),
    blockNumber: 98n,
    ...change,
  });
  return {
    db,
    state,
    route,
    deposit,
    asked,
    settled,
    burned,
    message,
    attested,
    receiptOf,
    record,
    poll,
    transfer,
    intents,
    checkDelivery,
    books,
    endTransaction,
    minted,
    wallet,
    settlementId,
  };
}

describe("the route", () => {
  test("quotes the amount that arrives and prepares the burn on the same terms", async () => {
    const { route, deposit, asked } = await openBridge();
    expect(await route.quote(AMOUNT, { maxFeeBps: 50, maxSlippageBps: 0 }, TERMS)).toEqual({
      fair: AMOUNT,
      amountOut: BURNED - 1_299n,
      minOut: 9_950_000n,
      etaSeconds: 60,
    });
    expect(await route.prepareSweep(deposit, AMOUNT, TERMS)).toEqual({
      to: FACTORY,
      data: `${ROUTE}b0`,
      value: 0n,
    });
    expect(asked).toEqual([
      { fee: { bps: 10, flat: 0n }, maxFee: MAX_FEE, minFinalityThreshold: 1000 },
    ]);
  });

  test("finds its burn in a batch by wallet and amount", async () => {
    const { route, deposit, message, burned, settled, receiptOf } = await openBridge();
    const others = [
      message({ hookData: padAddress(THIEF) }),
      { kind: "message_sent", message: "0xc0ffee" } as const,
    ];
    const receipt = receiptOf([...others, message(), burned, settled]);
    expect(await route.readSweep(receipt, deposit)).toEqual({
      amount: AMOUNT,
      minOut: 9_950_000n,
      logIndex: 4,
      deliveryId: null,
    });
    for (const missing of [0, 1, 2]) {
      const parts = [message(), burned, settled].filter((_, index) => index !== missing);
      expect(await route.readSweep(receiptOf([...others, ...parts]), deposit)).toBeNull();
    }
  });

  test.each<[string, Partial<BurnMessage>]>([
    ["recipient", { mintRecipient: padAddress(THIEF) }],
    ["destination", { destinationDomain: 7 }],
    ["destination messenger", { recipient: padAddress(THIEF) }],
    ["token", { burnToken: padAddress(THIEF) }],
    ["caller", { destinationCaller: padAddress(THIEF) }],
    ["fee", { maxFee: MAX_FEE + 1n }],
    ["account that burned", { messageSender: padAddress(THIEF) }],
  ])("ignores a burn with another %s than committed [T74]", async (_, change) => {
    const { route, deposit, message, burned, settled, receiptOf } = await openBridge();
    const receipt = receiptOf([message(change), burned, settled]);
    await expect(route.readSweep(receipt, deposit)).rejects.toThrow(
      "a mined burn matches the commitment",
    );
  });
});

describe("a burn", () => {
  test("is submitted once after its bridge attestation, and delivered when the mint is confirmed", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, intents, books, minted } = bridge;
    await bridge.record();
    await poll();
    expect((await transfer()).state).toBe("burned");
    expect(await intents()).toEqual([]);

    state.messages = [bridge.attested()];
    await poll();
    await poll();
    await poll();
    const { id } = await transfer();
    expect(await intents()).toEqual([
      {
        intent: `mint:${id}:1`,
        to_address: THERE.transmitter,
        data: bridge.attested().attested?.message,
      },
    ]);
    expect(await bridge.checkDelivery()).toEqual({ kind: "waiting" });
    expect(await books()).toEqual(["2 in_flight: 10000000", "2 transit: -10000000"]);

    state.mint = minted({ blockNumber: 99n });
    await poll();
    expect((await transfer()).state).toBe("attested");
    state.head = 101n;
    await poll();
    expect((await transfer()).state).toBe("delivered");
    const { settlementId } = bridge;
    const { txHash, amount } = bridge.minted();
    expect(state.delivered).toEqual([{ settlementId, deliveryId: null, txHash, amount }]);
    expect(await bridge.checkDelivery()).toEqual({
      kind: "delivered",
      txHash: hashOf("mint"),
      amount: BURNED - 1_299n,
    });
    const settledBooks = [
      "2 bridge: 9990000",
      "2 fees: 10000",
      "2 transit: -10000000",
      "30 bridge: -9990000",
      "30 delivered: 9988701",
      "30 fees: 1299",
    ];
    expect(await books()).toEqual(settledBooks);
    await poll();
    expect((await transfer()).state).toBe("delivered");
    state.mintIsFinal = true;
    await poll();
    expect((await transfer()).state).toBe("final");
    expect(await books()).toEqual(settledBooks);
    expect(await intents()).toHaveLength(1);
  });

  test("is delivered without our transaction when a third party submitted it [T72]", async () => {
    const { state, record, poll, transfer, intents, attested, minted } = await openBridge();
    await record();
    state.messages = [attested()];
    state.mint = minted();
    await poll();
    await poll();
    expect((await transfer()).state).toBe("delivered");
    expect(await intents()).toEqual([]);
  });

  test("is delivered when a third party submits it during our simulation, which then reverts [T72]", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, intents } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    await poll();
    Object.defineProperty(state, "simulation", {
      get() {
        state.mint = bridge.minted();
        return { ok: false, reason: "Nonce already used" };
      },
    });
    await poll();
    expect((await transfer()).state).toBe("delivered");
    expect((await transfer()).error).toBeNull();
    expect(await intents()).toEqual([]);
  });

  test("is searched for after its relay reverted, and submitted again when it is not minted", async () => {
    const bridge = await openBridge();
    const { state, poll, intents } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    await poll();
    await poll();
    const { id } = await bridge.transfer();
    await bridge.endTransaction(`mint:${id}:1`, false);
    await poll();
    expect((await intents()).map(({ intent }) => intent).toSorted()).toEqual([
      `mint:${id}:1`,
      `mint:${id}:2`,
    ]);
    await bridge.endTransaction(`mint:${id}:2`, true);
    await poll();
    await poll();
    expect(await intents()).toHaveLength(2);
  });

  test.each<[string, Partial<FoundMint>]>([
    ["to another recipient", { to: THIEF }],
    ["in another token", { token: THIEF }],
    ["below the promised minimum", { amount: 9_949_999n }],
  ])("is never delivered when the mint was %s, and reports that [T74]", async (_, change) => {
    const bridge = await openBridge();
    const { state, poll, transfer } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    state.mint = bridge.minted(change);
    for (let looks = 0; looks < 3; looks++) await poll();
    expect((await transfer()).state).toBe("attested");
    expect(await bridge.checkDelivery()).toMatchObject({
      kind: "failing",
      error: { code: "INTERNAL", details: { reason: "mint" } },
    });
  });

  test.each<[string, Partial<BurnMessage>, string]>([
    ["another recipient", { mintRecipient: padAddress(THIEF) }, "mintRecipient"],
    ["another amount", { amount: BURNED + 1n }, "amount"],
    ["a fee above what the burn allows", { feeExecuted: MAX_FEE + 1n }, "feeExecuted"],
    ["a caller", { destinationCaller: padAddress(THIEF) }, "destinationCaller"],
  ])("is not submitted when its bridge attestation has %s [T70]", async (_, change, differs) => {
    const { state, record, poll, transfer, intents, attested } = await openBridge();
    await record();
    state.messages = [attested(change)];
    for (let looks = 0; looks < 3; looks++) await poll();
    expect((await transfer()).state).toBe("burned");
    expect((await transfer()).error).toMatchObject({ details: { differs } });
    expect(await intents()).toEqual([]);
    state.messages = [attested()];
    await poll();
    expect(await transfer()).toMatchObject({ state: "attested", error: null });
  });

  test("is distinguished from other burns of its batch, attested or not", async () => {
    const { state, record, poll, transfer, attested } = await openBridge();
    await record();
    const other = attested({ hookData: padAddress(THIEF), nonce: toHex32(hashOf("other")) });
    const waiting: AttestedMessage = { attested: null, delayReason: "insufficient_fee" };
    state.messages = [other, waiting];
    await poll();
    expect(await transfer()).toMatchObject({ state: "burned", error: null, delayReason: null });
    state.messages = [other, attested()];
    await poll();
    expect(await transfer()).toMatchObject({ state: "attested", nonce: NONCE });
  });

  test("expires by the block number that contracts see, as on Arbitrum [T73]", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, intents } = bridge;
    await bridge.record();
    state.head = 300_000_000n;
    state.contractHeight = 23_000_000n;
    state.messages = [bridge.attested({ expirationBlock: 23_007_200n })];
    await poll();
    await poll();
    expect(state.reattested).toEqual([]);
    expect((await transfer()).state).toBe("attested");
    expect(await intents()).toHaveLength(1);
  });

  test("has its expired bridge attestation requested again under the same nonce, at most once a minute [T73]", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, intents } = bridge;
    await bridge.record();
    state.messages = [bridge.attested({ expirationBlock: 102n })];
    await poll();
    expect(state.reattested).toEqual([NONCE]);
    expect((await transfer()).state).toBe("burned");
    await poll();
    expect(state.reattested).toEqual([NONCE, NONCE]);

    state.messages = [bridge.attested({ expirationBlock: 103n })];
    await poll();
    expect((await transfer()).state).toBe("attested");
    state.head = 101n;
    await poll();
    expect((await transfer()).state).toBe("burned");
    expect(await intents()).toEqual([]);

    state.messages = [bridge.attested({ nonce: toHex32(hashOf("another")) })];
    await poll();
    expect((await transfer()).error).toMatchObject({ code: "INTERNAL" });
    // A bridge attestation of finality never expires.
    state.messages = [
      bridge.attested({
        finalityThresholdExecuted: 2000,
        feeExecuted: 0n,
        expirationBlock: 0n,
      }),
    ];
    state.head = 100_000n;
    await poll();
    await poll();
    expect(await transfer()).toMatchObject({ state: "attested", error: null });
    expect(await intents()).toHaveLength(1);
  });

  test("is delivered when its bridge attestation expired after a third party used it [T73]", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer } = bridge;
    await bridge.record();
    state.messages = [bridge.attested({ expirationBlock: 100n })];
    state.mint = bridge.minted();
    await poll();
    await poll();
    expect((await transfer()).state).toBe("delivered");
    expect(state.reattested).toEqual([]);
  });

  test("has its postings reversed and its mint searched for again when the mint is orphaned", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, books } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    state.mint = bridge.minted();
    await poll();
    await poll();
    expect((await transfer()).state).toBe("delivered");
    state.mint = null;
    await poll();
    expect(await transfer()).toMatchObject({ state: "attested", mint: null });
    expect(await books()).toEqual(["2 in_flight: 10000000", "2 transit: -10000000"]);
    const another = bridge.minted({ txHash: hashOf("another mint") });
    state.mint = another;
    await poll();
    expect(await transfer()).toMatchObject({
      state: "delivered",
      mint: { txHash: hashOf("another mint") },
    });
    expect(state.delivered.map(({ txHash }) => txHash)).toEqual([
      bridge.minted().txHash,
      another.txHash,
    ]);
  });
});

describe("a burn whose block was orphaned", () => {
  test("keeps its bridge transfer when the same burn is mined in another block", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    await poll();
    const { message, burned, settled } = bridge;
    const before = await transfer();
    await bridge.record(bridge.receiptOf([message(), burned, settled], "burn", 9n));
    const after = await transfer();
    expect(after).toMatchObject({ id: before.id, state: "attested", burn: { block: 9n } });
  });

  test("keeps its bridge transfer with another fee in the new block, and the ledger follows", async () => {
    const bridge = await openBridge();
    const { state, poll, transfer, books } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    state.mint = bridge.minted();
    await poll();
    await poll();
    const before = await transfer();
    expect(before).toMatchObject({ state: "delivered", burn: { fee: FEE } });
    const more = [
      bridge.message(),
      { ...bridge.burned, fee: FEE + 5n } as Effect,
      { ...bridge.settled, amount: AMOUNT + 5n } as Effect,
    ];
    const posted = await books();
    await bridge.record(bridge.receiptOf(more, "burn", 9n));
    const after = await transfer();
    expect(after).toMatchObject({ id: before.id, state: "delivered", burn: { fee: FEE + 5n } });
    const isOfFee = (line: string) => / (fees|in_flight): /.test(line) && line.startsWith("2 ");
    const others = (lines: readonly string[]) => lines.filter((line) => !isOfFee(line));
    expect(others(await books())).toEqual(others(posted));
    expect(await books()).not.toEqual(posted);
  });

  test("is superseded by another burn, for which its bridge attestation is not submitted", async () => {
    const bridge = await openBridge();
    const { db, state, poll, transfer } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    await poll();
    const before = await transfer();
    const more = { amount: BURNED + 5n };
    const effects: Effect[] = [
      bridge.message(more),
      { ...bridge.burned, ...more } as Effect,
      { ...bridge.settled, amount: AMOUNT + 5n } as Effect,
    ];
    await bridge.record(bridge.receiptOf(effects, "burn", 9n));
    expect((await store.getBridgeTransfer(db, before.id))?.state).toBe("superseded");
    const after = await transfer();
    expect(after).toMatchObject({ state: "burned", nonce: null, burn: more });
    // The service still shows the orphaned burn.
    await poll();
    expect(await transfer()).toMatchObject({
      state: "burned",
      error: { details: { differs: "amount" } },
    });
    state.messages = [bridge.attested(more)];
    await poll();
    expect((await transfer()).state).toBe("attested");
  });

  describe("that was undone", () => {
    const mined = { mined_block_hash: hashOf("block"), mined_block_number: 9n };
    const created_at = "2025-01-01T00:00:00Z";

    /** Opens an old transfer without an attestation, whose settlement tried several sweeps. */
    async function openOld(sweeps: (burn: Burn) => readonly object[]) {
      const { db, poll, record, transfer } = await openBridge();
      await record();
      const { id, burn } = await transfer();
      const { settlementId } = burn;
      const call = { chain_id: 2, lane: LANE, to_address: FACTORY, data: "0x", value: 0n, gas: 1n };
      const rows = sweeps(burn).map((sweep, index) => ({
        ...call,
        ...mined,
        id: settlementId.replace(/.$/, String(index)),
        settlement_id: settlementId,
        intent: `sweep:${settlementId}:${index + 1}`,
        nonce: index,
        state: "final",
        ...sweep,
      }));
      await db.insertInto("transactions").values(rows).execute();
      await db.updateTable("bridge_transfers").set({ created_at }).execute();
      const first = rows[0]?.id ?? "";
      return {
        db,
        burn,
        first,
        change: (row: object) =>
          db.updateTable("transactions").set(row).where("id", "=", first).execute(),
        async stateLater() {
          await poll(10 * MINUTE);
          return (await store.getBridgeTransfer(db, id))?.state;
        },
      };
    }

    test("ends once its sweep reverted in a final block, whatever a later one did [T297, T304]", async () => {
      const { change, stateLater } = await openOld(({ txHash }) => [
        { state: "mined", succeeded: false, mined_hash: txHash },
        // Through another route.
        { succeeded: true, mined_hash: hashOf("another") },
      ]);
      expect(await stateLater()).toBe("burned");
      await change({ state: "final", succeeded: true });
      expect(await stateLater()).toBe("burned");
      await change({ succeeded: false });
      expect(await stateLater()).toBe("superseded");
    });

    test("ends once another attempt was mined in the place of its sweep [T304]", async () => {
      const { db, burn, first, stateLater } = await openOld(() => [
        { succeeded: true, mined_hash: hashOf("another") },
      ]);
      expect(await stateLater()).toBe("burned");
      const attempt = { hash: burn.txHash, transaction_id: first, number: 1, raw: "0x" };
      const fees = { max_fee_per_gas: 1n, max_priority_fee_per_gas: 1n };
      await db
        .insertInto("attempts")
        .values({ ...attempt, ...fees, created_at })
        .execute();
      expect(await stateLater()).toBe("superseded");
    });
  });

  test("is superseded even after its mint was seen, and the new burn is requested too", async () => {
    const bridge = await openBridge();
    const { db, state, poll, transfer, books } = bridge;
    await bridge.record();
    state.messages = [bridge.attested()];
    state.mint = bridge.minted();
    await poll();
    await poll();
    const before = await transfer();
    expect(before.state).toBe("delivered");
    const more = { amount: BURNED + 5n };
    const effects: Effect[] = [
      bridge.message(more),
      { ...bridge.burned, ...more } as Effect,
      { ...bridge.settled, amount: AMOUNT + 5n } as Effect,
    ];
    await bridge.record(bridge.receiptOf(effects, "burn", 9n));
    expect((await store.getBridgeTransfer(db, before.id))?.state).toBe("superseded");
    expect(await transfer()).toMatchObject({ state: "burned", mint: null, burn: more });
    // The postings of the first burn are reversed.
    expect(await books()).toEqual(["2 in_flight: 10000000", "2 transit: -10000000"]);
  });
});

describe("the bridge's limit per message [T196]", () => {
  const of = { settlementId: "1", integratorId: "1", addressId: "1" };

  test("defers a burn above it, and is the capacity of the route", async () => {
    const { route, state, deposit } = await openBridge();
    state.burnLimit = BURNED - 1n;
    await expect(route.prepareSweep(deposit, AMOUNT, TERMS)).rejects.toMatchObject({
      code: "NO_ROUTE",
      retryable: true,
      details: { reason: "burn_limit", burned: String(BURNED), limit: String(BURNED - 1n) },
    });
    expect(await route.readCapacity(of)).toBe(BURNED - 1n);
    state.burnLimit = BURNED;
    expect(await route.prepareSweep(deposit, AMOUNT, TERMS)).not.toBeNull();
  });
});
