/** Leases of due settlements, against real PostgreSQL. */
import { expect, test } from "vitest";
import { openDesk } from "../../test/support/settlement-desk.ts";
import { dueSettlements } from "./store/due.ts";

test("a due settlement leased by one worker is not leased to another until the lease ends [T62]", async () => {
  const desk = await openDesk();
  for (const user of ["0x01", "0x02", "0x03"]) {
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 5n });
  }
  const leaseMs = 30_000;
  const nowMs = desk.clock.now();
  const take = (atMs: number) =>
    dueSettlements.lease(desk.db, { chainId: 2, nowMs: atMs, leaseMs, limit: 2 });
  const [first, second] = await Promise.all([take(nowMs), take(nowMs)]);
  const all = (await desk.swaps()).map(({ id }) => id);
  expect([...first, ...second].toSorted()).toEqual(all.toSorted());
  expect(await take(nowMs + leaseMs - 1)).toEqual([]);
  expect((await take(nowMs + leaseMs)).length).toBe(2);
});
