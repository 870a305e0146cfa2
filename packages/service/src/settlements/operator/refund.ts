/**
 * Ends a settlement for a refund at an operator's request, through the lifecycle, so that no worker sweeps it. On EVM
 * chains only the committed refund authority can make the call, so a refund returns that call. On Solana only the signer
 * can move a vault's funds, so a refund queues the order that pays the authority. Locks and idempotency are those of
 * `retry.ts`.
 */
import { assertDerived, type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Call, Chain, ContractWallets, VaultWallets } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import type { Address } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { getByIntent, type IntentName, isOver, submitIntent } from "../../transactions/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import { watchForRefund } from "../store/dead.ts";
import { getActive, getError, lockHolding, lockSettlement } from "../store/read.ts";
import { transition } from "../store/transition.ts";
import type { Settlement } from "../types.ts";
import { listActions, recordAction } from "./actions.ts";
import { findObstacle } from "./obstacle.ts";
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
  /** The refund authority of the address, the only possible recipient. */
  readonly authority: Address;
  readonly chainId: number;
  /** Balance of the deposit address, in base units. */
  readonly balance: bigint;
  /** False when the refund was requested before; nothing was changed or recorded then. */
  readonly changed: boolean;
}

/** A refund that the authority makes itself, by a call that nobody else can make. */
export interface RefundByCall extends RefundFacts {
  readonly kind: "call";
  readonly call: Call;
  /** Why the call would fail now, such as a paused token; null when it would succeed. */
  readonly obstacle: string | null;
}

/** A refund that the signer pays; the authority does nothing. */
export interface RefundByOrder extends RefundFacts {
  readonly kind: "order";
  /** The intent to watch. */
  readonly intent: IntentName;
}

export type RefundResult = RefundByCall | RefundByOrder;

/**
 * Refunds a failing settlement, which ends by it, or a dead one. Returns the call that its refund authority has to make;
 * on Solana, queues and returns the order that pays it. A final block with the refund is recorded in the settlement. A
 * failed order can be requested again.
 * @throws OperatingError VALIDATION_ERROR with the reason when nothing can be refunded; on Solana, as `planCall` does
 *   when the order would fail now. Nothing is changed then.
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
  const authorized = { ...request, authority };
  const { wallets } = chain;
  const context = { chain, settlement, address, request: authorized };
  return wallets.kind === "vault"
    ? refundByOrder(deps, wallets, context)
    : refundByCall(deps, wallets, context);
}

interface RefundContext {
  readonly chain: Chain;
  readonly settlement: Settlement;
  readonly address: DepositAddress;
  readonly request: OperatorRequest & { readonly authority: Address };
}

async function refundByCall(
  deps: SettlementDeps,
  wallets: ContractWallets,
  { chain, settlement, address, request }: RefundContext,
): Promise<RefundByCall> {
  const { authority } = request;
  const balance = (await chain.findBalance(settlement.token, settlement.wallet)) ?? 0n;
  if (balance === 0n) throw holdsNothing();
  const call = wallets.buildRefund(address.commitment, settlement.token);
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
  wallets: VaultWallets,
  { chain, settlement, address, request }: RefundContext,
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
  // Checked before the balance: an open refund may have taken it already.
  const { open } = await readRefunds(deps.db, settlementId);
  if (open) return result(open, false);
  if (held.amount === 0n) throw holdsNothing();
  const { order } = await planRefund(deps, { chain, wallets, holding: settlement, address, held });
  const { intent, changed } = await deps.db.transaction().execute(async (tx) => {
    const locked = await lockRefundable(tx, settlement);
    const refunds = await readRefunds(tx, settlementId);
    if (refunds.open) return { intent: refunds.open, changed: false };
    const rival = await findOpenRefund(tx, locked);
    if (rival) throw refusal(`The refund ${rival} takes the balance of the deposit address.`);
    await endForRefund(tx, deps, locked, request);
    await submitIntent(tx, deps.random, { chainId, settlementId, intent: refunds.next, ...order });
    return { intent: refunds.next, changed: true };
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeLanes(chainId);
  return result(intent, changed);
}

/** Returns a settlement's refund that may still be mined, and the intent name of the next one. */
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

/** Locks a refundable settlement. Refuses it while another settlement of its holding is active. */
async function lockRefundable(tx: Tx, settlement: Settlement): Promise<Settlement> {
  await lockHolding(tx, settlement);
  const locked = await lockSettlement(tx, settlement.id);
  assertRefundable(locked);
  const active = await getActive(tx, locked);
  if (active && active.id !== locked.id) {
    throw refusal(`Settlement ${active.id} is settling the balance of the deposit address.`);
  }
  return locked;
}

async function endForRefund(
  tx: Tx,
  deps: SettlementDeps,
  locked: Settlement,
  { authority: refundTo, operator, reason }: RefundContext["request"],
): Promise<void> {
  await recordAction(tx, locked, { action: "refund", operator, reason, refundTo });
  if (locked.status === "dead") return watchForRefund(tx, locked.id, deps.clock.now());
  const error = await getError(tx, locked.id);
  assert(error !== null, "a failing settlement has an error");
  const moved = await transition(tx, deps, locked, {
    trigger: "given_up",
    error: { ...error, retryable: false },
    change: { step: "done", retryAtMs: null, nextCheckAtMs: deps.clock.now() },
  });
  assert(moved, "a locked settlement cannot change");
}

function assertRefundable(settlement: Settlement): void {
  if (settlement.status !== "dead") assertFailing(settlement, "refund");
}
