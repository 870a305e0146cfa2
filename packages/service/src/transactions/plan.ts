import { type Call, type Chain, verdictOnRevert } from "../chains/port/index.ts";
import { assert, assertNever } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { orderLanes } from "./nonces.ts";
import type { LaneTransaction } from "./types.ts";

/**
 * Gas limit for one call: many times the gas that any of our calls uses with an ordinary token, and far below the limit of
 * the signers. A call above it is refused before it has a nonce: no signer would sign it, and its nonce would block the
 * lane permanently.
 */
const CALL_GAS_MAX = 2_000_000n;

/** Reason of INSUFFICIENT_BALANCE while no lane can pay for a call. */
export const LACK_OF_GAS = "gas";

/** Lanes that may send a call. */
export interface LaneChoice {
  readonly lanes: readonly Address[];
  /** Lanes of another purpose, which send the call only if none of `lanes` can. */
  readonly spare?: readonly Address[];
}

/** Reasons of reverts that concern the sender alone: another lane may succeed. */
const SENDER_REASONS: readonly unknown[] = ["NotRelayer", "NotSettler", "NotMover"];

/** The lane and gas limit of a planned call. */
export interface CallPlan {
  readonly lane: Address;
  /** Gas limit, including the margin. */
  readonly gas: bigint;
}

/**
 * Returns the least busy lane that can pay for a call and that the contracts accept, and the gas limit from a simulation
 * against the newest block.
 * `what` describes the call in error messages, such as "Sweeping the wallet".
 * @throws OperatingError SIMULATION_REVERTED with the contract's reason, or reason "gas" above the limit; NO_ROUTE with
 *   the reason if it is a deferral, such as a pause; INTERNAL with the reason if no correct call reverts so;
 *   INSUFFICIENT_BALANCE with reason "gas" and the greatest balance of the lanes if none can pay; RPC_UNAVAILABLE.
 */
export async function planCall(
  { db, chain }: { readonly db: Db; readonly chain: Chain },
  args: LaneChoice & {
    readonly call: Call;
    readonly what: string;
    /** Names calls that take about as much gas. */
    readonly like?: string;
  },
): Promise<CallPlan> {
  const lanes = [
    ...(await orderLanes(db, chain.chainId, args.lanes)),
    ...(await orderLanes(db, chain.chainId, args.spare ?? [])),
  ];
  assert(lanes.length > 0, "every call has a lane");
  let unlisted: OperatingError | null = null;
  for (const lane of lanes) {
    try {
      const hint = args.like === undefined ? undefined : { like: args.like };
      const simulation = await chain.simulate(lane, args.call, hint);
      if (!simulation.ok) throw explainRevert(simulation.reason, args.what);
      if (simulation.gas > CALL_GAS_MAX) {
        throw new OperatingError("SIMULATION_REVERTED", `${args.what} would take too much gas.`, {
          details: { reason: "gas" },
        });
      }
      return { lane, gas: simulation.gas };
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      if (SENDER_REASONS.includes(error.details?.["reason"])) unlisted ??= error;
      else if (error.code !== "INSUFFICIENT_BALANCE") throw error;
    }
  }
  throw unlisted ?? (await lackOfGas(chain, { lanes, what: args.what }));
}

/** Says the greatest balance of the lanes, in base units, so that a refill is recognised. */
async function lackOfGas(
  chain: Chain,
  { lanes, what }: { readonly lanes: readonly Address[]; readonly what: string },
): Promise<OperatingError> {
  const balances = await Promise.all(lanes.map((lane) => chain.getBalance(chain.coin.token, lane)));
  const balance = balances.reduce((most, one) => (one > most ? one : most));
  return new OperatingError("INSUFFICIENT_BALANCE", `${what} waits: no lane can pay for the gas.`, {
    details: { reason: LACK_OF_GAS, chainId: chain.chainId, balance: balance.toString() },
  });
}

function explainRevert(reason: string, what: string): OperatingError {
  const verdict = verdictOnRevert(reason);
  switch (verdict) {
    case "deferral":
      return deferralOf(reason, what);
    case "attempt":
      return new OperatingError("SIMULATION_REVERTED", `${what} would revert.`, {
        details: { reason },
      });
    case "bug":
      return new OperatingError("INTERNAL", `${what} would revert: the call is wrong.`, {
        details: { reason },
      });
    default:
      return assertNever(verdict);
  }
}

/** NO_ROUTE uses up no attempt of a settlement, and has it wait. */
function deferralOf(reason: string, what: string): OperatingError {
  const message = `${what} is not possible now: the contracts do not allow it.`;
  return new OperatingError("NO_ROUTE", message, { details: { reason } });
}

/**
 * Returns the deferral that explains a final revert, or null. Receipts have no reasons, so the call is simulated again: the
 * state that made it revert, such as a pause, usually lasts longer than the transaction.
 */
export async function findDeferral(
  chain: Chain,
  { lane, call }: LaneTransaction,
): Promise<OperatingError | null> {
  const simulation = await chain.simulate(lane, call);
  if (simulation.ok || verdictOnRevert(simulation.reason) !== "deferral") return null;
  return deferralOf(simulation.reason, "The call");
}
