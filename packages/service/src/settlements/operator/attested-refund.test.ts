/** Refunds by policy, against real PostgreSQL, with the chain's and the attestors' answers set by hand. */
import { describe, expect, test, vi } from "vitest";
import { LANE } from "../../../test/support/doubles.ts";
import { openDesk, RECIPIENT, USDC } from "../../../test/support/settlement-desk.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import type { Chain, RefundProof } from "../../chains/port/index.ts";
import type { RefundPolicy } from "../../config/index.ts";
import { type EvmAddress, type Hex, padAddress, toEvmAddress } from "../../core/hex.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { AttestedMessage } from "../../signers/port.ts";
import type { SettlementDeps } from "../deps.ts";
import { pollAttestedRefunds, readUnsent } from "./attested-refund.ts";
import { refundAddress } from "./refund-address.ts";
import { findLastRefund } from "./refunds.ts";

const BY = { operator: "ada@desk", reason: "ticket 7" };
const AUTHORITY = RECIPIENT;
const DUST = 40n;
const ATTESTOR = toEvmAddress(`0x${"ad".repeat(20)}`);
const SIGNATURE: Hex = `0x${"51".repeat(65)}`;

/** Opens an address with a deposit below the minimum, on a chain where wallets are contracts. */
async function openDust(policy: Partial<RefundPolicy> = { belowMinimum: true }) {
  const desk = await openDesk();
  const address = await desk.issue("0x01");
  const chain = desk.deps.chains.get(2);
  if (!chain || chain.wallets.kind !== "contract") throw new Error("the desk has a chain");
  const built: { readonly proof: RefundProof; readonly signatures: Hex }[] = [];
  Object.assign<object, Partial<Chain["wallets"]>>(chain.wallets, {
    buildAttestedRefund: (proof: RefundProof, signatures: Hex) => {
      built.push({ proof, signatures });
      return { to: address.wallet, data: "0x4ef0" as const, value: 0n };
    },
  });
  const recovered: AttestedMessage[] = [];
  const deps: SettlementDeps = {
    ...desk.deps,
    attestedRefunds: {
      policies: { general: { ...NOTHING_REFUNDED, ...policy }, byAuthority: new Map() },
      attestors: {
        threshold: 1,
        accounts: [ATTESTOR],
        recover(message, signature): EvmAddress | null {
          recovered.push(message);
          return signature === SIGNATURE ? ATTESTOR : null;
        },
      },
      wakeAttestor: vi.fn(),
      readCost: async () => 1n,
    },
  };
  desk.state.balance = DUST;
  await desk.arrive(address, { amount: DUST, block: 90n });
  const holding = { chainId: 2, wallet: address.wallet, token: USDC };
  const ask = (change: object = {}) =>
    refundAddress(deps, { ...BY, ...holding, to: AUTHORITY, ...change });
  const sent = () =>
    desk.db
      .selectFrom("transactions")
      .select(["intent", "lane", "settlement_id"])
      .where("intent", "like", "refund:%")
      .execute();
  const answer = async (given: { readonly signature?: Hex; readonly refusal?: string }) => {
    const { id } = await desk.db
      .selectFrom("attestations")
      .select("id")
      .orderBy("created_at", "desc")
      .executeTakeFirstOrThrow();
    const row = { attestation_id: id, attestor: ATTESTOR };
    await desk.db
      .insertInto("attestation_answers")
      .values({ ...row, next_check_at: formatStamp(desk.clock.now()), ...given })
      .execute();
  };
  const poll = () => pollAttestedRefunds(deps, 2);
  const last = async () => {
    const refund = await findLastRefund(desk.db, holding);
    if (!refund) throw new Error("a refund was requested");
    return refund;
  };
  return { desk, deps, address, ask, sent, answer, poll, last, built, recovered, holding };
}

