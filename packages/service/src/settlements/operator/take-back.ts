/**
 * Shows the next step by which a refund authority takes a lock back from the escrow. Only the authority can make it, so
 * nothing is changed or recorded; on Solana the signer returns locks, and there is no such step.
 */
import { assertDerived, type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Call, Chain, Lock, TakeBackStep } from "../../chains/port/index.ts";
import type { Db } from "../../db/schema.ts";
import { type Address, unpadAddress } from "../../core/hex.ts";
import { findNewestLock } from "../../routes/index.ts";
import { chainOf, type SettlementDeps } from "../deps.ts";
import type { Settlement } from "../types.ts";
import { findObstacle } from "./obstacle.ts";
import { getExisting, refusal } from "./request.ts";

/** The delays of the escrow, in seconds. */
const AFTER_LOCK_S = 72n * 3600n;
const AFTER_NOTICE_S = 24n * 3600n;

/** The next call of a refund authority. */
export interface TakeBackPlan {
  readonly settlementId: string;
  readonly chainId: number;
  readonly authority: Address;
  readonly step: TakeBackStep["kind"];
  readonly call: Call;
  /** The open lock; null when the announcement is cancelled. */
  readonly lock: {
    /** Locked base units. */
    readonly amount: bigint;
    /** Unix seconds from which it can be taken back; if it is not announced yet, when announced now. */
    readonly possibleFrom: bigint;
  } | null;
  /** Why the call would fail now; null when it would succeed. */
  readonly obstacle: string | null;
}

/**
 * Plans the next step for the open lock of a settlement: the announcement, or with a standing one the take-back. With
 * `cancels`, plans the end of the announcement, after which the deposit address locks again.
 * @throws OperatingError VALIDATION_ERROR with the reason when there is no step; RPC_UNAVAILABLE.
 */
export async function planTakeBack(
  deps: SettlementDeps,
  { id, cancels }: { readonly id: string; readonly cancels: boolean },
): Promise<TakeBackPlan> {
  const settlement = await getExisting(deps, id);
  const chain = chainOf(deps, settlement);
  const { wallets } = chain;
  if (wallets.kind === "vault") {
    throw refusal("On Solana the signer returns locks; there is nothing to take back.");
  }
  const address = await getAddressById(deps.db, settlement.addressId);
  assertDerived(chain, address);
  const announcedAt = await wallets.getAnnouncement(settlement.wallet, settlement.token);
  const { step, lock } = cancels
    ? planCancel(settlement, address, announcedAt)
    : await planNext({ db: deps.db, chain }, settlement, address, announcedAt);
  const nowS = BigInt(Math.floor(deps.clock.now() / 1000));
  const authority = unpadAddress(address.commitment.refundAuthority, address.family);
  const call = wallets.buildTakeBack(step);
  return {
    settlementId: id,
    chainId: settlement.chainId,
    authority,
    step: step.kind,
    call,
    lock: lock && { amount: lock.amount, possibleFrom: possibleFrom(lock, announcedAt ?? nowS) },
    obstacle: await findObstacle(chain, authority, call),
  };
}

interface Planned {
  readonly step: TakeBackStep;
  readonly lock: Lock | null;
}

function planCancel(
  { token }: Settlement,
  { commitment }: DepositAddress,
  announcedAt: bigint | null,
): Planned {
  if (announcedAt !== null) return { step: { kind: "cancel", commitment, token }, lock: null };
  throw refusal("No take-back of this deposit address and token is announced.");
}

async function planNext(
  { db, chain }: { readonly db: Db; readonly chain: Chain },
  { id, token }: Settlement,
  { commitment, commitmentHash }: DepositAddress,
  announcedAt: bigint | null,
): Promise<Planned> {
  const newest = await findNewestLock(db, { id, commitment: commitmentHash });
  if (newest?.deliveredTxHash) {
    throw refusal(
      `The deposit was delivered in ${newest.deliveredTxHash}: its lock is the operator's.`,
    );
  }
  const lock = newest && (await chain.getLock(newest.lock, "latest"));
  if (lock?.state !== "locked") throw refusal("The escrow holds no lock of this settlement.");
  return announcedAt === null
    ? { step: { kind: "announce", commitment, token }, lock }
    : { step: { kind: "take_back", commitment, lock }, lock };
}

function possibleFrom({ lockedAt }: Lock, announcedAt: bigint): bigint {
  const afterLock = lockedAt + AFTER_LOCK_S;
  const afterNotice = announcedAt + AFTER_NOTICE_S;
  return afterLock > afterNotice ? afterLock : afterNotice;
}
