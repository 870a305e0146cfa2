/**
 * Refunds by policy, on chains where wallets are contracts: the attestors sign, each by its own policy and readers, and a
 * relayer sends. The request is a row; a loop of the settler sends it once enough have signed. Nothing else has a state: a
 * request whose deadline passes unsent has lapsed, since the contract refuses its signatures from then on.
 *
 * Invariant: a refund is sent only while no settlement of the holding is active, and no sweep is planned until it is over.
 * A deposit that arrives after the request settles first; the request then lapses.
 */
import { type DepositAddress, listByWallets } from "../../addresses/index.ts";
import type { Chain, RefundProof } from "../../chains/port/index.ts";
import { allowsRefund, type RefundPolicies, refundPolicyOf } from "../../config/index.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import type { Db, Tx } from "../../db/schema.ts";
import { gateBalance, type Holding } from "../../deposits/index.ts";
import {
  getRefundAttestation,
  insertRefundAttestation,
  readStood,
  REFUND_LIFETIME_MAX_S,
} from "../../routes/index.ts";
import type { AttestorSet } from "../../signers/port.ts";
import { planCall, submitIntent } from "../../transactions/index.ts";
import { pairOf } from "../choose-route.ts";
import { chainOf, lanesOf, type SettlementDeps } from "../deps.ts";
import { lockHolding } from "../store/read.ts";
import {
  type AddressRefund,
  findLastRefund,
  findOpenRefund,
  insertRefund,
  listUnsentRefunds,
} from "./refunds.ts";
import { holdsNothing, refusal, refuseActive } from "./request.ts";

/** Dependencies of refunds by policy. */
export interface AttestedRefunds {
  /** The service's own copy of the policies: it asks for no refund that they forbid. */
  readonly policies: RefundPolicies;
  readonly attestors: AttestorSet;
  readonly wakeAttestor: () => void;
  /** Returns what the gas of a refund costs, in base units of the token; null while that cannot be priced. */
  readonly readCost: (refund: {
    readonly chainId: number;
    readonly token: Address;
    readonly deploys: boolean;
  }) => Promise<bigint | null>;
}

/** Below the contract's limit by more than the clocks differ, in seconds. */
const LIFETIME_S = REFUND_LIFETIME_MAX_S - 30n;
/** Least time left, in seconds, for a refund to be sent. */
const TIME_TO_MINE_S = 45n;
const REFUNDS_AT_ONCE = 50;

/** `details.reason` of the error about a refund that only the refund authority can make. */
export const BY_AUTHORITY = "by_authority";

/** State of a requested refund that no transaction carries. */
export type UnsentState =
  | { readonly kind: "asked" }
  | { readonly kind: "refused"; readonly refusal: string }
  | { readonly kind: "lapsed" };

/** Reads what became of a refund that was not sent; null for one that was. */
export async function readUnsent(
  deps: SettlementDeps,
  refund: AddressRefund,
  db: Db | Tx = deps.db,
): Promise<UnsentState | null> {
  const { attested } = refund;
  if (refund.state !== null || attested === null) return null;
  const answer = await readAnswer(deps, refund, db);
  if (answer?.refusal) return { kind: "refused", refusal: answer.refusal };
  return { kind: attested.deadline <= nowS(deps) ? "lapsed" : "asked" };
}

/**
 * Requests the refund of a deposit address. Returns the pending one if there is one, and the last one if the balance is
 * zero because it paid.
 * @throws OperatingError VALIDATION_ERROR with the reason when nothing can be refunded so.
 */
export async function requestAttestedRefund(
  deps: SettlementDeps,
  args: {
    readonly chain: Chain;
    readonly holding: Holding;
    readonly address: DepositAddress;
    readonly authority: Address;
    readonly request: { readonly operator: string; readonly reason: string };
  },
): Promise<{ readonly refund: AddressRefund; readonly changed: boolean }> {
  const { holding, chain } = args;
  const pending = await findPending(deps, holding);
  // One that is not sent yet lapses if the settlement of a later deposit takes the balance.
  if (!pending || pending.state === null) await refuseActive(deps.db, holding);
  if (pending) return { refund: pending, changed: false };
  const terms = await chooseTerms(deps, args);
  if (terms === null) {
    const last = await findLastRefund(deps.db, holding);
    if (last?.succeeded) return { refund: last, changed: false };
    throw holdsNothing();
  }
  const { commitment } = args.address;
  const deadline = nowS(deps) + LIFETIME_S;
  const proof: RefundProof = { commitment, token: holding.token, ...terms, deadline };
  const changed = await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, holding);
    await refuseActive(tx, holding);
    if (await findPending(deps, holding, tx)) return false;
    const { commitmentHash } = args.address;
    const srcChain = chain.chainId;
    const attestationId = await insertRefundAttestation(tx, { srcChain, commitmentHash, proof });
    await insertRefund(tx, {
      ...holding,
      ...args.request,
      id: deps.random.uuid(),
      addressId: args.address.id,
      atMs: deps.clock.now(),
      amount: proof.maxAmount,
      authority: args.authority,
      attested: { reason: proof.reason, deadline, attestationId },
    });
    return true;
  });
  deps.attestedRefunds?.wakeAttestor();
  const refund = await findLastRefund(deps.db, holding);
  assert(refund, "the refund was just recorded");
  return { refund, changed };
}

