/**
 * Worker of the bridge: requests the attestation of each burn, relays the message on the destination, and follows the mint
 * until it is final.
 *
 * The attestation service is not trusted: a message is relayed only if every emitted field equals the burn's. Anybody may
 * relay a message, so every poll checks the chain first. A mint relayed by somebody else counts like our own and is not
 * repeated, because a nonce mints once. A delivery is recorded only when the service's own reader sees the mint to the
 * committed wallet.
 */
import { getConfigured } from "../configured.ts";
import { isConfirmed } from "../confirmed.ts";
import type { ErrorObject } from "@sluice/sdk/wire";
import type { Chain, Chains, FoundMint } from "../../chains/port/index.ts";
import { assert, assertNever } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { ATTESTATION_RETRY_MAX_MS, REATTEST_AFTER_MS, errorDelay } from "../../jobs/delays.ts";
import { createDuePoll, workAndRecordError } from "../../jobs/due.ts";
import type { Log } from "../../telemetry/log.ts";
import { inSpan } from "../../telemetry/spans.ts";
import {
  type CallPlan,
  failureOf,
  getByIntent,
  isSweepUndone,
  type IntentName,
  planCall,
  submitIntent,
} from "../../transactions/index.ts";
import { bridgeOf } from "./burns.ts";
import type { Delivered } from "../module.ts";
import type { BridgeAttestations, AttestedMessage } from "./bridge-attestations.ts";
import { type BurnMessage, findUnacceptable, parseBurnMessage } from "./message.ts";
import * as store from "./store.ts";
import type { Attested, Transfer } from "./store.ts";

export interface RelayDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly attestations: BridgeAttestations;
  /** Lanes that relay messages, by destination chain. */
  readonly lanes: ReadonlyMap<number, readonly Address[]>;
  readonly deliveryConfirmations: ReadonlyMap<number, number>;
  /** Wakes the settlement, in the transaction that records an error. */
  readonly onChanged: (tx: Tx, settlementId: string) => Promise<void>;
  /** Wakes the settlement, or corrects its completed record, in the transaction that records the mint. */
  readonly onDelivered: (tx: Tx, delivered: Delivered) => Promise<void>;
  /** Called after that transaction commits. */
  readonly wakeSettlements: (chainId: number) => void;
  /** Tells the lanes of a chain that a transaction is queued. */
  readonly wakeLanes: (chainId: number, lane: Address) => void;
  readonly pollMs: number;
}

const TRANSFERS_AT_ONCE = 10;
/** Age from which a burn that is not attested is looked for among the sweeps that reverted after a reorg. */
const VOID_AFTER_MS = 300_000;
/** Blocks before expiry from which a message is no longer relayed, because it would be mined too late. */
const EXPIRY_MARGIN_BLOCKS = 2n;

/** Creates the poll of the due transfers to a chain. It returns true if there may be more. */
export function createTransfersPoll(deps: RelayDeps, destChain: number): () => Promise<boolean> {
  return createDuePoll(deps, {
    rows: store.dueTransfers,
    chainId: destChain,
    limit: TRANSFERS_AT_ONCE,
    work: (id) => lookSafely(deps, id),
  });
}

function lookSafely(deps: RelayDeps, id: string): Promise<void> {
  const { db, clock, log } = deps;
  return workAndRecordError({
    read: () => store.getBridgeTransfer(db, id),
    work: (transfer) => {
      const { settlementId, destChain: chainId } = transfer.burn;
      const subject = { settlementId, chainId, transferId: id, state: transfer.state };
      return inSpan("bridge transfer", subject, () => advanceTransfer(deps, transfer));
    },
    writeError: (transfer, error) => writeError(deps, transfer, error),
    showsErrors: ({ state }) => state === "burned" || state === "attested",
    report: (thrown, { code }) =>
      log.warn({ err: thrown, transferId: id, code }, "bridge transfer failed, retrying"),
    retryLater({ createdAtMs }) {
      const nowMs = clock.now();
      return store.dueTransfers.reschedule(db, id, nowMs + errorDelay(nowMs - createdAtMs));
    },
  });
}

