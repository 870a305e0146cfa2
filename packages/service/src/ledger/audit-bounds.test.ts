/** Bounds of an audit in base units, blocks and milliseconds, and the findings that it reports. */
import { REPAIRS } from "../roles/repairs.ts";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  blockAt,
  CHAIN_ID,
  emptyBooks,
  idOf,
  openBooks,
  TIP,
  TOKEN,
  whileBlocked,
} from "../../test/support/books.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { LANE } from "../../test/support/doubles.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { postSurplus } from "./accounts.ts";
import { endBreach, listBreaches, listUnsettled } from "./index.ts";
import { ROUTE_AUDITS } from "../routes/index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => emptyBooks(database.db));

const open = () => openBooks(database.db);
const NOTHING = { block: null, wallets: 0, findings: [] };
const HOUR_MS = 3_600_000;

/** Sets the block, time and last wallet of the last audit. */
async function setRound(row: { block?: bigint; atMs?: number; lastWallet?: string }) {
  const { block = TIP, atMs = 0, lastWallet = "" } = row;
  const round = { block_number: block, at: formatStamp(atMs), last_wallet: lastWallet };
  await database.db
    .insertInto("audit_rounds")
    .values({ chain_id: CHAIN_ID, ...round })
    .onConflict((conflict) => conflict.column("chain_id").doUpdateSet(round))
    .execute();
}

const getRound = () => database.db.selectFrom("audit_rounds").selectAll().executeTakeFirstOrThrow();

describe("the audited block", () => {
  test("is the newest scanned and final block", async () => {
    const { says, audit } = await open();
    expect(await audit("all")).toEqual({ block: TIP, wallets: 0, findings: [] });
    says.finalNumber = TIP + 5n;
    expect(await audit("all")).toMatchObject({ block: TIP });
    says.finalNumber = TIP - 1n;
    expect(await audit("all")).toMatchObject({ block: TIP - 1n });
  });

  test("is absent when nothing is scanned, or the node lacks the block or is on another branch", async () => {
    const { says, audit } = await open();
    says.count = 9;
    says.block = () => null;
    expect(await audit("all")).toEqual(NOTHING);
    says.block = () => ({ ...blockAt(TIP), hash: idOf("another branch") });
    expect(await audit("all")).toEqual(NOTHING);
    says.block = blockAt;
    says.finalNumber = TIP - 2n;
    expect(await audit("all")).toEqual(NOTHING);
    await database.db.deleteFrom("scanner_blocks").execute();
    expect(await audit("all")).toEqual(NOTHING);
    expect(await listBreaches(database.db)).toEqual([]);
    expect(await database.db.selectFrom("audit_rounds").selectAll().execute()).toEqual([]);
  });
});

