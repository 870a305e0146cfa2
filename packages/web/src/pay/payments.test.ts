import {
  DEPOSIT_OUTCOMES,
  type DepositOutcome,
  type PayDeposit,
  type PaySettlement,
  type PayStatus,
} from "@sluice/sdk/wire";
import { expect, test } from "vitest";
import { formatAmount, groupAddress, parseUnits, toUnits } from "../kit/amounts.ts";
import { de } from "../texts/de.ts";
import { en } from "../texts/en.ts";
import { chooseLanguage, formatDuration, LANGUAGE_CODES } from "../texts/index.ts";
import { confirmationsOf, listPayments } from "./payments.ts";

const USDC = `0x${"5".repeat(40)}`;
const DEPOSIT: PayDeposit = {
  id: "d1",
  chainId: 2,
  tokenAddress: USDC,
  amount: "5000000",
  txHash: "0x1",
  finality: "confirming",
  confirmations: 3,
  confirmationsRequired: 12,
  ignoredReason: null,
  settlementId: null,
  outcome: "queued",
  detectedAt: "2026-01-01T00:00:00.000Z",
};
const SETTLEMENT: PaySettlement = {
  id: "s1",
  chainId: 2,
  tokenAddress: USDC,
  status: "pending_swap",
  isRefunded: false,
  refundTxHash: null,
  amount: null,
  waiting: { reason: "worker", chainId: 2, confirmations: null, required: null, retryAt: null },
  estimateSeconds: null,
  sweepTxHash: null,
  promisedAmount: null,
  deliveredAmount: null,
  deliveryTxHash: null,
  fees: null,
  createdAt: "2026-01-01T00:00:01.000Z",
  updatedAt: "2026-01-01T00:00:01.000Z",
};

function list(
  deposits: readonly Partial<PayDeposit>[],
  settlements: readonly Partial<PaySettlement>[] = [],
  refunds: readonly object[] = [],
) {
  // CAST: the fields that payments are made from.
  const status = {
    deposits: deposits.map((one) => ({ ...DEPOSIT, ...one })),
    settlements: settlements.map((one) => ({ ...SETTLEMENT, ...one })),
    refunds,
  } as unknown as PayStatus;
  return listPayments(status);
}
const statesOf = (...args: Parameters<typeof list>) => list(...args).map(({ state }) => state);

test("a deposit whose settlement is not listed is in the state of its outcome", () => {
  const stateOf = (outcome: DepositOutcome) => statesOf([{ outcome, settlementId: "s0" }])[0];
  // Nothing else is called delivered.
  expect(DEPOSIT_OUTCOMES.filter((outcome) => stateOf(outcome) === "delivered")).toEqual([
    "settled",
  ]);
  expect(stateOf("queued")).toBe("received");
  expect(stateOf("settling")).toBe("moving");
  expect(stateOf("held")).toBe("moving");
  expect(stateOf("dead")).toBe("refundable");
  expect(stateOf("refunded")).toBe("refunded");
  expect(stateOf("below_minimum")).toBe("short");
  expect(stateOf("no_route")).toBe("held");
  expect(stateOf("orphaned")).toBe("orphaned");
  expect(statesOf([{ outcome: "dead", settlementId: "s0" }], [{}])).toEqual([
    "moving",
    "refundable",
  ]);
});

test("a settlement goes from received to delivered, whatever its deposits' blocks", () => {
  const own = { settlementId: "s1" };
  expect(statesOf([own], [{}])).toEqual(["received"]);
  expect(statesOf([{ ...own, finality: "final" }], [{}])).toEqual(["moving"]);
  expect(statesOf([own], [{ sweepTxHash: "0x2" }])).toEqual(["moving"]);
  expect(statesOf([own], [{ status: "failed_swap", sweepTxHash: "0x2" }])).toEqual(["moving"]);
  expect(statesOf([own], [{ status: "completed" }])).toEqual(["delivered"]);
  expect(statesOf([{ ...own, finality: "orphaned" }], [{}])).toEqual(["orphaned"]);
});

