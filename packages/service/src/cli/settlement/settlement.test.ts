/** A settlement as formatted for operators. */
import { expect, test } from "vitest";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import {
  explainWait,
  locateValue,
  readSettlementFile,
  refundSettlement,
  retrySettlement,
} from "../../settlements/index.ts";
import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import { toAddress } from "../../core/hex.ts";
import { toJson } from "../to-json.ts";
import { formatSettlement } from "./format.ts";
import { formatRefund } from "../../console/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import { formatRetry } from "./retry.ts";

const NO_CONFIG = { chains: [] };

test("formats every record of a settlement that failed, was retried and then ended for a refund", async () => {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  desk.state.simulation = { ok: false, reason: "Paused" };
  await desk.poll();
  const [{ id } = { id: "" }] = await desk.swaps();
  const by = { id, operator: "ada@desk", reason: "ticket 7" };

  const show = async () => {
    const file = await readSettlementFile(desk.db, id);
    if (!file) throw new Error("it is there");
    const value = { place: locateValue(file), walletBalance: null };
    const shown = { ...file, value, waitsFor: explainWait(file) };
    expect(JSON.parse(toJson(shown))).toMatchObject({ deposits: [{ amount: "1000" }] });
    return formatSettlement(NO_CONFIG, shown);
  };
  const failing = await show();
  expect(failing).toMatch(/^settlement [0-9a-f-]{36}\n {2}status +failed_swap, step sweep\n/);
  expect(failing).toMatch(/balance +unknown: the chain's node does not answer/);
  expect(failing).toMatch(/waits for +SIMULATION_REVERTED: /);
  expect(failing).toMatch(/next try +20\d\d-/);
  expect(failing).toMatch(/retries +1, tries used 1/);
  expect(failing).toMatch(/deposits\n {2}1000 base units {2}block 90 {2}0x/);
  expect(failing).not.toContain("commands by operators");

  const retried = await retrySettlement(desk.deps, by);
  expect(formatRetry(retried)).toBe(`settlement ${id} is due now`);
  expect(formatRetry(await retrySettlement(desk.deps, by))).toBe(`settlement ${id} is already due`);

  const refund = await refundSettlement(desk.deps, { ...by, to: RECIPIENT });
  const authority = toChecksumAddress(RECIPIENT);
  const words = formatRefund({ ...NO_CONFIG, display: addressFormat.display }, refund);
  expect(words).toContain(`Only ${authority} can take its deposits`);
  expect(words).toContain(`  data   0x2e${USDC.slice(2)}\n`);
  expect(words).toContain("The transaction would fail now: it reverts with Paused.");

  const dead = await show();
  expect(dead).toMatch(/status +dead, step done\n {2}value +in the deposit address/);
  expect(dead).not.toContain("waits for");
  expect(dead).not.toContain("next try");
  expect(dead).toMatch(/commands by operators\n.* ada@desk {2}retry of failed_swap: ticket 7\n/);
  expect(dead).toContain(`ada@desk  refund of failed_swap to ${authority}: ticket 7`);
});

test("itemises the fees of a sweep", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  desk.state.feeBps = 10;
  desk.state.gas = 3n;
  await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 90n });
  await desk.poll();
  const [{ id } = { id: "" }] = await desk.swaps();
  const file = await readSettlementFile(desk.db, id);
  if (!file) throw new Error("it is there");
  const value = { place: locateValue(file), walletBalance: null };
  const shown = { ...file, value, waitsFor: explainWait(file) };
  expect(formatSettlement(NO_CONFIG, shown)).toMatch(
    /fees +4 base units: service 1 base units, gas 3 base units, bridge 0 base units\n/,
  );
  expect(JSON.parse(toJson(shown))).toMatchObject({
    fees: { service: "1", gas: "3", bridge: "0" },
  });
});

test("tells the refund authority that a refund by the signer needs no action", () => {
  const refund = {
    kind: "order",
    settlementId: "00000000-0000-4000-8000-000000000001",
    authority: toAddress(`0x${"07".repeat(32)}`),
    chainId: 1,
    balance: 1_000n,
    changed: true,
    intent: "refund:00000000-0000-4000-8000-000000000001:1",
  } as const;
  const words = formatRefund({ ...NO_CONFIG, display: addressFormat.display }, refund);
  expect(words).toContain("is dead and will not be swept.");
  expect(words).toContain("to US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx on solana");
  expect(words).toContain(`The settler sends it as ${refund.intent}.`);
  expect(words).not.toMatch(/0x|data|value/);
  expect(
    formatRefund({ ...NO_CONFIG, display: addressFormat.display }, { ...refund, changed: false }),
  ).toContain("already pending");
  expect(JSON.parse(toJson(refund))).toMatchObject({ kind: "order", balance: "1000" });
});