describe("an audit round", () => {
  /** Inserts addresses and returns their wallets in ascending order. */
  async function openMany(count: number) {
    const books = await open();
    const first = await books.newAddress();
    await sql`insert into addresses select gen_random_uuid(), integrator_id, chain_family, user_id || i, dest_chain,
        dest_wallet, dest_token, refund_authority, max_fee_bps, max_slippage_bps, version, wallet_kind, factory,
        commitment || i, '0x' || lpad(to_hex(i), 40, '0'), created_at + i * interval '1 ms'
      from addresses, generate_series(1, ${count - 1}) as i where id = ${first.id}`.execute(
      database.db,
    );
    const { rows } = await sql<{ wallet: EvmAddress }>`
      select wallet from addresses order by wallet`.execute(database.db);
    return { ...books, wallets: rows.map(({ wallet }) => wallet) };
  }

  test("audits five hundred wallets at a time, goes on after the last one and starts again", async () => {
    const { audit, clock, wallets } = await openMany(501);
    expect(await audit("next")).toMatchObject({ wallets: 500 });
    expect(await getRound()).toEqual({
      chain_id: CHAIN_ID,
      block_number: TIP,
      at: formatStamp(clock.now()),
      last_wallet: wallets[499],
    });
    clock.advance(1_000);
    expect(await audit("next")).toMatchObject({ wallets: 1 });
    expect(await getRound()).toMatchObject({ at: formatStamp(clock.now()), last_wallet: "" });
    expect(await audit("next")).toMatchObject({ wallets: 500 });
    // A full audit ignores the position of the round.
    expect(await audit("all")).toMatchObject({ wallets: 501 });
    expect(await getRound()).toMatchObject({ last_wallet: "" });
  });

  test("over exactly five hundred wallets ends with an empty part", async () => {
    const { audit, wallets } = await openMany(500);
    await audit("next");
    expect(await getRound()).toMatchObject({ last_wallet: wallets[499] });
    expect(await audit("next")).toMatchObject({ wallets: 0 });
    expect(await getRound()).toMatchObject({ last_wallet: "" });
    expect(await audit("all")).toMatchObject({ wallets: 500 });
  });

  test("also compares wallets with movements in the last five thousand blocks", async () => {
    const { audit, says, newAddress, arrive, leave } = await open();
    const [lacking, left] = [await newAddress(), await newAddress()];
    await arrive(lacking, 5n, { block: TIP - 5_000n });
    await arrive(left, 9n, { block: 1n });
    await leave(left, 4n, { block: TIP - 5_000n, kind: "refunded" });
    says.held.clear();
    await setRound({ lastWallet: "0xff" });
    expect(await audit("next")).toMatchObject({
      wallets: 0,
      findings: expect.arrayContaining([
        expect.objectContaining({ invariant: "V1", subject: `${lacking.wallet}:${TOKEN}` }),
        expect.objectContaining({ invariant: "V1", subject: `${left.wallet}:${TOKEN}` }),
      ]),
    });
    // One block later they are outside the last five thousand.
    const { hash, parentHash } = blockAt(TIP + 1n);
    await database.db
      .insertInto("scanner_blocks")
      .values({ chain_id: CHAIN_ID, number: TIP + 1n, hash, parent_hash: parentHash })
      .execute();
    says.finalNumber = TIP + 1n;
    await setRound({ lastWallet: "0xff" });
    await database.db.deleteFrom("breaches").execute();
    expect(await audit("next")).toMatchObject({ findings: [] });
  });

  test("reports a repeated finding once, and logs new findings only", async () => {
    const { audit, says, lines, newAddress, arrive } = await open();
    const address = await newAddress();
    await arrive(address, 5n);
    says.held.clear();
    const { findings } = await audit("next");
    expect(findings).toHaveLength(1);
    expect(lines).toMatchObject([
      { level: 50, msg: "audit: invariants violated", findings: [{ invariant: "V1" }] },
    ]);
    expect((await audit("next")).findings).toHaveLength(1);
    expect(lines).toHaveLength(1);
  });
});

