/** Events about the states of refunds, against real PostgreSQL, with the chain's and the attestors' answers set by hand. */
import { ExtendedEventItem } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import type { Chain } from "../../chains/port/index.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import { listExtendedEvents } from "../../events/index.ts";
import type { SettlementDeps } from "../deps.ts";
import { announceRefundStates } from "./announce-states.ts";
import { refundAddress } from "./refund-address.ts";

const ATTESTOR = toEvmAddress(`0x${"ad".repeat(20)}`);

/** Opens an address with dust, of which a refund is requested; wallets are contracts, or vaults on demand. */
async function openRefund(wallets: "contracts" | "vaults") {
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
  const deps: SettlementDeps = {
    ...desk.deps,
    attestedRefunds: {
      policies: { general: { ...NOTHING_REFUNDED, belowMinimum: true }, byAuthority: new Map() },
      attestors: { threshold: 1, accounts: [ATTESTOR], recover: () => null },
      wakeAttestor: () => undefined,
      readCost: async () => 1n,
    },
  };
  desk.state.balance = 40n;
  await desk.arrive(address, { amount: 40n, block: 90n });
  const ask = () =>
    refundAddress(deps, {
      chainId: 2,
      wallet: address.wallet,
      token: USDC,
      to: RECIPIENT,
      operator: "ada@desk",
      reason: "ticket 7",
    });
  const { refund } = await ask();
  const poll = () => announceRefundStates(deps, 2);
  const events = async () => {
    const { items } = await listExtendedEvents(desk.db, desk.integratorId, {
      type: "refund_changed",
      limit: 50,
    });
    expect(items.flatMap((event) => [...Value.Errors(ExtendedEventItem, event)])).toEqual([]);
    return items.flatMap((event) => (event.type === "refund_changed" ? [event] : []));
  };
  const states = async () => (await events()).map(({ data }) => data.state);
  return { desk, address, refund, ask, poll, events, states };
}

test("each state of a refund is announced once, in order, also one that passed between two polls [T275]", async () => {
  const { desk, address, refund, poll, events, states } = await openRefund("vaults");
  await poll();
  await poll();
  expect(await states()).toEqual(["requested"]);
  await desk.mine(refund.intent, true, "mined");
  await poll();
  expect(await states()).toEqual(["requested", "sent", "mined"]);
  await desk.mine(refund.intent);
  await poll();
  await poll();
  const txHash = hashOf(refund.intent);
  expect((await events()).map(({ data }) => data)).toMatchObject([
    { refundId: refund.id, state: "requested", prevState: null, terminal: false, txHash: null },
    { refundId: refund.id, state: "sent", prevState: "requested", terminal: false, txHash },
    { refundId: refund.id, state: "mined", prevState: "sent", terminal: false, txHash },
    { refundId: refund.id, state: "refunded", prevState: "mined", terminal: true, txHash },
  ]);
  expect((await events())[0]).toMatchObject({
    data: { walletAddress: address.wallet, tokenAddress: USDC, amount: "40", refusal: null },
    details: { depositAddressId: address.id, refundTo: RECIPIENT },
  });
  // The published types are unchanged.
  expect((await desk.events()).map(({ type }) => type)).toEqual(["deposit_detected"]);
});

test("a refund whose transaction fails or goes back to pending is announced so [T275]", async () => {
  const { desk, refund, poll, states } = await openRefund("vaults");
  const { id } = await desk.db
    .selectFrom("transactions")
    .select("id")
    .where("intent", "=", refund.intent)
    .executeTakeFirstOrThrow();
  await desk.db
    .insertInto("attempts")
    .values({
      hash: hashOf(refund.intent),
      transaction_id: id,
      number: 1,
      raw: "0x00",
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      created_at: formatStamp(desk.clock.now()),
    })
    .execute();
  await desk.mine(refund.intent, true, "mined");
  await poll();
  const unmined = { mined_hash: null, mined_block_hash: null, mined_block_number: null };
  await desk.db
    .updateTable("transactions")
    .set({ state: "assigned", succeeded: null, ...unmined })
    .where("intent", "=", refund.intent)
    .execute();
  await poll();
  await desk.mine(refund.intent, false);
  await poll();
  expect(await states()).toEqual(["requested", "sent", "mined", "sent", "failed"]);
});

test("a refusal is announced with its reason, and the next request with its own states [T275]", async () => {
  const { desk, refund, ask, poll, events } = await openRefund("contracts");
  await poll();
  const { id } = await desk.db.selectFrom("attestations").select("id").executeTakeFirstOrThrow();
  await desk.db
    .insertInto("attestation_answers")
    .values({
      attestation_id: id,
      attestor: ATTESTOR,
      next_check_at: formatStamp(desk.clock.now()),
      refusal: "above_minimum",
    })
    .execute();
  await poll();
  const { refund: next } = await ask();
  desk.clock.advance(600_000);
  await poll();
  await poll();
  expect((await events()).map(({ data }) => data)).toMatchObject([
    { refundId: refund.id, state: "requested", refusal: null },
    { refundId: refund.id, state: "refused", terminal: true, refusal: "above_minimum" },
    { refundId: next.id, state: "requested", refusal: null },
    { refundId: next.id, state: "lapsed", terminal: true, refusal: null },
  ]);
});