async function advanceTransfer(deps: RelayDeps, transfer: Transfer): Promise<void> {
  switch (transfer.state) {
    case "burned":
      return advanceBurned(deps, transfer);
    case "attested":
      return advanceAttested(deps, transfer);
    case "delivered":
      return advanceDelivered(deps, transfer);
    case "final":
    case "superseded":
      return;
    default:
      return assertNever(transfer.state);
  }
}

async function advanceBurned(deps: RelayDeps, transfer: Transfer): Promise<void> {
  const { burn } = transfer;
  const sent = parseBurnMessage(burn.message);
  const messages = await deps.attestations.getMessages(sent.sourceDomain, burn.txHash);
  const attested = findOurs(sent, messages);
  if (!attested) return waitForAttestation(deps, transfer, messages);
  if (transfer.nonce !== null && transfer.nonce !== attested.nonce) {
    throw new OperatingError(
      "INTERNAL",
      "Circle's attestation service returned a different nonce for the same burn.",
      {
        details: { reason: "attestation", before: transfer.nonce, now: attested.nonce },
      },
    );
  }
  const isExpired = await hasRunOut(deps, burn.destChain, attested);
  if (isExpired && (await findMint(deps, transfer, attested)) === null) {
    return requestReattestation(deps, transfer, attested);
  }
  const change = { state: "attested", attested, delayReason: null } as const;
  if (!(await store.updateTransfer(deps.db, transfer, change))) return;
  deps.log.info({ transferId: transfer.id, nonce: attested.nonce }, "burn attested");
  return pollNow(deps, transfer);
}

/**
 * Finds the attested message of a burn among those of its transaction; null until it is attested.
 * @throws OperatingError INTERNAL if a message claims to be this burn's but differs: nothing is relayed then.
 */
function findOurs(sent: BurnMessage, messages: readonly AttestedMessage[]): Attested | null {
  const unlike = new Set<string>();
  let isOneWaiting = false;
  for (const { attested } of messages) {
    if (!attested) {
      isOneWaiting = true;
      continue;
    }
    const message = parseAttested(attested.message);
    const differences = message ? findUnacceptable(sent, message) : ["all"];
    if (message && differences.length === 0) return { ...attested, nonce: message.nonce };
    const isOfAnother = message !== null && message.hookData !== sent.hookData;
    if (!isOfAnother) for (const field of differences) unlike.add(field);
  }
  if (messages.length === 0 || (isOneWaiting && unlike.size === 0)) return null;
  throw new OperatingError("INTERNAL", "The attested message differs from the burn.", {
    details: { reason: "attestation", differs: [...unlike].join(", ") || "hookData" },
  });
}

function parseAttested(bytes: string): BurnMessage | null {
  try {
    return parseBurnMessage(bytes);
  } catch {
    // Another contract's message in the same transaction, or malformed: not a burn in either case.
    return null;
  }
}

async function waitForAttestation(
  deps: RelayDeps,
  transfer: Transfer,
  messages: readonly AttestedMessage[],
): Promise<void> {
  // With several messages it is unknown which one is delayed.
  const [only] = messages;
  const delayReason = messages.length === 1 ? (only?.delayReason ?? null) : transfer.delayReason;
  if (delayReason !== transfer.delayReason) {
    await store.updateTransfer(deps.db, transfer, { delayReason });
    deps.log.info({ transferId: transfer.id, delayReason }, "bridge attestation delayed");
  }
  const nowMs = deps.clock.now();
  const isOld = nowMs - transfer.createdAtMs > VOID_AFTER_MS;
  if (isOld && messages.length === 0 && (await isSweepUndone(deps.db, transfer.burn))) {
    await store.updateTransfer(deps.db, transfer, { state: "superseded" });
    return deps.log.warn(
      { transferId: transfer.id },
      "reorg: nothing was burned, the sweep was undone",
    );
  }
  const waitMs = Math.min((nowMs - transfer.createdAtMs) / 8, ATTESTATION_RETRY_MAX_MS);
  return pollAfter(deps, transfer, Math.max(Math.floor(waitMs), deps.pollMs));
}