describe("a wallet", () => {
  test("with too little is found, with both amounts and the write-off [V1]", async () => {
    const { audit, says, newAddress, arrive } = await open();
    const { id, wallet } = await newAddress();
    await arrive({ id, wallet }, 10n);
    expect((await audit("all")).findings).toEqual([]);
    says.held.set(`${TOKEN}:${wallet}`, 9n);
    expect((await audit("all")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V1",
        verdict: "wallet_short",
        subject: `${wallet}:${TOKEN}`,
        details: { block: `${TIP}`, ledger: "10", chain: "9" },
        holding: { wallet, token: TOKEN },
        repair: {
          kind: "write_off",
          account: "wallet",
          owner: wallet,
          token: TOKEN,
          amount: "1",
          block: `${TIP}`,
        },
      },
    ]);
  });

  test("from which an unlisted token was refunded is not listed with less than nothing", async () => {
    const { newAddress, leave } = await open();
    await leave(await newAddress(), 4n, { block: TIP, kind: "refunded" });
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toEqual([]);
  });

  test("with too much gets a surplus posted, logged once [V1]", async () => {
    const { audit, says, lines, newAddress } = await open();
    const { wallet } = await newAddress();
    says.held.set(`${TOKEN}:${wallet}`, 3n);
    for (let pass = 0; pass < 2; pass += 1) expect((await audit("all")).findings).toEqual([]);
    expect(lines).toMatchObject([
      { level: 40, msg: "arrived without a transfer", wallet, token: TOKEN },
    ]);
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toMatchObject([{ wallet, amount: "3" }]);
    says.held.set(`${TOKEN}:${wallet}`, 2n);
    expect((await audit("all")).findings).toMatchObject([
      { invariant: "V1", details: { ledger: "3", chain: "2" } },
    ]);
  });

  test("is compared with the ledger at the audited block, without later lines [V1]", async () => {
    const { audit, says, newAddress, arrive } = await open();
    const address = await newAddress();
    await arrive(address, 10n, { block: TIP });
    says.held.clear();
    says.finalNumber = TIP - 1n;
    expect((await audit("all")).findings).toEqual([]);
  });

  test("with too little native coin is found, and a surplus is left to the scanner [V1]", async () => {
    const { audit, says, lines, newAddress, arrive } = await open();
    const address = await newAddress();
    const { wallet } = address;
    await arrive(address, 10n, { token: NATIVE_TOKEN });
    const both = { tokens: [TOKEN, NATIVE_TOKEN] };
    says.held.set(`${NATIVE_TOKEN}:${wallet}`, 11n);
    expect((await audit("all", both)).findings).toEqual([]);
    expect(says.asked).toEqual(["1 balances", "1 native balances"]);
    expect(lines).toEqual([]);
    says.held.set(`${NATIVE_TOKEN}:${wallet}`, 9n);
    expect((await audit("all", both)).findings).toMatchObject([
      { subject: `${wallet}:${NATIVE_TOKEN}`, details: { ledger: "10", chain: "9" } },
    ]);
    // Balances of tokens that are not listed are not queried.
    says.asked.length = 0;
    await audit("all", { tokens: [NATIVE_TOKEN] });
    await audit("all");
    expect(says.asked).toEqual(["1 native balances", "1 balances"]);
    await audit("all", { tokens: [] });
    expect(lines.filter(({ level }) => level < 50)).toEqual([]);
  });

  test("without a readable balance is skipped, and a node without the state is logged [V1]", async () => {
    const { audit, says, lines, clock, newAddress, arrive } = await open();
    const [blind, lacking] = [await newAddress(), await newAddress()];
    await arrive(blind, 5n);
    await arrive(lacking, 5n);
    says.held.set(`${TOKEN}:${blind.wallet}`, null);
    says.held.set(`${TOKEN}:${lacking.wallet}`, 4n);
    expect((await audit("all")).findings).toMatchObject([
      { subject: `${lacking.wallet}:${TOKEN}`, details: { chain: "4" } },
    ]);
    expect(lines.filter(({ level }) => level < 50)).toEqual([]);
    says.hasState = false;
    const { at } = await getRound();
    clock.advance(HOUR_MS);
    // The age of the last audit grows, which raises an alert.
    expect(await audit("all")).toEqual(NOTHING);
    expect((await getRound()).at).toBe(at);
    expect(lines.slice(1)).toMatchObject([
      {
        level: 40,
        msg: "audit skipped: node lacks the state of the final block",
        block: Number(TIP),
      },
    ]);
  });

  test("that agrees again is shown so, and ending its quarantine corrects nothing [V1, T159]", async () => {
    const { audit, says, clock, newAddress, arrive } = await open();
    const address = await newAddress();
    await arrive(address, 10n, { block: 1n });
    const at = `${TOKEN}:${address.wallet}`;
    const lie = async (amount: bigint) => {
      says.held.set(at, amount);
      await setRound({ lastWallet: "0xff" });
      await audit("next");
      return (await listBreaches(database.db))[0];
    };
    says.held.set(at, 4n);
    await audit("all");
    expect(await lie(3n)).toMatchObject({ details: { chain: "3" }, repair: { amount: "7" } });
    const held = await lie(10n);
    expect(held).toMatchObject({ heldSince: formatStamp(clock.now()) });
    expect(await lie(2n)).not.toHaveProperty("heldSince");
    await lie(10n);
    const end = { id: held?.id ?? "", operator: "ann", reason: "the token lied" };
    await endBreach({ db: database.db, ...REPAIRS, clock }, end);
    expect(await listBreaches(database.db)).toEqual([]);
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toMatchObject([{ amount: "10" }]);
    expect((await audit("all")).findings).toEqual([]);
  });

  test("is found although another part of the audit has no answer [V1]", async () => {
    const { audit, says, deps, newAddress, arrive } = await open();
    await arrive(await newAddress(), 5n);
    says.held.clear();
    const failing = {
      ...ROUTE_AUDITS[0],
      auditDelivered: async () => {
        throw new Error("no answer");
      },
    };
    const routes = [failing as (typeof deps.routes)[number]];
    await expect(audit("next", { routes })).rejects.toThrow("no answer");
    expect(await listBreaches(database.db)).toMatchObject([{ verdict: "wallet_short" }]);
    // The age of the last audit grows, which raises an alert.
    expect(await database.db.selectFrom("audit_rounds").selectAll().execute()).toEqual([]);
  });

  test("is required before any balance is queried [V1]", async () => {
    const { audit, says, lines } = await open();
    await audit("all");
    expect(says.asked).toEqual([]);
    expect(lines).toEqual([]);
  });

  test("is compared per token, with its own ledger lines only [V1]", async () => {
    const { audit, says, lines, newAddress, arrive } = await open();
    const other = toEvmAddress(`0x${"66".repeat(20)}`);
    const both = { tokens: [TOKEN, other] };
    const addresses = [await newAddress(), await newAddress()];
    for (const [index, address] of addresses.entries()) {
      await arrive(address, 10n + BigInt(index));
      await arrive(address, 20n + BigInt(index), { token: other });
    }
    expect((await audit("all", both)).findings).toEqual([]);
    expect(lines).toEqual([]);
    for (const at of says.held.keys()) says.held.set(at, 19n);
    const lacking = (await audit("all", both)).findings.map(({ subject }) => subject);
    expect(lacking.toSorted()).toEqual(
      addresses.map(({ wallet }) => `${wallet}:${other}`).toSorted(),
    );
  });

  test("whose surplus another auditor posted during the audit is logged once [V1]", async () => {
    const { audit, says, lines, newAddress } = await open();
    const { wallet } = await newAddress();
    says.held.set(`${TOKEN}:${wallet}`, 3n);
    let reads = 0;
    says.meanwhile = async () => {
      reads += 1;
      if (reads === 1) await audit("all");
    };
    await audit("all");
    expect(reads).toBe(2);
    expect(lines).toMatchObject([{ level: 40, msg: "arrived without a transfer" }]);
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toMatchObject([{ wallet, amount: "3" }]);
  });

  test("whose breach an operator ends during an audit has its amount written off once [V1]", async () => {
    const { audit, says, clock, newAddress, arrive } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    says.held.set(`${TOKEN}:${address.wallet}`, 4n);
    await audit("all");
    const [breach] = await listBreaches(database.db);
    says.held.set(`${TOKEN}:${address.wallet}`, 3n);
    let isEnded = false;
    says.meanwhile = async () => {
      if (isEnded) return;
      isEnded = true;
      const end = { id: breach?.id ?? "", operator: "ann", reason: "the issuer explained it" };
      await endBreach({ db: database.db, ...REPAIRS, clock }, end);
    };
    await audit("all");
    expect(isEnded).toBe(true);
    expect(await listBreaches(database.db)).toEqual([]);
    // The next audit reads the books after the repair.
    await audit("all");
    expect(await listBreaches(database.db)).toMatchObject([
      { details: { ledger: "4", chain: "3" } },
    ]);
  });

  test("whose surplus several auditors find gets it posted once [V1]", async () => {
    const { newAddress } = await open();
    const { wallet } = await newAddress();
    const at = { chainId: CHAIN_ID, wallet, token: TOKEN, block: TIP, held: 7n };
    const other = toEvmAddress(`0x${"66".repeat(20)}`);
    // A surplus of another token is independent.
    expect(await postSurplus(database.db, { ...at, token: other, held: 2n })).toBe(2n);
    const post = () => postSurplus(database.db, at);
    const posted = await whileBlocked(database.db, "ledger_lines", [post, post, post]);
    expect(posted.toSorted()).toEqual([0n, 0n, 7n]);
    expect(await postSurplus(database.db, { ...at, held: 6n })).toBe(0n);
    expect(await postSurplus(database.db, { ...at, held: 8n })).toBe(1n);
  });
});

