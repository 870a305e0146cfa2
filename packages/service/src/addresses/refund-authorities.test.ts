import { afterEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { listRefundAuthorities } from "./refund-authorities.ts";

let database: TestDatabase;
afterEach(async () => {
  await database.drop();
});

test("lists each EVM refund authority once", async () => {
  database = await createTestDatabase();
  const [one, other] = [`0x${"1a".repeat(20)}`, `0x${"2b".repeat(20)}`];
  for (const [name, authority] of [
    ["a", other],
    ["b", one],
    ["c", one],
  ]) {
    await database.pool.query(
      `insert into integrators (id, name, refund_evm, max_fee_bps, max_slippage_bps)
       values (gen_random_uuid(), $1, $2, 50, 100)`,
      [name, authority],
    );
  }
  // The refund authority of a Solana address is not listed.
  await database.pool.query(
    `insert into addresses (id, integrator_id, chain_family, user_id, dest_chain, dest_wallet, dest_token, refund_authority,
       max_fee_bps, max_slippage_bps, version, wallet_kind, factory, commitment, wallet, proof, created_at)
     select gen_random_uuid(), id, 'svm', $1, 2, $1, $1, $2, 50, 100, 1, 1, $2, $2, $2, $2, now()
     from integrators where name = 'a'`,
    [one, `0x${"3c".repeat(32)}`],
  );
  expect(await listRefundAuthorities(database.db)).toEqual([one, other]);
});