/** Requests a new attestation for an expired message, under the same nonce with a later expiry or as final. */
async function requestReattestation(
  deps: RelayDeps,
  transfer: Transfer,
  attested: Attested,
): Promise<void> {
  const nowMs = deps.clock.now();
  const askedMs = transfer.reattestedAtMs;
  if (askedMs === null || nowMs - askedMs >= REATTEST_AFTER_MS) {
    const change = { reattests: transfer.reattests + 1, reattestedAtMs: nowMs };
    if (!(await store.updateTransfer(deps.db, transfer, change))) return;
    deps.log.warn({ transferId: transfer.id }, "bridge attestation expired, requesting another");
    await deps.attestations.reattest(attested.nonce);
  }
  return poll(deps, transfer);
}

async function advanceAttested(deps: RelayDeps, transfer: Transfer): Promise<void> {
  const attested = attestedOf(transfer);
  const found = await findMint(deps, transfer, attested);
  if (found) return recordMint(deps, transfer, found);

  const { destChain } = transfer.burn;
  if (await hasRunOut(deps, destChain, attested)) {
    if (!(await store.updateTransfer(deps.db, transfer, { state: "burned" }))) return;
    return pollNow(deps, transfer);
  }
  if (transfer.relays > 0) {
    const sent = await getByIntent(deps.db, intentOf(transfer, transfer.relays));
    assert(sent, "a relay that was counted has an intent");
    // The node does not show the mint yet, or its block was orphaned: the lane rebroadcasts.
    const failure = failureOf(sent);
    if (!failure) return poll(deps, transfer);
    const { txHash } = failure;
    deps.log.warn({ transferId: transfer.id, txHash }, "relay reverted, planning another");
  }
  return planRelay(deps, transfer, attested);
}

/** Queues the relay of a message, in the transaction that counts it. */
async function planRelay(deps: RelayDeps, transfer: Transfer, attested: Attested): Promise<void> {
  const { destChain, settlementId } = transfer.burn;
  const chain = chainOf(deps, destChain);
  const call = bridgeOf(chain).buildReceive(attested.message, attested.attestation);
  let planned: CallPlan;
  try {
    const lanes = lanesOf(deps, destChain);
    planned = await planCall({ db: deps.db, chain }, { lanes, call, what: "The mint" });
  } catch (error) {
    // The message may have been relayed since the last check.
    const found = await findMint(deps, transfer, attested);
    if (found) return recordMint(deps, transfer, found);
    throw error;
  }
  const { lane, gas } = planned;
  const relays = transfer.relays + 1;
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateTransfer(tx, transfer, { relays }))) return;
    const intent = intentOf(transfer, relays);
    const { chainId } = chain;
    await submitIntent(tx, deps.random, { chainId, lane, intent, settlementId, call, gas });
  });
  deps.wakeLanes(chain.chainId, lane);
  return poll(deps, transfer);
}

/** Records a mint that the service's own reader saw, once it has the configured confirmations. */
async function recordMint(deps: RelayDeps, transfer: Transfer, found: FoundMint): Promise<void> {
  const { burn } = transfer;
  const isPromised =
    found.to === burn.destWallet && found.token === burn.destToken && found.amount >= burn.minOut;
  if (!isPromised) {
    throw new OperatingError("INTERNAL", "The mint differs from the commitment.", {
      details: { reason: "mint", txHash: found.txHash },
    });
  }
  const confirmations = deps.deliveryConfirmations.get(burn.destChain) ?? 1;
  if (!(await isConfirmed(chainOf(deps, burn.destChain), found, confirmations)))
    return poll(deps, transfer);
  const { txHash, amount, fee } = found;
  await deps.db.transaction().execute(async (tx) => {
    const change = { state: "delivered", mint: { txHash, amount, fee }, error: null } as const;
    if (!(await store.updateTransfer(tx, transfer, change))) return;
    const { settlementId } = burn;
    await deps.onDelivered(tx, { settlementId, deliveryId: null, txHash, amount });
  });
  deps.wakeSettlements(burn.srcChain);
  deps.log.info({ transferId: transfer.id, txHash }, "bridge transfer delivered");
  return poll(deps, transfer);
}

