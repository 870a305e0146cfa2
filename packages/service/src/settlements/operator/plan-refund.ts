import type { DepositAddress } from "../../addresses/index.ts";
import type { Call, Chain, Held, VaultWallets } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { type CallPlan, planCall } from "../../transactions/index.ts";
import { lanesOf, type SettlementDeps } from "../deps.ts";
import { leaveSpare, failedByArrival } from "../spare.ts";
import type { Holding } from "../../deposits/index.ts";

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
  },
): Promise<{ readonly order: CallPlan & { readonly call: Call }; readonly taken: Held }> {
  const { chain, wallets, holding, address, held } = refund;
  const { settle: lanes } = lanesOf(deps, holding);
  const plan = async (taken: Held) => {
    const call = wallets.buildRefund(address.commitment, holding.token, taken);
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
