import type { Call, Chain } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { orderLanes } from "./nonces.ts";

/**
 * Many times what any call of ours takes with an ordinary token, and far below what signers sign. What wants more is
 * refused before it has a nonce: no signer would sign it, and its lane would wait for ever.
 */
const CALL_GAS_MAX = 2_000_000n;

/** Where and how a call is going to be sent. */
export interface CallPlan {
  readonly lane: Address;
  /** Gas limit, margin included. */
  readonly gas: bigint;
}

/**
 * Picks the lane with the least to do that can pay, and the gas limit, from running the call against the newest block
 * just before it is planned. `what` names it for people, such as "Sweeping the wallet".
 * @throws OperatingError SIMULATION_REVERTED with the contract's reason, or "gas" above the most; INSUFFICIENT_BALANCE when no lane can pay,
 *   RPC_UNAVAILABLE.
 */
export async function planCall(
  { db, chain }: { readonly db: Db; readonly chain: Chain },
  args: { readonly lanes: readonly Address[]; readonly call: Call; readonly what: string },
): Promise<CallPlan> {
  let failure: unknown;
  for (const lane of await orderLanes(db, chain.chainId, args.lanes)) {
    try {
      const simulation = await chain.simulate(lane, args.call);
      if (!simulation.ok) {
        throw new OperatingError("SIMULATION_REVERTED", `${args.what} would revert.`, {
          details: { reason: simulation.reason },
        });
      }
      if (simulation.gas > CALL_GAS_MAX) {
        throw new OperatingError("SIMULATION_REVERTED", `${args.what} would take too much gas.`, {
          details: { reason: "gas" },
        });
      }
      return { lane, gas: simulation.gas };
    } catch (error) {
      const cannotPay = error instanceof OperatingError && error.code === "INSUFFICIENT_BALANCE";
      if (!cannotPay) throw error;
      failure = error;
    }
  }
  throw failure;
}