async function advanceDelivered(deps: RelayDeps, transfer: Transfer): Promise<void> {
  const { mint } = transfer;
  assert(mint !== null, "a delivered transfer has a mint");
  const attested = attestedOf(transfer);
  const found = await findMint(deps, transfer, attested);
  if (found?.txHash !== mint.txHash || found.amount !== mint.amount || found.fee !== mint.fee) {
    // The mint's block was orphaned: the lane rebroadcasts, and the mint is looked up again.
    deps.log.warn({ transferId: transfer.id }, "reorg: mint orphaned");
    if (!(await store.updateTransfer(deps.db, transfer, { state: "attested", mint: null }))) return;
    return poll(deps, transfer);
  }
  const { destChain } = transfer.burn;
  const cctp = bridgeOf(chainOf(deps, destChain));
  if ((await cctp.findMint(attested.nonce, "final")) === null) return poll(deps, transfer);
  await store.updateTransfer(deps.db, transfer, { state: "final" });
}

/** Finds the mint of a message at the newest block, relayed by anybody. */
function findMint(
  deps: RelayDeps,
  { burn }: Transfer,
  { nonce }: Pick<Attested, "nonce">,
): Promise<FoundMint | null> {
  return bridgeOf(chainOf(deps, burn.destChain)).findMint(nonce);
}

async function hasRunOut(
  deps: RelayDeps,
  destChain: number,
  { message }: Attested,
): Promise<boolean> {
  const { expirationBlock } = parseBurnMessage(message);
  if (expirationBlock === 0n) return false;
  // The contract compares it with its own `block.number`, which on Arbitrum counts the blocks of layer 1.
  const height = await bridgeOf(chainOf(deps, destChain)).readContractHeight();
  return height + EXPIRY_MARGIN_BLOCKS >= expirationBlock;
}

async function writeError(
  deps: RelayDeps,
  transfer: Transfer,
  error: ErrorObject | null,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateTransfer(tx, transfer, { error }))) return;
    await deps.onChanged(tx, transfer.burn.settlementId);
  });
}

function intentOf({ id }: Transfer, relays: number): IntentName {
  return `mint:${id}:${relays}`;
}

function attestedOf({ attested }: Transfer): Attested {
  assert(attested !== null, "an attested transfer has a message");
  return attested;
}

function poll(deps: RelayDeps, transfer: Transfer): Promise<void> {
  return pollAfter(deps, transfer, deps.pollMs);
}

async function pollNow({ db, clock }: RelayDeps, { id }: Transfer): Promise<void> {
  await store.dueTransfers.wake(db, "id", [id], clock.now());
}

/** Schedules the next poll of a transfer, unless it was woken meanwhile. */
function pollAfter(
  { db, clock }: RelayDeps,
  { id, nextCheckAt: seen }: Transfer,
  delayMs: number,
): Promise<void> {
  const times = { atMs: clock.now() + delayMs, seen };
  return store.dueTransfers.rescheduleUnlessChanged(db, id, times);
}

function chainOf({ chains }: RelayDeps, chainId: number): Chain {
  return getConfigured(
    chains,
    chainId,
    "The destination chain of a bridge transfer is not configured.",
  );
}

function lanesOf({ lanes }: RelayDeps, chainId: number): readonly Address[] {
  return getConfigured(lanes, chainId, "The destination chain of a bridge transfer has no lanes.");
}
