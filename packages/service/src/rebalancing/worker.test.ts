/** The poll of a treasury on a real database, over chains whose answers the test gives. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { CHAIN, USDC } from "../../test/support/doctor-doubles.ts";
import {
  createCountingRandom,
  createStillClock,
  createStrictChain,
  hashOf,
  silentLog,
  TREASURY,
} from "../../test/support/doubles.ts";
import { REFILLED } from "../../test/support/refilled-chains.ts";
import { predictWallet } from "../chains/evm/commitment.ts";
import { hashCommitment } from "../chains/evm/commitment.ts";
import type { Chain } from "../chains/port/index.ts";
import { setDraining } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { listNewest } from "./store.ts";
import { createRebalancingPoll } from "./worker.ts";

const UNIT = 1_000_000n;
const LANE = toEvmAddress(`0x${"1a".repeat(20)}`);
const { factory, escrow, delivery } = CHAIN.contracts;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const table of ["moves", "transactions", "pauses"] as const) {
    await database.db.deleteFrom(table).execute();
  }
});
afterAll(async () => {
  await database.drop();
});

/** Opens the poll of chain 2 beside chain 30; amounts in whole units. */
function open(given: {
  readonly inventory: Readonly<Record<number, number | null>>;
  readonly movable: Readonly<Record<number, number>>;
}) {
  const asked: string[] = [];
  const read: number[] = [];
  const chainOf = (chainId: number): Chain =>
    createStrictChain({
      chainId,
      kind: "evm",
      addresses: { walletRoot: factory, escrow, delivery },
      getBalance: async () => {
        read.push(chainId);
        const held = given.inventory[chainId] ?? null;
        if (held === null) throw new OperatingError("RPC_UNAVAILABLE", "no answer");
        return BigInt(held) * UNIT;
      },
      simulate: async () => ({ ok: true, gas: 90_000n }),
      predictWallet: (commitment) => predictWallet(factory, commitment),
      hashCommitment,
      readMovable: async ({ to }) => {
        asked.push(`${chainId} ${to === delivery ? "local" : "remote"}`);
        return BigInt(given.movable[chainId] ?? 0) * UNIT;
      },
      buildMove: ({ amount }) => ({
        to: TREASURY,
        data: `0x${amount.toString(16).padStart(16, "0")}`,
        value: 0n,
      }),
    });
  const chains = new Map([2, 30].map((chainId) => [chainId, chainOf(chainId)]));
  const chain = chains.get(2);
  if (!chain) throw new Error("chain 2 was made");
  const poll = createRebalancingPoll({
    config: REFILLED,
    db: database.db,
    clock: createStillClock(),
    random: createCountingRandom(),
    log: silentLog,
    chain,
    chains,
    lanes: [LANE],
    wakeLanes: () => undefined,
  });
  return { poll, asked, read };
}

const moves = async () =>
  (await listNewest(database.db, 9)).map(
    ({ srcChain, destChain, amount, state }) =>
      `${srcChain} to ${destChain}: ${amount / UNIT} ${state}`,
  );

