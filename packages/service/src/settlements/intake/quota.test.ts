/** Quotas of settlements, against real PostgreSQL. */
import { expect, test } from "vitest";
import { openDesk } from "../../../test/support/settlement-desk.ts";
import { pollUnsettledDeposits } from "./recheck.ts";

test("a deposit above the integrator's quota is recorded, and settles once there is room [T161]", async () => {
  const desk = await openDesk();
  const [first, second] = [await desk.issue("0x1a"), await desk.issue("0x1b")];
  desk.state.balance = 1_000n;
  Object.assign(desk.deps, { quotas: { addresses: 1_000, openSettlements: 1 } });
  await desk.arrive(first, { amount: 1_000n, block: 5n });
  await desk.arrive(second, { amount: 1_000n, block: 6n });
  expect(await desk.deposits()).toMatchObject([
    { queued: true },
    { queued: false, ignored_reason: "enqueue_error", settlement_id: null },
  ]);
  desk.clock.advance(60_000);
  await pollUnsettledDeposits(desk.deps, 2);
  expect(await desk.swaps()).toHaveLength(1);
  await desk.db
    .updateTable("settlements")
    .set({ status: "completed", step: "done", next_check_at: null })
    .execute();
  desk.clock.advance(900_000);
  await pollUnsettledDeposits(desk.deps, 2);
  expect(await desk.swaps()).toHaveLength(2);
});
