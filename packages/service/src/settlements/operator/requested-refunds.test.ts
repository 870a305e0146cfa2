/** Refunds at the request of an integrator, against real PostgreSQL, with the chain's and the attestors' answers set by hand. */
import { encodeRefund } from "@sluice/sdk/address";
import { Refund, RefundTransaction } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { describe, expect, test, vi } from "vitest";
import { hashOf } from "../../../test/support/doubles.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { createTenant } from "../../../test/support/tenants.ts";
import { formatCommitment } from "../../addresses/index.ts";
import type { Chain } from "../../chains/port/index.ts";
import type { RefundPolicy } from "../../config/index.ts";
import { toEvmAddress } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { SettlementDeps } from "../deps.ts";
import { announceRefundStates } from "./announce-states.ts";
import { createRefundDesk, type RefundAsked } from "./requested-refunds.ts";

const KEY = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const DUST = 40n;
const ATTESTOR = toEvmAddress(`0x${"ad".repeat(20)}`);
const EVM_CHAIN_IDS = new Map([
  [2, 1],
  [4, 56],
]);
const PAGE = { limit: 10, cursor: undefined, filter: {} };

/** Opens an address with a deposit below the minimum, where wallets are contracts. */
async function openDust(policy: Partial<RefundPolicy>) {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  const deps: SettlementDeps = {
    ...desk.deps,
    attestedRefunds: {
      policies: { general: { ...NOTHING_REFUNDED, ...policy }, byAuthority: new Map() },
      attestors: { threshold: 1, accounts: [ATTESTOR], recover: () => null },
      wakeAttestor: vi.fn(),
      readCost: async () => 1n,
    },
  };
  desk.state.balance = DUST;
  await desk.arrive(address, { amount: DUST, block: 90n });
  const refunds = createRefundDesk({
    ...deps,
    evmChainIds: EVM_CHAIN_IDS,
    lists: (_, token) => token === USDC,
  });
  const ask = (change: Partial<RefundAsked> = {}) =>
    refunds.request({ chainId: 2, address, token: USDC, keyId: KEY, note: undefined, ...change });
  return { desk, deps, address, refunds, ask };
}

describe("a refund that the policies allow", () => {
  test("is requested once for the refund authority, and shown to its integrator alone [T233]", async () => {
    const { desk, address, refunds, ask } = await openDust({ belowMinimum: true });
    const { refund, transaction, reason } = await ask({ note: "order 17" });
    expect({ transaction, reason }).toEqual({ transaction: null, reason: null });
    expect([...Value.Errors(Refund, refund)]).toEqual([]);
    expect(refund).toMatchObject({
      walletAddress: address.wallet,
      depositAddressId: address.id,
      amount: String(DUST),
      refundTo: RECIPIENT,
      state: "requested",
      policyReason: "below_minimum",
      requestedBy: "api_key",
      note: "order 17",
    });
    const again = await ask();
    expect(again.refund).toEqual(refund);
    expect(await refunds.list(desk.integratorId, PAGE)).toEqual({
      items: [refund],
      nextCursor: null,
    });
    const id = refund?.id ?? "";
    expect(await refunds.find(desk.integratorId, id)).toEqual(refund);
    const stranger = await createTenant(desk.db);
    expect(await refunds.find(stranger.id, id)).toBe(null);
    expect((await refunds.list(stranger.id, PAGE)).items).toEqual([]);
  });

  test("is shown as refused with the attestors' text, and can be requested again", async () => {
    const { desk, refunds, ask } = await openDust({ belowMinimum: true });
    const { refund } = await ask();
    const { id } = await desk.db.selectFrom("attestations").select("id").executeTakeFirstOrThrow();
    await desk.db
      .insertInto("attestation_answers")
      .values({
        attestation_id: id,
        attestor: ATTESTOR,
        next_check_at: formatStamp(desk.clock.now()),
        refusal: "not below the minimum",
      })
      .execute();
    expect(await refunds.find(desk.integratorId, refund?.id ?? "")).toMatchObject({
      state: "refused",
      refusal: "not below the minimum",
      txHash: null,
    });
    const next = await ask();
    expect(next.refund?.id).not.toBe(refund?.id);
    const { items, nextCursor } = await refunds.list(desk.integratorId, { ...PAGE, limit: 1 });
    expect(items).toEqual([next.refund]);
    const [at = "", last = ""] = nextCursor?.split("_") ?? [];
    const rest = await refunds.list(desk.integratorId, { ...PAGE, cursor: { at, id: last } });
    expect(rest.items.map((one) => one.id)).toEqual([refund?.id]);
  });
});

