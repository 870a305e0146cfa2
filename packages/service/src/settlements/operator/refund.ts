/**
 * An operator has a settlement end for a refund: through the lifecycle, so that no worker sweeps it. Neither way moves
 * value here. A contract lets the committed refund authority alone take it, so a refund returns the call for it; on Solana
 * only the signer can move the funds of a vault, so there a refund queues the order that pays the authority. Locks and
 * repetition as in `retry.ts`.
 */
import { assertDerived, type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Call, Chain } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { getByIntent, type IntentName, isOver, submitIntent } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { watchForRefund } from "../store/dead.ts";
import { getActive, getError, lockHolding, lockSettlement } from "../store/read.ts";
import { transition } from "../store/transition.ts";
import type { Settlement } from "../types.ts";
import { listActions, recordAction } from "./actions.ts";
import { planRefund } from "./plan-refund.ts";
import { findOpenRefund } from "./refunds.ts";
import {
  assertAuthority,
  assertFailing,
  getExisting,
  holdsNothing,
  type OperatorRequest,
  refusal,
} from "./request.ts";

interface RefundFacts {
  readonly settlementId: string;
  /** The refund authority of the address: nobody else is ever paid. */
  readonly authority: Address;
  readonly chainId: number;
  /** What the deposit address holds, in base units. */
  readonly balance: bigint;
  /** False when the refund was prepared before; then nothing was changed or recorded. */
  readonly changed: boolean;
}

/** The authority takes the deposits itself: nobody else can make the call. */
export interface RefundByCall extends RefundFacts {
  readonly kind: "call";
  readonly call: Call;
  /** Null when the call would succeed now, else why not, such as a token that is paused. */
  readonly obstacle: string | null;
}

/** The signer pays the authority, which does nothing. */
export interface RefundByOrder extends RefundFacts {
  readonly kind: "order";
  /** The transaction to watch. */
  readonly intent: IntentName;
}

export type RefundResult = RefundByCall | RefundByOrder;

/**
 * Ends a failing settlement for a refund, or takes one that is dead. Returns the call that its refund authority has to
 * make, or on Solana the order that pays it, which is queued then. Once a final block shows the refund, the settlement
 * says so; an order that failed can be asked for again.
 * @throws OperatingError VALIDATION_ERROR, saying why, where nothing can be refunded; on Solana what `planCall` throws when
 *   the order would fail now. Then nothing was changed.
 */
export async function refundSettlement(
  deps: SettlementDeps,
  request: OperatorRequest & { readonly to: Address },
): Promise<RefundResult> {
  const settlement = await getExisting(deps, request.id);
  const chain = chainOf(deps, settlement);
  const address = await getAddressById(deps.db, settlement.addressId);
  assertDerived(chain, address);
  const authority = assertAuthority(deps, address, request.to);
  assertRefundable(settlement);
  const asked = { ...request, authority };
  return chain.wallets.kind === "vault"
    ? refundByOrder(deps, { chain, settlement, address, request: asked })
    : refundByCall(deps, { chain, settlement, address, request: asked });
}

interface AskedRefund {
  readonly chain: Chain;
  readonly settlement: Settlement;
  readonly address: DepositAddress;
  readonly request: OperatorRequest & { readonly authority: Address };
}

async function refundByCall(
  deps: SettlementDeps,
  { chain, settlement, address, request }: AskedRefund,
): Promise<RefundByCall> {
  const { authority } = request;
  const balance = (await chain.findBalance(settlement.token, settlement.wallet)) ?? 0n;
  if (balance === 0n) throw holdsNothing();
  const call = chain.buildRefund(address.commitment, settlement.token);
  const obstacle = await findObstacle(chain, authority, call);
  const changed = await deps.db.transaction().execute(async (tx) => {
    const locked = await lockRefundable(tx, settlement);
    const last = (await listActions(tx, locked.id)).at(-1);
    if (locked.status === "dead" && last?.action === "refund") return false;
    await endForRefund(tx, deps, locked, request);
    return true;
  });
  deps.wakeEvents(settlement.integratorId);
  const { chainId } = settlement;
  const facts = { settlementId: settlement.id, authority, chainId, balance, changed };
  return { kind: "call", ...facts, call, obstacle };
}

