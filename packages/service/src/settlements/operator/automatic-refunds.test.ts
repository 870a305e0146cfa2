/** Refunds that nobody requests, against real PostgreSQL, with the chain's answers set by hand. */
import { expect, test } from "vitest";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import type { Chain } from "../../chains/port/index.ts";
import type { RefundPolicy } from "../../config/index.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { REFUND_AGAIN_MS } from "../../jobs/delays.ts";
import type { SettlementDeps } from "../deps.ts";
import { pollRefunds } from "../followers/refunded.ts";
import { pollUnsettledDeposits } from "../intake/recheck.ts";
import { announceRefundStates } from "./announce-states.ts";
import { createRefundDesk } from "./requested-refunds.ts";

const ATTESTOR = toEvmAddress(`0x${"ad".repeat(20)}`);
const HOUR_MS = 3_600_000;
/** Below the desk's minimum of 100. */
const DUST = 40n;

/** Opens an address whose policy refunds by itself after an hour, if the balance is worth ten times its gas. */
async function open(policy: Partial<RefundPolicy>, wallets: "contracts" | "vaults" = "contracts") {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  if (wallets === "vaults") {
    desk.turnIntoVaults();
    const chain = desk.deps.chains.get(2);
    if (!chain) throw new Error("the desk has a chain");
    Object.assign<Chain, Partial<Chain>>(chain, {
      readHolding: async () => ({ amount: desk.state.balance }),
    });
  }
  const gas = { cost: 4n as bigint | null };
  const automatic = { afterMs: HOUR_MS, timesGas: 10n };
  const general = { ...NOTHING_REFUNDED, automatic, ...policy };
  const deps: SettlementDeps = {
    ...desk.deps,
    attestedRefunds: {
      policies: { general, byAuthority: new Map() },
      attestors: { threshold: 1, accounts: [ATTESTOR], recover: () => null },
      wakeAttestor: () => undefined,
      readCost: async () => gas.cost,
    },
  };
  let block = 40n;
  const pay = async (amount: bigint) => {
    desk.state.balance += amount;
    await desk.arrive(address, { amount, block: ++block });
  };
  /** Advances the clock, and polls what is due. */
  const pass = async (ms: number) => {
    desk.clock.advance(ms);
    await pollUnsettledDeposits(deps, 2);
    await pollRefunds(deps, 2);
  };
  const refunds = () =>
    desk.db
      .selectFrom("address_refunds")
      .select(["refund_to", "amount", "operator", "policy_reason"])
      .orderBy("number")
      .execute();
  return { desk, deps, address, gas, pay, pass, refunds };
}

test("a balance below the minimum goes back by itself once its time is over", async () => {
  const { desk, deps, address, pay, pass, refunds } = await open({ belowMinimum: true });
  await pay(DUST);
  for (let minutes = 0; minutes < 59; minutes += 1) await pass(60_000);
  expect(await refunds()).toEqual([]);
  // Not at the next re-check, which would be later.
  await pass(60_000);
  const refund = { refund_to: RECIPIENT, amount: "40", policy_reason: "below_minimum" };
  expect(await refunds()).toEqual([{ ...refund, operator: "policy:" }]);
  await pass(HOUR_MS);
  expect(await refunds()).toHaveLength(1);
  await announceRefundStates(deps, 2);
  const shown = createRefundDesk({ ...deps, evmChainIds: new Map(), lists: () => true });
  const page = { limit: 10, cursor: undefined, filter: {} };
  expect((await shown.list(address.integratorId, page)).items).toMatchObject([
    { requestedBy: "policy", note: null, refundTo: desk.deps.displayAddress(RECIPIENT) },
  ]);
});

test("nothing goes back by itself without the setting", async () => {
  const { pay, pass, refunds } = await open({ belowMinimum: true, automatic: null });
  await pay(DUST);
  await pass(30 * 24 * HOUR_MS);
  expect(await refunds()).toEqual([]);
});

test.each([
  ["worth less than ten times its gas", 5n],
  ["without a price", null],
])("a balance %s stays [T278]", async (_, cost) => {
  const { gas, pay, pass, refunds } = await open({ belowMinimum: true });
  gas.cost = cost;
  await pay(DUST);
  for (let days = 0; days < 3; days += 1) await pass(24 * HOUR_MS);
  expect(await refunds()).toEqual([]);
  gas.cost = 4n;
  await pass(24 * HOUR_MS);
  expect(await refunds()).toHaveLength(1);
});

test("later deposits do not put a refund off [T279]", async () => {
  const { pay, pass, refunds } = await open({ belowMinimum: true });
  await pay(DUST);
  for (let minutes = 0; minutes < 65; minutes += 5) {
    await pass(5 * 60_000);
    if (minutes % 10 === 0) await pay(1n);
  }
  expect(await refunds()).toHaveLength(1);
});

test("a balance that reached the minimum settles instead", async () => {
  const { desk, pay, pass, refunds } = await open({ belowMinimum: true, expiredAfterS: 60n });
  await pay(DUST);
  await pay(DUST + 20n);
  await pass(2 * HOUR_MS);
  expect(await desk.swaps()).toHaveLength(1);
  expect(await refunds()).toEqual([]);
});

test("a refund that is not made is asked for again after a day", async () => {
  const { pay, pass, refunds } = await open({ belowMinimum: true });
  await pay(DUST);
  await pass(HOUR_MS);
  expect(await refunds()).toHaveLength(1);
  // It lapsed.
  for (let hours = 0; hours < 22; hours += 1) await pass(HOUR_MS);
  expect(await refunds()).toHaveLength(1);
  await pass(REFUND_AGAIN_MS);
  expect(await refunds()).toHaveLength(2);
});

test("what arrives after a refund waits its own time", async () => {
  const { desk, address, pay, pass, refunds } = await open({ belowMinimum: true });
  await pay(DUST);
  await pass(HOUR_MS);
  expect(await refunds()).toHaveLength(1);
  await desk.db
    .insertInto("outflows")
    .values({
      chain_id: 2,
      wallet: address.wallet,
      token: USDC,
      kind: "refunded",
      amount: DUST,
      block_number: 41n,
      block_hash: `0x${"41".repeat(32)}`,
      tx_hash: `0x${"42".repeat(32)}`,
      log_index: 9,
    })
    .execute();
  desk.state.balance = 0n;
  await pass(2 * REFUND_AGAIN_MS);
  await pay(DUST);
  await pass(HOUR_MS / 2);
  expect(await refunds()).toHaveLength(1);
  await pass(HOUR_MS);
  expect(await refunds()).toHaveLength(2);
});

test.each([
  ["goes back by itself", { deadAfterS: 60n }, 1],
  ["stays where the policy allows no dead balance", { belowMinimum: true }, 0],
])("the balance of a dead settlement %s", async (_, policy, count) => {
  const { desk, pay, pass, refunds } = await open(policy, "vaults");
  await pay(1_000n);
  await desk.db
    .updateTable("settlements")
    .set({
      status: "dead",
      step: "done",
      error_code: "TX_REVERTED",
      error_message: "It reverted.",
      error_retryable: false,
      next_check_at: new Date(desk.clock.now()).toISOString(),
    })
    .execute();
  desk.state.stood = 1_000n;
  await pass(HOUR_MS - 1_000);
  expect(await refunds()).toEqual([]);
  await pass(1_000);
  expect(await refunds()).toHaveLength(count);
});