test("refunds are listed by user, token, state and time", async () => {
  const { desk, deps, address, refunds, ask } = await openDust({ belowMinimum: true });
  const { refund } = await ask();
  const count = async (filter: object) =>
    (await refunds.list(desk.integratorId, { ...PAGE, filter })).items.length;
  expect(await count({ state: "requested" })).toBe(1);
  expect(await count({ userId: address.userId, token: USDC, chainId: 2 })).toBe(1);
  expect(await count({ userId: `0x${"9".repeat(40)}` })).toBe(0);
  expect(await count({ token: ATTESTOR })).toBe(0);
  expect(await count({ from: refund?.requestedAt })).toBe(1);
  expect(await count({ to: refund?.requestedAt })).toBe(0);
  desk.clock.advance(600_000);
  await announceRefundStates(deps, 2);
  expect(await count({ state: "requested" })).toBe(0);
  expect(await count({ state: "lapsed", wallet: address.wallet })).toBe(1);
  const cursor = { at: refund?.requestedAt ?? "", id: refund?.id ?? "" };
  const page = { ...PAGE, cursor, filter: { state: "lapsed" as const } };
  expect((await refunds.list(desk.integratorId, page)).items).toEqual([]);
});

test("a refund that no policy allows is a transaction that only the refund authority can send [T233]", async () => {
  const { desk, address, ask } = await openDust({});
  const { refund, transaction, reason } = await ask();
  expect(refund).toBe(null);
  expect(reason).toContain("allows no refund that is below_minimum");
  expect([...Value.Errors(RefundTransaction, transaction)]).toEqual([]);
  const commitment = formatCommitment(address, desk.deps.displayAddress);
  expect(transaction).toEqual({
    evmChainId: 1,
    from: RECIPIENT,
    to: commitment.factory,
    data: encodeRefund({ commitment, token: USDC }),
    value: "0",
  });
  expect(await desk.db.selectFrom("address_refunds").selectAll().execute()).toEqual([]);
});

test("a payment on a chain that nobody watches is refunded by the authority's own transaction", async () => {
  const { address, ask } = await openDust({ belowMinimum: true });
  const { refund, transaction, reason } = await ask({ chainId: 4 });
  expect(refund).toBe(null);
  expect(reason).toContain("does not watch this chain");
  expect(transaction).toMatchObject({ evmChainId: 56, from: RECIPIENT, to: address.walletRoot });
});

test("an empty address has nothing to refund", async () => {
  const { desk, ask } = await openDust({ belowMinimum: true });
  desk.state.balance = 0n;
  await expect(ask()).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining("holds nothing of the token"),
  });
});

test("on Solana the signer pays the refund, followed until it is final", async () => {
  const { desk, address, refunds, ask } = await openDust({});
  desk.turnIntoVaults();
  const chain = desk.deps.chains.get(2);
  if (!chain) throw new Error("the desk has a chain");
  Object.assign<Chain, Partial<Chain>>(chain, {
    readHolding: async () => ({ amount: desk.state.balance }),
  });
  await expect(ask({ token: toEvmAddress(`0x${"9".repeat(40)}`) })).rejects.toMatchObject({
    details: { field: "tokenAddress" },
  });
  const { refund } = await ask();
  const id = refund?.id ?? "";
  const find = () => refunds.find(desk.integratorId, id);
  expect(await find()).toMatchObject({
    state: "requested",
    policyReason: null,
    note: null,
    walletAddress: address.wallet,
  });
  await desk.mine(`refund:${id}:1`, true, "mined");
  expect(await find()).toMatchObject({ state: "mined", txHash: hashOf(`refund:${id}:1`) });
  await desk.mine(`refund:${id}:1`);
  expect(await find()).toMatchObject({ state: "refunded" });
});
