/**
 * Refunds a balance that no settlement takes: deposits below the minimum, or without a route.
 *
 * Where the signer alone can move a wallet's funds, an order names the commitment, and the signer pays only the authority
 * in it, for any request. Elsewhere the attestors sign the refund, if it is one of their policy
 * (`attested-refund.ts`).
 *
 * Invariant: a holding has at most one open refund, and none beside a settlement that may sweep it. A refund is queued
 * under the lock of the holding while no settlement is active; a later settlement plans no sweep until the refund is
 * over. The database enforces both as well.
 *
 * Idempotent: an open refund is returned, not queued twice, so an interrupted command can be repeated.
 */
import { requestAttestedRefund } from "./attested-refund.ts";
import { assertAuthority, holdsNothing, refusal, refuseActive } from "./request.ts";
import { assertDerived, type DepositAddress, listByWallets } from "../../addresses/index.ts";
import type { Chain, VaultWallets } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import type { Address } from "../../core/hex.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { submitIntent } from "../../transactions/index.ts";
import type { SettlementDeps } from "../deps.ts";
import { planRefund } from "./plan-refund.ts";
import {
  type AddressRefund,
  countRefunds,
  findLastRefund,
  findOpenRefund,
  insertRefund,
} from "./refunds.ts";
import { countSettlements, lockHolding } from "../store/read.ts";
import type { Holding } from "../../deposits/index.ts";

export interface RefundRequest extends Holding {
  /** Must be the refund authority of the address; the operator states it as a confirmation. */
  readonly to: Address;
  readonly operator: string;
  readonly reason: string;
  /** Refuses a refund that no policy allows also where the signer pays the authority at any request. */
  readonly needsReason?: true;
}

export interface RefundedAddress {
  readonly refund: AddressRefund;
  /** False when the refund was requested before; nothing was changed or recorded then. */
  readonly changed: boolean;
}

/**
 * Queues the refund of a deposit address's whole balance of a token. Returns the open refund when there is one, and the
 * last refund when the balance is zero because it paid.
 * @throws OperatingError VALIDATION_ERROR with the reason when nothing can be refunded, and as `planCall` does when the
 *   order would fail now. Nothing is changed then.
 */
export async function refundAddress(
  deps: SettlementDeps,
  request: RefundRequest,
): Promise<RefundedAddress> {
  const { chainId, wallet, token } = request;
  const holding: Holding = { chainId, wallet, token };
  const chain = deps.chains.get(chainId);
  assert(chain, "the caller names a configured chain");
  const { wallets } = chain;
  const address = (await listByWallets(deps.db, [wallet])).get(wallet);
  if (!address) throw refusal(`There is no deposit address ${deps.displayAddress(wallet)}.`);
  assertDerived(chain, address);
  const authority = assertAuthority(deps, address, request.to);
  if (wallets.kind === "contract") {
    return requestAttestedRefund(deps, { chain, holding, address, authority, request });
  }
  let result: RefundedAddress | "again";
  do {
    result = await tryRefund(deps, { chain, wallets, holding, address, authority, request });
  } while (result === "again");
  if (result.changed) deps.wakeLanes(chainId);
  return result;
}

interface RefundContext {
  readonly chain: Chain;
  readonly wallets: VaultWallets;
  readonly holding: Holding;
  readonly address: DepositAddress;
  readonly authority: Address;
  readonly request: RefundRequest;
}

async function tryRefund(
  deps: SettlementDeps,
  { chain, wallets, holding, address, authority, request }: RefundContext,
): Promise<RefundedAddress | "again"> {
  const { db, random } = deps;
  // Counted first: a settlement or refund that begins later is found below or changes the count.
  const before = await countAll(db, holding);
  const open = await findOpenRefund(db, holding);
  if (open) return readOpen(deps, holding, open);
  await refuseActive(db, holding);
  const held = await chain.readHolding(holding.token, holding.wallet);
  if (held.amount === 0n) return readLast(deps, holding);
  const { order, taken } = await planRefund(deps, {
    chain,
    wallets,
    holding,
    address,
    held,
    needsReason: request.needsReason ?? false,
  });
  const queued = await db.transaction().execute(async (tx) => {
    await lockHolding(tx, holding);
    await refuseActive(tx, holding);
    if (await findOpenRefund(tx, holding)) return false;
    // A settlement or refund began and ended since: the balance that was read may be taken already.
    if ((await countAll(tx, holding)) !== before) return false;
    const { amount } = taken;
    const { operator, reason } = request;
    const id = random.uuid();
    const attested = null;
    const by = { authority, operator, reason };
    const of = { id, addressId: address.id, atMs: deps.clock.now() };
    const refund = { ...holding, ...by, ...of, amount, attested };
    const intent = await insertRefund(tx, refund);
    const { chainId } = holding;
    await submitIntent(tx, random, { chainId, settlementId: null, intent, ...order });
    return true;
  });
  if (!queued) return "again";
  const refund = await findLastRefund(db, holding);
  assert(refund, "the refund was just recorded");
  return { refund, changed: true };
}

/** Returns the open refund of an address. Refuses a refund that was requested by a settlement's id. */
async function readOpen(
  { db }: SettlementDeps,
  holding: Holding,
  open: string,
): Promise<RefundedAddress | "again"> {
  const refund = await findLastRefund(db, holding);
  if (refund?.intent === open) return { refund, changed: false };
  throw refusal(`The refund ${open} of a settlement is pending and takes this balance.`);
}

async function readLast({ db }: SettlementDeps, holding: Holding): Promise<RefundedAddress> {
  const refund = await findLastRefund(db, holding);
  if (refund?.succeeded) return { refund, changed: false };
  throw holdsNothing();
}

async function countAll(db: Db | Tx, holding: Holding): Promise<bigint> {
  return (await countSettlements(db, holding)) + (await countRefunds(db, holding));
}
