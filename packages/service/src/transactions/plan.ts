import type { Call, Chain } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { orderLanes } from "./nonces.ts";

/**
 * Gas limit for one call: many times the gas that any of our calls uses with an ordinary token, and far below the limit of
 * the signers. A call above it is refused before it has a nonce: no signer would sign it, and its nonce would block the
 * lane permanently.
 */
const CALL_GAS_MAX = 2_000_000n;

/** The lane and gas limit of a planned call. */
export interface CallPlan {
  readonly lane: Address;
  /** Gas limit, including the margin. */
  readonly gas: bigint;
}

/**
 * Returns the least busy lane that can pay for a call, and the gas limit from a simulation against the newest block.
 * `what` describes the call in error messages, such as "Sweeping the wallet".
 * @throws OperatingError SIMULATION_REVERTED with the contract's reason, or reason "gas" above the limit;
 *   INSUFFICIENT_BALANCE if no lane can pay; RPC_UNAVAILABLE.
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