describe("the poll of a treasury", () => {
  test("fills the chain's inventory with its claims, and asks no other treasury", async () => {
    const { poll, asked } = open({ inventory: { 2: 400, 30: 900 }, movable: { 2: 250 } });
    await poll();
    expect(await moves()).toEqual(["2 to 2: 250 planned"]);
    expect(asked.toSorted()).toEqual(["2 local", "2 remote"]);
    await poll();
    expect(await moves()).toHaveLength(1);
  });

  test("fills another chain below its minimum, and leaves the moves of other treasuries to them", async () => {
    const { poll } = open({ inventory: { 2: 1_000, 30: 50 }, movable: { 2: 700, 30: 600 } });
    await poll();
    // The treasury of chain 30 gives 600 to its own inventory; that is its own settler's work.
    expect(await moves()).toEqual(["2 to 30: 350 planned"]);
  });

  test("asks no other chain while its treasury has nothing to move", async () => {
    const { poll, asked, read } = open({ inventory: { 2: 50, 30: 50 }, movable: { 30: 600 } });
    await poll();
    expect(await moves()).toEqual([]);
    expect(asked.toSorted()).toEqual(["2 local", "2 remote"]);
    expect(read).toEqual([]);
  });

  test("fills the inventory again when a move is stranded, until its settlement goes on [T317]", async () => {
    const { db } = database;
    const { poll } = open({ inventory: { 2: 1_000, 30: 50 }, movable: { 2: 700 } });
    await poll();
    const [stranded] = await listNewest(db, 1);
    if (!stranded) throw new Error("expected a move");
    const txHash = hashOf("the move");
    await db
      .updateTable("transactions")
      .set({
        state: "final",
        succeeded: true,
        nonce: 0,
        mined_hash: txHash,
        mined_block_hash: hashOf("block"),
        mined_block_number: 7n,
        gas_cost: "1",
      })
      .execute();
    await poll();
    expect(await moves()).toEqual(["2 to 30: 700 moved"]);
    await database.pool.query(
      `with dead as (
         insert into settlements (id, integrator_id, address_id, chain_id, wallet, token, status, step, error_code, error_message,
           error_retryable, created_at, updated_at)
         select gen_random_uuid(), integrator_id, id, 2, wallet, $1, 'dead', 'sweep', 'INTERNAL', 'no', false, now(), now()
           from addresses where wallet = $2 returning *)
       insert into deposits (id, chain_id, wallet, token, tx_hash, ordinal, log_index, sender, amount, block_number, block_hash,
         address_id, integrator_id, settlement_id, queued)
       select gen_random_uuid(), 2, wallet, token, $3, 0, 0, $4, 1, 7, $3, address_id, integrator_id, id, true from dead`,
      [USDC, stranded.to, txHash, TREASURY],
    );
    await poll();
    expect((await moves()).toSorted()).toEqual(["2 to 30: 700 planned", "2 to 30: 700 stranded"]);
    await database.pool.query("update deposits set settlement_id = null");
    await poll();
    expect((await moves()).toSorted()).toEqual(["2 to 30: 700 moved", "2 to 30: 700 planned"]);
  });

  test("stores the address that it pays, of an integrator that is the treasury's", async () => {
    const { poll } = open({ inventory: { 2: 1_000, 30: 50 }, movable: { 2: 700 } });
    await poll();
    const [move] = await listNewest(database.db, 1);
    const address = await database.db
      .selectFrom("addresses")
      .innerJoin("integrators", "integrators.id", "addresses.integrator_id")
      .select(["wallet", "dest_wallet", "refund_authority", "name"])
      .where("wallet", "=", move?.to ?? "")
      .executeTakeFirst();
    expect(address).toEqual({
      wallet: move?.to,
      dest_wallet: delivery,
      refund_authority: TREASURY,
      name: "inventory-7e7e7e7e",
    });
  });

  test("moves nothing to a chain that is drained, and nothing of one that is paused", async () => {
    const given = { inventory: { 2: 1_000, 30: 50 }, movable: { 2: 700 } };
    const record = { chainId: 30, operator: "-", reason: "-" };
    await setDraining(database.db, true, record);
    await open(given).poll();
    expect(await moves()).toEqual([]);
    await setDraining(database.db, false, record);
    await database.db
      .insertInto("pauses")
      .values({
        id: "00000000-0000-4000-8000-00000000aaaa",
        scope: "token",
        chain_id: 2,
        subject: USDC,
        reason: "-",
        operator: "-",
      })
      .execute();
    await open(given).poll();
    expect(await moves()).toEqual([]);
  });

  test("goes on with the other inventories while a chain does not answer", async () => {
    const { poll } = open({ inventory: { 2: 50, 30: null }, movable: { 2: 250 } });
    await poll();
    expect(await moves()).toEqual(["2 to 2: 250 planned"]);
  });
});