/** Returns the refund of a holding that may still be sent or mined. Refuses one that was requested by a settlement. */
async function findPending(
  deps: SettlementDeps,
  holding: Holding,
  db: Db | Tx = deps.db,
): Promise<AddressRefund | null> {
  const open = await findOpenRefund(db, holding);
  const last = await findLastRefund(db, holding);
  if (open && last?.intent !== open) {
    throw refusal(`The refund ${open} of a settlement is pending and takes this balance.`);
  }
  if (!last || open) return last;
  const unsent = await readUnsent(deps, last, db);
  return unsent?.kind === "asked" ? last : null;
}

/** Returns the reason and amount to ask for; null for an empty address. Throws VALIDATION_ERROR if the policies allow nothing. */
async function chooseTerms(
  deps: SettlementDeps,
  { chain, holding, address }: Parameters<typeof requestAttestedRefund>[1],
): Promise<{ readonly reason: RefundReason; readonly maxAmount: bigint } | null> {
  const { token, wallet } = holding;
  const final = await chain.findBalance(token, wallet, "final");
  if (!final) return null;
  const { refundAuthority } = address.commitment;
  const policy = deps.attestedRefunds
    ? refundPolicyOf(deps.attestedRefunds.policies, refundAuthority)
    : null;
  const [fits, ...others] = await listReasons(deps, { holding, address, balance: final });
  const reason = [fits, ...others].find((one) => one && policy && allowsRefund(policy, one));
  if (!reason || !policy) {
    throw byTheAuthority(`\`refunds\` of the configuration allows no refund that is ${fits}`);
  }
  const afterS = { dead: policy.deadAfterS, expired: policy.expiredAfterS };
  if (reason !== "dead" && reason !== "expired") return { reason, maxAmount: final };
  const stood = await readStood(chain, { token, wallet, afterS: afterS[reason] ?? 0n });
  if (typeof stood === "bigint") return { reason, maxAmount: stood };
  throw byTheAuthority(
    `\`refunds\` allows it as ${reason} only after ${afterS[reason]} seconds without a settlement or refund (${stood})`,
  );
}

/** Lists the reasons that fit a balance, by the service's own facts; the attestors decide by theirs. */
async function listReasons(
  deps: SettlementDeps,
  facts: {
    readonly holding: Holding;
    readonly address: DepositAddress;
    readonly balance: bigint;
  },
): Promise<readonly RefundReason[]> {
  const { holding, address, balance } = facts;
  const { chainId, token } = holding;
  if (deps.routes.list(pairOf(holding, address)).length === 0) return ["unlisted", "expired"];
  const gate = gateBalance(balance, await deps.readMinimums(chainId, token));
  return [gate.kind === "ignore" ? "below_minimum" : "dead", "expired"];
}

/** Sends the refunds of a chain that enough attestors have signed. */
export async function pollAttestedRefunds(deps: SettlementDeps, chainId: number): Promise<void> {
  const due = await listUnsentRefunds(deps.db, {
    chainId,
    deadlineMin: nowS(deps) + TIME_TO_MINE_S,
    limit: REFUNDS_AT_ONCE,
  });
  for (const refund of due) {
    try {
      await sendSigned(deps, refund);
    } catch (error) {
      deps.log.warn({ err: error, refund: refund.intent }, "refund not sent, retrying");
    }
  }
}

async function sendSigned(deps: SettlementDeps, refund: AddressRefund): Promise<void> {
  const chain = chainOf(deps, refund);
  const answer = await readAnswer(deps, refund);
  if (!answer?.signatures || chain.wallets.kind !== "contract") return;
  const proof = await readProof(deps.db, refund);
  assert(proof, "what attestors signed has a proof");
  const call = chain.wallets.buildAttestedRefund(proof, answer.signatures);
  const { settle: lanes } = lanesOf(deps, refund);
  const plan = await planCall({ db: deps.db, chain }, { lanes, call, what: "The refund" });
  const { chainId, intent } = refund;
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, refund);
    // The balance is the settlement's; the request lapses unless it ends before.
    await refuseActive(tx, refund);
    await submitIntent(tx, deps.random, { chainId, settlementId: null, intent, call, ...plan });
  });
  deps.wakeLanes(chainId);
}

async function readAnswer(deps: SettlementDeps, refund: AddressRefund, db: Db | Tx = deps.db) {
  const { attested, chainId: srcChain } = refund;
  const proof = await readProof(db, refund);
  if (!deps.attestedRefunds || !proof || !attested) return null;
  const { attestors } = deps.attestedRefunds;
  return getRefundAttestation(db, attestors, attested.attestationId, { srcChain, proof });
}

async function readProof(
  db: Db | Tx,
  { wallet, token, amount: maxAmount, attested }: AddressRefund,
): Promise<RefundProof | null> {
  const address = (await listByWallets(db, [wallet])).get(wallet);
  if (!attested || !address) return null;
  const { reason, deadline } = attested;
  return { commitment: address.commitment, token, maxAmount, reason, deadline };
}

function byTheAuthority(why: string) {
  return new OperatingError(
    "VALIDATION_ERROR",
    `The service may not refund this: ${why}. The refund authority can take it by itself: run \`sluice addresses export\`, then \`sluice rescue FILE --token TOKEN\`, which prints its transaction.`,
    { details: { reason: BY_AUTHORITY } },
  );
}

function nowS({ clock }: Pick<SettlementDeps, "clock">): bigint {
  return BigInt(Math.floor(clock.now() / 1_000));
}