async function refundByOrder(
  deps: SettlementDeps,
  { chain, settlement, address, request }: AskedRefund,
): Promise<RefundByOrder> {
  const { authority } = request;
  const { chainId, id: settlementId } = settlement;
  const held = await chain.readHolding(settlement.token, settlement.wallet);
  const result = (intent: IntentName, changed: boolean): RefundByOrder => ({
    kind: "order",
    settlementId,
    authority,
    chainId,
    balance: held.amount,
    changed,
    intent,
  });
  // What is on its way may have taken everything already.
  const { open } = await readRefunds(deps.db, settlementId);
  if (open) return result(open, false);
  if (held.amount === 0n) throw holdsNothing();
  const { order } = await planRefund(deps, { chain, holding: settlement, address, held });
  const { intent, changed } = await deps.db.transaction().execute(async (tx) => {
    const locked = await lockRefundable(tx, settlement);
    const refunds = await readRefunds(tx, settlementId);
    if (refunds.open) return { intent: refunds.open, changed: false };
    const rival = await findOpenRefund(tx, locked);
    if (rival) throw refusal(`The refund ${rival} takes what the deposit address holds.`);
    await endForRefund(tx, deps, locked, request);
    await submitIntent(tx, deps.random, { chainId, settlementId, intent: refunds.next, ...order });
    return { intent: refunds.next, changed: true };
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeLanes(chainId);
  return result(intent, changed);
}

/** The refund of a settlement that may still be mined, and the name of the next. */
async function readRefunds(
  db: Db | Tx,
  settlementId: string,
): Promise<{ readonly open: IntentName | null; readonly next: IntentName }> {
  let open: IntentName | null = null;
  for (let number = 1; ; number += 1) {
    const next: IntentName = `refund:${settlementId}:${number}`;
    const sent = await getByIntent(db, next);
    if (!sent) return { open, next };
    open = isOver(sent) ? null : next;
  }
}

/** Locks a settlement that may be refunded, of a holding that no other has under way. */
async function lockRefundable(tx: Tx, settlement: Settlement): Promise<Settlement> {
  await lockHolding(tx, settlement);
  const locked = await lockSettlement(tx, settlement.id);
  assertRefundable(locked);
  const active = await getActive(tx, locked);
  if (active && active.id !== locked.id) {
    throw refusal(`Settlement ${active.id} is under way with what the deposit address holds.`);
  }
  return locked;
}

async function endForRefund(
  tx: Tx,
  deps: SettlementDeps,
  locked: Settlement,
  { authority: refundTo, operator, reason }: AskedRefund["request"],
): Promise<void> {
  await recordAction(tx, locked, { action: "refund", operator, reason, refundTo });
  if (locked.status === "dead") return watchForRefund(tx, locked.id, deps.clock.now());
  const error = await getError(tx, locked.id);
  assert(error !== null, "a settlement that fails has an error");
  const moved = await transition(tx, deps, locked, {
    trigger: "given_up",
    error: { ...error, retryable: false },
    change: { step: "done", retryAtMs: null, nextCheckAtMs: deps.clock.now() },
  });
  assert(moved, "a settlement whose row is locked stays as it is");
}

/** Why the call would fail now; null when it would not. Throws RPC_UNAVAILABLE when the node does not answer. */
async function findObstacle(chain: Chain, from: Address, call: Call): Promise<string | null> {
  try {
    const simulation = await chain.simulate(from, call);
    return simulation.ok ? null : `it would revert now: ${simulation.reason}`;
  } catch (error) {
    const lacksGas = error instanceof OperatingError && error.code === "INSUFFICIENT_BALANCE";
    if (lacksGas) return "the refund authority has no coin for gas on this chain";
    throw error;
  }
}

function assertRefundable(settlement: Settlement): void {
  if (settlement.status !== "dead") assertFailing(settlement, "refund");
}
