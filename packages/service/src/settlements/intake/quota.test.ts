/** Quotas of settlements, against real PostgreSQL. */
import { expect, test } from "vitest";
import { openDesk } from "../../../test/support/settlement-desk.ts";
import { OperatingError } from "../../core/errors.ts";
import { toAddress } from "../../core/hex.ts";
import { recordFindings, toFinding } from "../../ledger/index.ts";
import { fail } from "../fail.ts";
import { getSettlement } from "../store/read.ts";
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

test.each(["AMOUNT_TOO_SMALL", "FEE_NOT_COVERED"] as const)(
  "a settlement that waits with %s takes no place of the quota [T259]",
  async (code) => {
    const desk = await openDesk();
    const [first, second] = [await desk.issue("0x1a"), await desk.issue("0x1b")];
    desk.state.balance = 1_000n;
    Object.assign(desk.deps, { quotas: { addresses: 1_000, openSettlements: 1 } });
    await desk.arrive(first, { amount: 1_000n, block: 5n });
    const [swap] = await desk.swaps();
    const settlement = await getSettlement(desk.db, swap?.id ?? "");
    if (!settlement) throw new Error("expected a settlement");
    await fail(desk.deps, settlement, new OperatingError(code, "Too small."));
    await desk.arrive(second, { amount: 1_000n, block: 6n });
    expect(await desk.swaps()).toHaveLength(2);
    // The second one is in progress.
    await desk.arrive(await desk.issue("0x1c"), { amount: 1_000n, block: 7n });
    expect(await desk.swaps()).toHaveLength(2);
  },
);

test("a quarantined settlement takes no place of the quota [T238]", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  Object.assign(desk.deps, { quotas: { addresses: 1_000, openSettlements: 1 } });
  await desk.arrive(await desk.issue("0x1a"), { amount: 1_000n, block: 5n });
  const row = await desk.db
    .selectFrom("settlements")
    .select(["wallet", "token"])
    .executeTakeFirstOrThrow();
  const holding = { wallet: toAddress(row.wallet), token: toAddress(row.token) };
  const subject = `${holding.wallet}:${holding.token}`;
  const details = {};
  await recordFindings(desk.db, [
    toFinding("wallet_short", { chainId: 2, subject, details, holding }),
  ]);
  await desk.poll();
  expect(await desk.swaps()).toMatchObject([{ error: { details: { reason: "quarantined" } } }]);
  await desk.arrive(await desk.issue("0x1b"), { amount: 1_000n, block: 6n });
  expect(await desk.swaps()).toHaveLength(2);
});