describe("a sweep", () => {
  test("without a transaction of ours is found, with its place, amount and transaction hash [V4]", async () => {
    const { audit, newAddress, arrive, leave, settle } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    await settle(address, { status: "settling" });
    const { place } = await leave(address, 10n, { txHash: idOf("theirs") });
    expect((await audit("all")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V4",
        verdict: "sweep_unknown",
        subject: place,
        details: { wallet: address.wallet, amount: "10", unknown_transaction: idOf("theirs") },
      },
    ]);
  });

  test("that somebody else executed, as the address allows, is no finding [T123]", async () => {
    const { audit, says, newAddress, arrive, leave } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    says.held.set(`${TOKEN}:${address.wallet}`, 0n);
    await leave(address, 10n, { kind: "unattended", txHash: idOf("theirs") });
    expect((await audit("all")).findings).toEqual([]);
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toEqual([]);
  });

  test("is searched from five thousand blocks before the last audit, or from the first block in a full audit [V4]", async () => {
    const { audit, newAddress, arrive, leave, settle } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    await settle(address, { status: "settling" });
    const old = await leave(address, 1n, { block: TIP - 6_000n });
    const recent = await leave(address, 1n, { block: TIP - 5_999n });
    const first = await leave(address, 1n, { block: 0n });
    await setRound({ block: TIP - 1_000n });
    const listPlaces = async (scope: "next" | "all") =>
      (await audit(scope)).findings
        .filter(({ invariant }) => invariant === "V4")
        .map(({ subject }) => subject)
        .toSorted();
    expect(await listPlaces("next")).toEqual([recent.place]);
    const all = [old.place, recent.place, first.place].toSorted();
    expect(await listPlaces("all")).toEqual(all);
    // Without an earlier audit, the next part begins with the first block too.
    await database.db.deleteFrom("audit_rounds").execute();
    expect(await listPlaces("next")).toEqual(all);
  });

  test("in transit without a settlement is found, unless an active settlement may still record it [V4]", async () => {
    const { audit, says, newAddress, arrive, leave, settle } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    // Outflows recorded before hashes were stored have none.
    await leave(address, 4n, { txHash: "" });
    says.held.set(`${TOKEN}:${address.wallet}`, 6n);
    expect((await audit("all")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V4",
        verdict: "sweep_unrecorded",
        subject: `${address.wallet}:${TOKEN}`,
        holding: { wallet: address.wallet, token: TOKEN },
        details: { block: `${TIP}`, swept_beyond_what_settlements_recorded: "4" },
        repair: {
          kind: "write_off",
          account: "transit",
          owner: address.wallet,
          token: TOKEN,
          amount: "4",
          block: `${TIP}`,
        },
      },
    ]);
    await settle(address, { isFinal: false });
    expect((await audit("all")).findings).toEqual([]);
  });

  test("recorded with its exact amount is no finding [V4]", async () => {
    const { audit, says, newAddress, arrive, leave, settle, post } = await open();
    const address = await newAddress();
    await arrive(address, 10n);
    const { logIndex } = await leave(address, 10n, { txHash: "" });
    const swept = { amount: 10n, block: TIP, log: logIndex };
    await settle(address, { swept });
    await post({ from: ["transit", address.wallet], to: ["treasury", ""], amount: 10n });
    says.held.clear();
    expect((await audit("all")).findings).toEqual([]);
    expect(await listUnsettled(database.db, ROUTE_AUDITS)).toEqual([]);
  });
});

