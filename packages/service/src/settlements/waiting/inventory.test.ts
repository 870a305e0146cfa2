/** Turns of settlements that wait for inventory. */
import { expect, test } from "vitest";
import { openDesk } from "../../../test/support/settlement-desk.ts";
import { formatStamp } from "../../core/stamp.ts";
import { createInventoryPoll } from "./inventory.ts";

/** Settlements of these amounts that wait for inventory, which then covers 450 in all. */
async function openWaiting(amounts: readonly bigint[]) {
  const desk = await openDesk();
  desk.state.reserves = "inventory_too_low";
  const held = new Map<string, bigint>();
  for (const [index, amount] of amounts.entries()) {
    const address = await desk.issue(`0x${(index + 16).toString(16)}`);
    held.set(address.wallet, amount);
    desk.state.balance = amount;
    await desk.arrive(address, { amount, block: 90n });
    await desk.poll();
  }
  const chain = desk.deps.chains.get(2);
  if (!chain) throw new Error("expected the source chain");
  Object.assign(chain, { getBalance: async (_token: string, wallet: string) => held.get(wallet) });
  Object.assign(desk.route, {
    judgeInventory: ({ amount }: { readonly amount: bigint }) =>
      amount <= 450n ? "reserved" : "inventory_too_low",
  });
  const retried = async () => {
    await createInventoryPoll(desk.deps, 2)();
    const due = await desk.db
      .selectFrom("settlements")
      .select("wallet")
      .where("next_check_at", "<=", formatStamp(desk.clock.now()))
      .execute();
    return due.map(({ wallet }) => held.get(wallet)).toSorted();
  };
  const walletOf = (amount: bigint) => [...held].find(([, one]) => one === amount)?.[0] ?? "";
  return { desk, retried, walletOf };
}

test("small ones go first, and only as many as fit together [T151]", async () => {
  const { retried } = await openWaiting([400n, 100n, 300n]);
  expect(await retried()).toEqual([100n, 300n]);
});

test("one that was re-checked often goes before small ones [T151]", async () => {
  const { desk, retried, walletOf } = await openWaiting([400n, 150n, 300n]);
  await desk.db
    .updateTable("settlements")
    .set({ retry_count: 50 })
    .where("wallet", "=", walletOf(400n))
    .execute();
  expect(await retried()).toEqual([400n]);
});
