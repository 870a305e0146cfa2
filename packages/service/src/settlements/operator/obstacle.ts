/** Foretells the failure of a call that a refund authority makes itself. */
import type { Call, Chain } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";

/** Returns why the call would fail now; null when it would succeed. Throws RPC_UNAVAILABLE without an answer. */
export async function findObstacle(
  chain: Chain,
  from: Address,
  call: Call,
): Promise<string | null> {
  try {
    const simulation = await chain.simulate(from, call);
    return simulation.ok ? null : `it reverts with ${simulation.reason}`;
  } catch (error) {
    const lacksGas = error instanceof OperatingError && error.code === "INSUFFICIENT_BALANCE";
    if (lacksGas) return "the refund authority has no coin for gas on this chain";
    throw error;
  }
}