describe("a terminal settlement", () => {
  /** Sweeps 10 from a wallet and records 9. */
  async function openWrong(updatedMs: number) {
    const books = await open();
    const address = await books.newAddress();
    await books.arrive(address, 10n);
    const { logIndex } = await books.leave(address, 10n, { txHash: "" });
    books.says.held.clear();
    await books.post({ from: ["transit", address.wallet], to: ["treasury", ""], amount: 10n });
    const swept = { amount: 9n, block: TIP, log: logIndex };
    const id = await books.settle(address, { swept, updatedMs });
    return { ...books, id, address, logIndex };
  }

  test("is found when the chain shows another amount or no such sweep [V6]", async () => {
    const { audit, clock, id, settle, newAddress } = await openWrong(0);
    const absent = await settle(await newAddress(), {
      swept: { amount: 5n, block: TIP, log: 900 },
      updatedMs: clock.now(),
    });
    const { findings } = await audit("all");
    expect(findings).toHaveLength(2);
    expect(findings).toEqual(
      expect.arrayContaining([
        {
          chainId: CHAIN_ID,
          invariant: "V6",
          verdict: "sweep_differs",
          subject: id,
          details: { recorded: "9", on_chain: "10" },
        },
        {
          chainId: CHAIN_ID,
          invariant: "V6",
          verdict: "sweep_differs",
          subject: absent,
          details: { recorded: "5", on_chain: "no such sweep" },
        },
      ]),
    );
  });

  test("is no finding where its sweep finally reverted and took nothing [V6]", async () => {
    const { audit, settle, newAddress } = await open();
    await settle(await newAddress(), { swept: { amount: 0n, block: TIP, log: 900 } });
    expect((await audit("all")).findings).toEqual([]);
  });

  test("is not audited before its sweep is final and below the audited block [V6]", async () => {
    const { audit, settle, newAddress } = await open();
    const above = { amount: 5n, block: TIP + 1n, log: 900 };
    await settle(await newAddress(), { swept: above });
    await settle(await newAddress(), { swept: { ...above, block: TIP }, isFinal: false });
    expect((await audit("all")).findings).toEqual([]);
  });

  test("is audited for an hour after its last change, and in every full audit [V6, V8]", async () => {
    const changedMs = Date.parse("2025-06-01T00:00:00.000Z");
    const { audit, id, post, settle, newAddress } = await openWrong(changedMs);
    const dead = await settle(await newAddress(), { status: "dead", updatedMs: changedMs });
    await post({ from: ["treasury", ""], to: ["in_flight", dead], amount: 3n });
    const both = [id, dead].toSorted();
    const listFound = async (scope: "next" | "all") =>
      (await audit(scope)).findings.map(({ subject }) => subject).toSorted();
    await setRound({ atMs: changedMs + HOUR_MS });
    expect(await listFound("next")).toEqual(both);
    await setRound({ atMs: changedMs + HOUR_MS + 1 });
    expect(await listFound("next")).toEqual([]);
    await setRound({ atMs: changedMs + HOUR_MS + 1 });
    expect(await listFound("all")).toEqual(both);
    await database.db.deleteFrom("audit_rounds").execute();
    expect(await listFound("next")).toEqual(both);
  });

  test("with value in flight is found, with its status and amount, unless a delivery is open [V8]", async () => {
    const { audit, settle, newAddress, deliver, post } = await open();
    const id = await settle(await newAddress(), { status: "dead" });
    await post({ from: ["treasury", ""], to: ["in_flight", id], amount: 3n });
    const found = {
      chainId: CHAIN_ID,
      invariant: "V8",
      verdict: "flight_unfollowed",
      subject: id,
      details: { status: "dead", in_flight: "3" },
    };
    expect((await audit("all")).findings).toEqual([found]);
    await deliver(id, "one that is over", { state: "returned" });
    expect((await audit("all")).findings).toEqual([found]);
    await deliver(id, "one that goes on", { state: "locked" });
    expect((await audit("all")).findings).toEqual([]);
  });
});

