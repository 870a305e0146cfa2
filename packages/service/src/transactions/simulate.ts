import type { Call, Chain } from "../chains/port.ts";
import { OperatingError } from "../core/errors.ts";
import type { EvmAddress } from "../core/hex.ts";

/**
 * The gas limit for a call, from running it against the newest block just before it is planned. `what` names it for
 * people, such as "Sweeping the wallet".
 * @throws OperatingError SIMULATION_REVERTED with the contract's reason, INSUFFICIENT_BALANCE, RPC_UNAVAILABLE.
 */
export async function simulateCall(
  chain: Chain,
  args: { readonly from: EvmAddress; readonly call: Call; readonly what: string },
): Promise<bigint> {
  const simulation = await chain.simulate(args.from, args.call);
  if (simulation.ok) return simulation.gas;
  throw new OperatingError("SIMULATION_REVERTED", `${args.what} would revert.`, {
    details: { reason: simulation.reason },
  });
}
