import type { DepositAddress } from "../../addresses/index.ts";
import type { Call, Chain, Held, VaultWallets } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import { type CallPlan, planCall } from "../../transactions/index.ts";
import { lanesOf, type SettlementDeps } from "../deps.ts";
import { leaveSpare, failedByArrival } from "../spare.ts";
import { gateBalance, type Holding } from "../../deposits/index.ts";
import { REFUND_REASONS, type RefundReason } from "../../core/refund-reason.ts";
import { judgeRefundReason } from "../../routes/index.ts";
import { pairOf } from "../choose-route.ts";
import { refusal } from "./request.ts";

/**
 * Plans the order that pays a vault's balance to its refund authority, simulated against the newest block. When dust that
 * arrives meanwhile fails the order, a second plan leaves the spare behind.
 * @throws OperatingError as `planCall` does, when the order would fail now.
 */
export async function planRefund(
  deps: SettlementDeps,
  refund: {
    readonly chain: Chain;
    readonly wallets: VaultWallets;
    readonly holding: Holding;
    readonly address: DepositAddress;
    readonly held: Held;
    readonly needsReason?: boolean;
  },
): Promise<{ readonly order: CallPlan & { readonly call: Call }; readonly taken: Held }> {
  const { chain, wallets, holding, address, held } = refund;
  const { settle: lanes } = lanesOf(deps, holding);
  const reason = await chooseReason(deps, refund);
  if (reason === null && refund.needsReason) throw refusal("No policy allows this refund.");
  const plan = async (taken: Held) => {
    const call = wallets.buildRefund(address.commitment, holding.token, { ...taken, reason });
    const planned = await planCall({ db: deps.db, chain }, { lanes, call, what: "The refund" });
    return { order: { ...planned, call }, taken };
  };
  try {
    return await plan(held);
  } catch (error) {
    if (!(error instanceof OperatingError) || !failedByArrival(error)) throw error;
    return plan(leaveSpare(held));
  }
}

/** Returns the reason that the signer will see too; null if policy or chain show none: then the authority asked for it. */
async function chooseReason(
  deps: SettlementDeps,
  { chain, holding, address, held }: Parameters<typeof planRefund>[1],
): Promise<RefundReason | null> {
  if (!deps.attestedRefunds) return null;
  const { policies } = deps.attestedRefunds;
  const { commitment, wallet } = address;
  const pair = pairOf(holding, address);
  const pairs = deps.routes.list(pair).length === 0 ? [] : [pair];
  const isBelowMinimum = async (chainId: number, token: Address, balance: bigint) =>
    gateBalance(balance, await deps.readMinimums(chainId, token)).kind === "ignore";
  const given = { chain, pairs, terms: { policies, isBelowMinimum } };
  const refund = { commitment, wallet, token: holding.token, maxAmount: held.amount };
  for (const reason of REFUND_REASONS) {
    const verdict = await judgeRefundReason(given, { ...refund, reason });
    if (verdict.kind === "sign") return reason;
  }
  return null;
}