test("a returned lock reverses the in-flight amount of its completed settlement [V8]", async () => {
  const { settle, newAddress, deliver } = await open();
  const read = async (account: string, owner: string) => {
    const { rows } = await database.pool.query<{ amount: string | null }>(
      `select sum(amount)::text as amount from ledger_lines where account = $1 and owner = $2`,
      [account, owner],
    );
    return BigInt(rows[0]?.amount ?? 0);
  };
  const address = await newAddress();
  const settlement = await settle(address, { swept: { amount: 7n, block: 3n, log: 0 } });
  const id = await deliver(settlement, "one that came back", { state: "returning" });
  await database.pool.query(`update deliveries set state = 'returned' where id = $1`, [id]);
  expect(await read("in_flight", settlement)).toBe(-7n);
  expect(await read("transit", address.wallet)).toBe(7n);
});

describe("a lock", () => {
  test("is found when its amount differs on the chain or it is missing, once its sweep is in the audited block [V2]", async () => {
    const { audit, says, settle, newAddress, deliver } = await open();
    const swept = { amount: 1n, block: TIP, log: 1 };
    const settlement = await settle(await newAddress(), { status: "settling", swept });
    const id = await deliver(settlement, "a delivery", { state: "locked" });
    expect((await audit("all")).findings).toEqual([]);
    const lock = says.locks.get(id);
    if (!lock) throw new Error("it is locked");
    says.locks.set(id, { ...lock, amount: 99n });
    const found = (onChain: string) => ({
      chainId: CHAIN_ID,
      invariant: "V2",
      verdict: onChain === "99" ? "lock_differs" : "lock_missing",
      subject: id,
      details: { recorded: "100", on_chain: onChain },
    });
    expect((await audit("all")).findings).toEqual([found("99")]);
    says.locks.clear();
    expect((await audit("all")).findings).toEqual([found("no such lock")]);
    await database.db
      .updateTable("settlements")
      .set({ swept_block: TIP + 1n })
      .execute();
    expect((await audit("all")).findings).toEqual([]);
  });
});

