import { SETTLEMENT_STATUS_NAMES, SETTLEMENT_STATUSES } from "@sluice/sdk/wire";
import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { openDesk, USDC } from "../../test/support/settlement-desk.ts";
import { toHex32 } from "../core/hex.ts";
import { HEIGHTS_OF_DEPOSIT } from "../scanner/index.ts";
import { STATUS_OF_DEPOSIT } from "../settlements/index.ts";
import { insertOutflows } from "./by-balance.ts";
import { listDeposits } from "./list.ts";
import { outcomeOf } from "./outcome.ts";

const NOTHING = { isOrphaned: false, ignoredReason: null, status: null, takenBy: null };

test.each([
  [{ isOrphaned: true, status: "completed" as const }, "orphaned"],
  [{ ignoredReason: "below_token_min" }, "below_minimum"],
  [{ ignoredReason: "below_min" }, "below_minimum"],
  [{ ignoredReason: "no_adapter" }, "no_route"],
  [{ ignoredReason: "enqueue_error" }, "queued"],
  [{}, "queued"],
  [{ status: "swapping" as const, ignoredReason: "below_token_min" }, "settling"],
  [{ status: "deferred" as const }, "held"],
  [{ status: "completed" as const, takenBy: "refunded" as const }, "settled"],
  [{ status: "dead" as const }, "dead"],
  [{ status: "dead" as const, takenBy: "refunded" as const }, "refunded"],
  [{ ignoredReason: "below_min", takenBy: "refunded" as const }, "refunded"],
  [{ status: "dead" as const, takenBy: "unattended" as const }, "settled"],
])("the outcome of %o is %s", (facts, outcome) => {
  expect(outcomeOf({ ...NOTHING, ...facts })).toBe(outcome);
});

test("every status of a settlement has an outcome of its own category", () => {
  for (const status of SETTLEMENT_STATUS_NAMES) {
    const { terminal } = SETTLEMENT_STATUSES[status];
    const outcome = outcomeOf({ ...NOTHING, status });
    expect(["settled", "dead"].includes(outcome)).toBe(terminal);
  }
});

test("a listed deposit is refunded only by a refund after it, of its own token and wallet", async () => {
  const desk = await openDesk();
  desk.state.balance = 40n;
  const address = await desk.issue("0x01");
  const other = await desk.issue("0x02");
  await desk.arrive(address, { amount: 40n, block: 90n });
  await desk.arrive(address, { amount: 40n, block: 92n });
  await desk.arrive(other, { amount: 40n, block: 90n });
  desk.state.balance = 1_000n;
  const settled = await desk.issue("0x03");
  await desk.arrive(settled, { amount: 1_000n, block: 93n });
  await desk.db.transaction().execute(async (tx) => {
    const block = { number: 91n, hash: toHex32(hashOf("91")), parentHash: toHex32(hashOf("90")) };
    const refund = { kind: "refunded" as const, token: USDC, amount: 40n };
    await insertOutflows(tx, 2, block, [
      { ...refund, wallet: address.wallet, txHash: hashOf("refund"), logIndex: 1 },
    ]);
  });
  const { items } = await listDeposits(desk.db, desk.integratorId, {
    display: (text) => text,
    heights: HEIGHTS_OF_DEPOSIT,
    status: STATUS_OF_DEPOSIT,
    limit: 10,
    cursor: undefined,
    filter: {},
  });
  const shown = items
    .map(({ walletAddress, blockNumber, outcome }) => [walletAddress, blockNumber, outcome])
    .toSorted();
  expect(shown).toEqual(
    [
      [address.wallet, 90, "refunded"],
      [address.wallet, 92, "below_minimum"],
      [other.wallet, 90, "below_minimum"],
      [settled.wallet, 93, "settling"],
    ].toSorted(),
  );
});
