/** The one reason why a settlement waits. */
import { WAIT_REASONS } from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { findWaitReason, type WaitFacts } from "./wait-reason.ts";

const SENT = { hash: "0x1", gasPriceMax: 1n, signedAt: "", sentAt: null, accepted: true };

function transaction(intent: string, more: object = {}): WaitFacts["transactions"][number] {
  return {
    intent,
    chainId: 2,
    state: "assigned",
    succeeded: null,
    minedHash: null,
    minedBlock: null,
    lane: "0x",
    nonce: 1,
    createdAt: "",
    attempts: [SENT],
    ...more,
  };
}

const BASE = { status: "swapping", step: "sweep", plannedAmount: null, chainId: 2 };

function find(settlement: object, facts: Partial<WaitFacts> = {}) {
  return findWaitReason({
    // CAST: the function reads these fields only.
    settlement: { ...BASE, ...settlement } as WaitFacts["settlement"],
    error: null,
    retryAt: null,
    transactions: [],
    deliveries: [],
    transfers: [],
    openRefund: null,
    destChain: 30,
    heights: new Map([[2, { tip: 110n, final: 100n }]]),
    ...facts,
  });
}

const failing = (code: string, details: Record<string, string | number> = {}) =>
  find(
    { status: "failed_swap" },
    // CAST: codes of the closed set.
    { error: { code: code as "INTERNAL", message: "in words", retryable: true, details } },
  );

describe("the reason of a wait", () => {
  test("is absent for terminal settlements", () => {
    expect(find({ status: "completed", step: "done" })).toBeNull();
    expect(find({ status: "dead", step: "done" })).toBeNull();
  });

  test("is the refund of a dead settlement while it is open", () => {
    const transactions = [transaction("refund:s:1")];
    expect(find({ status: "dead", step: "done" }, { transactions })).toMatchObject({
      reason: "refund",
    });
  });

  test("counts the confirmations of a mined sweep", () => {
    const transactions = [transaction("sweep:s:1", { state: "mined", minedBlock: 104n })];
    expect(find({ plannedAmount: 5n }, { transactions })).toMatchObject({
      reason: "confirmations",
      chainId: 2,
      confirmations: 7,
      required: 11,
      message: "the sweep transaction to be final (7 of 11)",
    });
  });

  test("names a transaction that no node has accepted, and one that is not mined", () => {
    const at = (accepted: boolean) =>
      find(
        { plannedAmount: 5n },
        { transactions: [transaction("sweep:s:1", { attempts: [{ ...SENT, accepted }] })] },
      );
    expect(at(false)).toMatchObject({
      reason: "transaction",
      message: expect.stringContaining("accepted by a node"),
    });
    expect(at(true)).toMatchObject({
      reason: "transaction",
      message: expect.stringContaining("be mined"),
    });
  });

  test.each([
    ["insufficient_allowance_available", "bridge_allowance"],
    ["insufficient_fee", "bridge"],
    [null, "bridge"],
  ])("is the bridge's, with its own reason %s: %s", (delayReason, reason) => {
    const transfer = { state: "burned", delayReason } as WaitFacts["transfers"][number];
    expect(find({ step: "deliver" }, { transfers: [transfer] })).toMatchObject({
      reason,
      delayReason,
      chainId: 2,
    });
  });

  test.each([
    ["CONFIG_MISSING", { reason: "paused" }, "pause"],
    ["NO_ROUTE", { reason: "Paused" }, "pause"],
    ["CONFIG_MISSING", { reason: "screening_pending" }, "screening"],
    ["NO_ROUTE", { reason: "quarantined" }, "quarantine"],
    ["INSUFFICIENT_BALANCE", { reason: "inventory_too_low", chainId: 30 }, "inventory"],
    ["INSUFFICIENT_BALANCE", { reason: "integrator_share_reached" }, "inventory_share"],
    ["INSUFFICIENT_BALANCE", { reason: "daily_cap_reached" }, "daily_cap"],
    ["INSUFFICIENT_BALANCE", {}, "operator_funds"],
    ["FEE_NOT_COVERED", {}, "gas_price"],
    ["AMOUNT_TOO_SMALL", { reason: "fees" }, "gas_price"],
    ["AMOUNT_TOO_SMALL", {}, "amount_too_small"],
    ["PRICE_UNAVAILABLE", {}, "price"],
    ["RPC_UNAVAILABLE", {}, "node"],
    ["NO_ROUTE", {}, "route"],
    ["REORG", {}, "reorg"],
    ["TX_REVERTED", {}, "retry"],
  ])("of %s with %j is %s", (code, details, reason) => {
    expect(failing(code, details)).toMatchObject({ reason, message: "in words" });
    expect(WAIT_REASONS).toContain(reason);
  });

  test("is the payment while a lock waits for it, and its turn without anything else", () => {
    const lock = { state: "locked", waitsFor: null } as WaitFacts["deliveries"][number];
    expect(find({ step: "deliver" }, { deliveries: [lock] })).toMatchObject({
      reason: "delivery",
      chainId: 30,
    });
    expect(find({ status: "pending_swap" })).toMatchObject({ reason: "worker" });
  });

  test("is the exposure while a lock that is deep enough finds no room in it, or its chain closed", () => {
    const transactions = [transaction("sweep:s:1", { state: "mined", minedBlock: 104n })];
    const waiting = (waitsFor: "exposure" | "opening") => {
      const lock = { state: "locked", waitsFor } as WaitFacts["deliveries"][number];
      return find({ step: "deliver" }, { transactions, deliveries: [lock] });
    };
    const counted = { reason: "exposure", chainId: 2, confirmations: 7, required: 11 };
    expect(waiting("exposure")).toMatchObject({
      ...counted,
      message: "room for another payment before finality, or the lock to be final",
    });
    expect(waiting("opening")).toMatchObject({
      ...counted,
      message: "the lock to be final: payments before finality are closed on its chain",
    });
  });
});