describe("a lane", () => {
  test("is found when the chain used a nonce that was never assigned [V10]", async () => {
    const { audit, says } = await open();
    await database.db.updateTable("lanes").set({ next_nonce: 4 }).execute();
    says.count = 4;
    expect((await audit("all")).findings).toEqual([]);
    says.count = 5;
    expect((await audit("all")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V10",
        verdict: "nonce_taken",
        subject: LANE,
        details: { next_nonce: "4", used_on_chain: "5" },
        repair: { kind: "adopt_nonce", lane: LANE, nonce: 5 },
      },
    ]);
  });

  test("is compared on its own chain, with its own nonce [V10]", async () => {
    const { audit, says } = await open();
    const other = toEvmAddress(`0x${"3c".repeat(20)}`);
    const rows = [
      { chain_id: 30, address: LANE },
      { chain_id: CHAIN_ID, address: other },
    ].map((row) => ({ ...row, purpose: "settle", next_nonce: 7 }));
    await database.db.insertInto("lanes").values(rows).execute();
    says.count = 7;
    expect((await audit("all")).findings).toMatchObject([{ subject: LANE }]);
  });
});

describe("a posting", () => {
  test("that does not sum to zero is found in a full audit [V3]", async () => {
    const { audit } = await open();
    await database.db.transaction().execute(async (tx) => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount)
        values (900001, 'deposit', 'x', 'wallet', 'x', ${CHAIN_ID}, 'x', 5)`.execute(tx);
    });
    expect((await audit("next")).findings).toEqual([]);
    expect((await audit("all")).findings).toEqual([
      {
        chainId: CHAIN_ID,
        invariant: "V3",
        verdict: "posting_unbalanced",
        subject: "900001",
        details: { posting: "900001" },
      },
    ]);
  });
});