describe("a refund by policy", () => {
  test("asks the attestors for the final balance and the reason that fits", async () => {
    const { desk, deps, address, ask, last, sent } = await openDust();
    const { refund, changed } = await ask();
    expect(changed).toBe(true);
    const nowS = BigInt(Math.floor(desk.clock.now() / 1_000));
    expect(refund).toMatchObject({
      amount: DUST,
      authority: AUTHORITY,
      state: null,
      attested: { reason: "below_minimum", deadline: nowS + 570n },
    });
    expect(deps.attestedRefunds?.wakeAttestor).toHaveBeenCalledOnce();
    const [row] = await desk.db.selectFrom("attestations").selectAll().execute();
    expect(row).toMatchObject({
      id: `refund:${address.commitmentHash}:1`,
      kind: "refund",
      delivery_id: address.commitmentHash,
      request: { srcChain: 2, token: USDC, maxAmount: "40", reason: "below_minimum" },
    });
    expect(await readUnsent(deps, await last())).toEqual({ kind: "asked" });
    expect(await sent()).toEqual([]);
    // Like a command that is repeated.
    expect(await ask()).toEqual({ refund, changed: false });
  });

  test("is sent once by the lane of sweeps when enough attestors have signed exactly it", async () => {
    const { deps, address, ask, sent, answer, poll, last, built, recovered } = await openDust();
    const { refund } = await ask();
    await poll();
    expect(await sent()).toEqual([]);
    await answer({ signature: SIGNATURE });
    await poll();
    await poll();
    const { intent } = refund;
    expect(await sent()).toEqual([{ intent, lane: LANE, settlement_id: null }]);
    const proof = {
      commitment: address.commitment,
      token: USDC,
      maxAmount: DUST,
      reason: "below_minimum",
      deadline: refund.attested?.deadline,
    };
    expect(built).toEqual([{ proof, signatures: SIGNATURE }]);
    expect(recovered).toContainEqual({ kind: "refund", chainId: 2, order: proof });
    expect(await readUnsent(deps, await last())).toBe(null);
  });

  test("is not sent with the signature of a stranger", async () => {
    const { ask, sent, answer, poll } = await openDust();
    await ask();
    await answer({ signature: `0x${"66".repeat(65)}` });
    await poll();
    expect(await sent()).toEqual([]);
  });

  test("lapses when the attestors do not answer in time, and can be requested again", async () => {
    const { desk, deps, ask, sent, answer, poll, last } = await openDust();
    await ask();
    desk.clock.advance(540_000);
    await answer({ signature: SIGNATURE });
    // Too late to be mined.
    await poll();
    expect(await sent()).toEqual([]);
    desk.clock.advance(31_000);
    expect(await readUnsent(deps, await last())).toEqual({ kind: "lapsed" });
    const again = await ask();
    expect(again.changed).toBe(true);
    expect(again.refund.attested?.attestationId).toMatch(/:2$/);
  });

  test("ends when the attestors refuse, and says why", async () => {
    const { deps, ask, answer, last } = await openDust();
    await ask();
    await answer({ refusal: "above_minimum" });
    expect(await readUnsent(deps, await last())).toEqual({
      kind: "refused",
      refusal: "above_minimum",
    });
    expect((await ask()).changed).toBe(true);
  });

  test("gives way to a settlement that a later deposit starts [T194]", async () => {
    const { desk, address, ask, sent, answer, poll } = await openDust();
    await ask();
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 960n, block: 91n });
    await answer({ signature: SIGNATURE });
    await poll();
    expect(await sent()).toEqual([]);
    await expect(ask()).rejects.toThrow(/Settlement .* is settling the balance/);
  });

  test("is over before the balance is swept [T194]", async () => {
    const { desk, address, ask, answer, poll } = await openDust();
    const { refund } = await ask();
    await answer({ signature: SIGNATURE });
    await poll();
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 960n, block: 91n });
    await desk.poll();
    const sweeps = () =>
      desk.db.selectFrom("transactions").select("intent").where("intent", "like", "sweep:%");
    expect(await sweeps().execute()).toEqual([]);
    // It waits without a failed try.
    expect(await desk.swaps()).toMatchObject([{ error: null, retryCount: 0 }]);
    await desk.mine(refund.intent);
    desk.clock.advance(600_000);
    await desk.poll();
    expect(await sweeps().execute()).toHaveLength(1);
  });

  test("is refused where the policy allows no fitting reason, and says what the authority can do", async () => {
    const { desk, ask } = await openDust({ unlisted: true });
    await expect(ask()).rejects.toThrow(
      /allows no refund that is below_minimum\. The refund authority can take it by itself.*sluice rescue/,
    );
    expect(await desk.db.selectFrom("attestations").selectAll().execute()).toEqual([]);
  });

  test("by age asks for what stood, not for later deposits", async () => {
    const { desk, ask, deps } = await openDust({ expiredAfterS: 60n });
    const chain = deps.chains.get(2);
    Object.assign(chain ?? {}, {
      getTime: async () => 1_000n,
      getBlock: async (number: bigint) => ({
        number,
        hash: padAddress(USDC),
        parentHash: padAddress(USDC),
      }),
      payoutSearch: { findBlockAt: async () => 60n },
    });
    const stood = { amount: 0n };
    Object.assign(chain?.balances ?? {}, { listTokenBalances: async () => [stood.amount] });
    Object.assign(chain?.wallets ?? {}, { findOutflow: async () => null });
    await expect(ask()).rejects.toThrow(/only after 60 seconds .*too_recent/);
    stood.amount = DUST - 1n;
    const { refund } = await ask();
    expect(refund).toMatchObject({ amount: DUST - 1n, attested: { reason: "expired" } });
    expect(desk.state.balance).toBe(DUST);
  });

  test("is refused for another recipient, an empty address and an unknown one", async () => {
    const { desk, ask } = await openDust();
    await expect(ask({ to: ATTESTOR })).rejects.toThrow(/nobody else can get a refund/);
    await expect(ask({ wallet: ATTESTOR })).rejects.toThrow(/no deposit address/);
    desk.state.balance = 0n;
    await expect(ask()).rejects.toThrow(/holds nothing of the token/);
  });
});
