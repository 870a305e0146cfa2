/** Recipients that cannot be paid, before anything is locked for them. */
import { expect, test } from "vitest";
import { createStrictChain } from "../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../test/support/settlement-desk.ts";
import type { PaymentOutcome } from "../chains/port/index.ts";

test("a recipient that refuses payments costs neither lock nor reservation nor tries [T150]", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 90n });
  Object.assign(desk.route, { payer: "delivery" });
  let outcome: PaymentOutcome = "refused";
  const asked: unknown[] = [];
  const destination = createStrictChain({
    chainId: 30,
    simulatePayment: async (payment) => {
      asked.push(payment);
      return outcome;
    },
  });
  Object.assign(desk.deps, { chains: new Map([...desk.deps.chains, [30, destination]]) });
  for (let polls = 1; polls <= 9; polls += 1) await desk.poll();
  expect((await desk.swaps())[0]).toMatchObject({
    status: "failed_swap",
    error: { code: "NO_ROUTE", details: { reason: "recipient_refuses", chainId: 30 } },
  });
  expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
  expect(await desk.db.selectFrom("inventory_reservations").selectAll().execute()).toEqual([]);
  expect(asked.at(-1)).toMatchObject({ payer: "delivery", token: USDC, to: RECIPIENT });
  outcome = "accepted";
  await desk.poll();
  expect((await desk.swaps())[0]?.status).toBe("swapping");
});