test("a dead settlement whose deposits all left the chain has nothing to refund", () => {
  const dead = { status: "dead", waiting: null } as const;
  const gone = { settlementId: "s1", finality: "orphaned" } as const;
  expect(statesOf([gone], [dead])).toEqual(["dropped"]);
  expect(statesOf([gone, { settlementId: "s1", finality: "final" }], [dead])).toEqual([
    "refundable",
  ]);
});

test("a dead settlement is refundable, being refunded or refunded", () => {
  const dead = { status: "dead", waiting: null } as const;
  const refund = { chainId: 2, tokenAddress: USDC, requestedAt: "2026-01-02T00:00:00.000Z" };
  const stateOf = (state: string) => statesOf([], [dead], [{ ...refund, state, txHash: "0x9" }]);
  expect(statesOf([], [dead])).toEqual(["refundable"]);
  expect(statesOf([{ settlementId: "s1" }], [dead])).toEqual(["refundable"]);
  expect(stateOf("requested")).toEqual(["refunding"]);
  expect(stateOf("mined")).toEqual(["refunding"]);
  expect(stateOf("refunded")).toEqual(["refunded"]);
  expect(stateOf("refused")).toEqual(["refundable"]);
  expect(statesOf([], [{ ...dead, isRefunded: true }])).toEqual(["refunded"]);
});

test("payments are the newest first, and one of several deposits is their sum", () => {
  const payments = list(
    [
      { id: "d3", detectedAt: "2026-01-01T00:00:09.000Z", amount: "7" },
      { id: "d2", settlementId: "s1", confirmations: 1, amount: "20" },
      { id: "d1", settlementId: "s1", amount: "10" },
    ],
    [{}],
  );
  expect(payments.map(({ key, amount }) => [key, amount])).toEqual([
    ["d3", 7n],
    ["s1", 30n],
  ]);
  expect(payments.map(confirmationsOf)).toEqual([
    { done: 3, required: 12 },
    { done: 1, required: 12 },
  ]);
});

test("amounts are exact in both directions", () => {
  expect(toUnits(1_234_567n, 6)).toBe("1.234567");
  expect(toUnits(1n, 18)).toBe("0.000000000000000001");
  expect(toUnits(5n, 0)).toBe("5");
  expect(formatAmount(1_234_567_500_000n, 6, "en")).toBe("1,234,567.5");
  expect(formatAmount(1_234_567_500_000n, 6, "de")).toBe("1.234.567,5");
  expect(parseUnits("1,5", 6)).toBe(1_500_000n);
  expect(parseUnits(" .000001", 6)).toBe(1n);
  expect(parseUnits("1.0000000", 6)).toBe(1_000_000n);
  for (const text of ["", ".", "0", "0.0000001", "1e3", "-1", "1.2.3", "9".repeat(61)]) {
    expect([text, parseUnits(text, 6)]).toEqual([text, null]);
  }
});

test("an address in groups is the address", () => {
  const address = `0x${"12345678".repeat(5)}`;
  expect(groupAddress(address).slice(0, 3)).toEqual(["0x", "1234", "5678"]);
  expect(groupAddress(address).join("")).toBe(address);
});

test("every language has a text for everything that English has", () => {
  expect(LANGUAGE_CODES).toEqual(["en", "de"]);
  const namesOf = (texts: object): string[] =>
    Object.entries(texts).flatMap(([name, value]) =>
      value !== null && typeof value === "object"
        ? namesOf(value).map((inner) => `${name}.${inner}`)
        : [name],
    );
  expect(namesOf(de)).toEqual(namesOf(en));
  expect(chooseLanguage(["fr-FR", "de-AT", "en"])).toBe("de");
  expect(chooseLanguage(["fr"])).toBe("en");
  expect([formatDuration(30, en), formatDuration(600, de), formatDuration(9_000, en)]).toEqual([
    "30 seconds",
    "10 Minuten",
    "3 hours",
  ]);
});
