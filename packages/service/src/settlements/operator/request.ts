/** The operator's request about a settlement, and the checks that refuse it. */
import type { DepositAddress } from "../../addresses/index.ts";
import { type Address, unpadAddress } from "../../core/hex.ts";
import { categoryOf } from "@sluice/sdk/wire";
import { OperatingError } from "../../core/errors.ts";
import type { SettlementDeps } from "../deps.ts";
import { hasValueInFlight } from "../in-flight.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Holding } from "../../deposits/index.ts";
import { getActive, getSettlement } from "../store/read.ts";
import type { Settlement } from "../types.ts";

/** A request with the operator's name and reason, which are recorded permanently. */
export interface OperatorRequest {
  readonly id: string;
  readonly operator: string;
  readonly reason: string;
}

/** Throws VALIDATION_ERROR unless the settlement is failing or deferred, with no value in flight. */
export function assertFailing(settlement: Settlement, what: "retry" | "refund"): void {
  const { status } = settlement;
  if (status === "completed") {
    throw refusal(`There is nothing to ${what}: the settlement is completed.`);
  }
  if (hasValueInFlight(settlement)) {
    throw refusal(
      `The settlement is ${status} and its value is in flight (sweep ${settlement.swapTxHash ?? "sent"}): it continues by itself until the value is delivered or returned.`,
    );
  }
  if (categoryOf(status) !== "retrying") {
    throw refusal(`There is nothing to ${what}: the settlement is ${status}, and nothing failed.`);
  }
}

/** Throws VALIDATION_ERROR while a settlement of the holding is active. */
export async function refuseActive(db: Db | Tx, holding: Holding): Promise<void> {
  const active = await getActive(db, holding);
  if (!active) return;
  throw refusal(
    `Settlement ${active.id} is settling the balance of the deposit address (${active.status}). If it fails, run \`sluice settlement refund\`: it ends the settlement and refunds the deposits.`,
  );
}

/** Returns a settlement. Throws VALIDATION_ERROR for an unknown or malformed id. */
export async function getExisting(deps: SettlementDeps, id: string): Promise<Settlement> {
  const settlement = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
    ? await getSettlement(deps.db, id)
    : null;
  if (settlement) return settlement;
  throw refusal(`There is no settlement ${id}.`);
}

/** Returns the refund authority of an address. Refuses any other recipient. */
export function assertAuthority(
  { displayAddress }: Pick<SettlementDeps, "displayAddress">,
  { commitment, family }: DepositAddress,
  to: Address,
): Address {
  const authority = unpadAddress(commitment.refundAuthority, family);
  if (to === authority) return authority;
  throw refusal(
    `The address is committed to the refund authority ${displayAddress(authority)}: nobody else can get a refund.`,
  );
}

/** Returns the refusal for a deposit address that is empty at the newest final block. */
export function holdsNothing(): OperatingError {
  return refusal(
    "The deposit address holds nothing of the token in a final block. A payment can be refunded once its block is final.",
  );
}

/** Returns the error of a refused request. The message tells the operator why. */
export function refusal(message: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", message);
}

/** Returns why an operator cannot retry or refund a settlement now; null if it is possible. */
export function findRefusal(settlement: Settlement, what: "retry" | "refund"): string | null {
  if (settlement.status === "dead") return null;
  try {
    assertFailing(settlement, what);
    return null;
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return error.message;
  }
}
