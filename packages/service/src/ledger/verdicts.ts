/**
 * Verdicts of the auditor: every way in which rows, chain and time can part, with its cause and its remedy.
 * `docs/ledger.md` has a row for each; a test compares the two.
 */

/** Names of the invariants, defined in `docs/ledger.md`. */
export const INVARIANTS = ["V1", "V2", "V3", "V4", "V5", "V6", "V8", "V10", "V12"] as const;
export type Invariant = (typeof INVARIANTS)[number];

interface Facts {
  readonly invariant: Invariant;
  /**
   * The scope that stops: the token in one wallet, the chain, or nothing. The chain only where escrow, deliveries, lanes or
   * the books themselves are concerned, which a stranger cannot bring about; nothing where a proof is missing and no
   * difference is known.
   */
  readonly stops: "wallet" | "chain" | "nothing";
  /**
   * Whether claims go on. A claim pays the treasury for a payout that the attestors saw in a final block, so only a doubt
   * about final blocks or payouts stops it.
   */
  readonly claims: "go on" | "stop";
  readonly cause: string;
  readonly remedy: string;
}

export const VERDICTS = {
  wallet_short: {
    invariant: "V1",
    stops: "wallet",
    claims: "go on",
    cause:
      "the token lowered the balance, lies about it, or value left without a sweep or refund of ours",
    remedy:
      "find the transaction; ending it writes the difference off, unless the balance agrees again",
  },
  lock_missing: {
    invariant: "V2",
    stops: "chain",
    claims: "go on",
    cause: "the row has another fact than the lock, or the sweep was orphaned after it was final",
    remedy: "compare the row with the sweep's receipt; restore the database if the row was edited",
  },
  lock_differs: {
    invariant: "V2",
    stops: "chain",
    claims: "go on",
    cause: "the escrow holds another amount than the row",
    remedy: "compare the row with the sweep's receipt; check the token",
  },
  lock_lost: {
    invariant: "V2",
    stops: "chain",
    claims: "go on",
    cause:
      "a lock that inventory paid was returned or taken back: the claim came too late, or keys are stolen",
    remedy: "find out why the claim was late; ending it books the lock as the chain shows it",
  },
  lock_claimed_unpaid: {
    invariant: "V2",
    stops: "chain",
    claims: "stop",
    cause:
      "a lock was claimed without a payout: lane and attestor keys are stolen, or their nodes lie",
    remedy: "remove the keys, pay the recipient by hand, then end it",
  },
  posting_unbalanced: {
    invariant: "V3",
    stops: "chain",
    claims: "go on",
    cause: "the database was changed with its triggers off",
    remedy: "find who did it; restore the database or correct the lines",
  },
  sweep_unknown: {
    invariant: "V4",
    stops: "chain",
    claims: "go on",
    cause: "a lane key signed outside the service, or the database is older than the chain",
    remedy: "if no other service of yours uses the key, treat it as stolen; then end it",
  },
  sweep_unrecorded: {
    invariant: "V4",
    stops: "wallet",
    claims: "go on",
    cause: "the sweeps of a wallet took another amount than its settlements recorded",
    remedy:
      "compare the settlements with their sweeps; ending it writes the rest off that is still there",
  },
  payout_missing: {
    invariant: "V5",
    stops: "chain",
    claims: "stop",
    cause:
      "a lock was claimed, and the destination shows no payout: its nodes lied, or it was orphaned",
    remedy: "ask other nodes; pay the recipient by hand if it is so, then end it",
  },
  payout_differs: {
    invariant: "V5",
    stops: "chain",
    claims: "stop",
    cause:
      "the payout has another recipient, token or amount than the row, or less than the minimum",
    remedy: "compare the row with the payout; treat the keys as stolen unless the row is wrong",
  },
  payout_unproved: {
    invariant: "V5",
    stops: "nothing",
    claims: "go on",
    cause:
      "the contract made the payout, and for an hour no node shows its transaction: they keep no receipts that old",
    remedy:
      "add a node that keeps them, and the audit compares the payout; ending it leaves it unproved",
  },
  bridge_differs: {
    invariant: "V5",
    stops: "chain",
    claims: "go on",
    cause: "burn, swap or mint of a bridge transfer is missing or not as recorded",
    remedy: "compare the row with the burn and the mint on an explorer; ask other nodes",
  },
  sweep_differs: {
    invariant: "V6",
    stops: "chain",
    claims: "go on",
    cause: "a completed settlement recorded another amount than its final sweep took",
    remedy:
      "compare the settlement with the sweep's receipt; after a reorganisation, read the blocks again first",
  },
  flight_unfollowed: {
    invariant: "V8",
    stops: "chain",
    claims: "go on",
    cause: "a settlement ended while the ledger still has value of it in flight",
    remedy: "find the value with `sluice settlement show`; report the bug, then end it",
  },
  nonce_taken: {
    invariant: "V10",
    stops: "chain",
    claims: "go on",
    cause: "the database is an old backup, or another service or a thief has the lane's key",
    remedy: "stop the other one; ending it continues the lane from the chain's nonce",
  },
  final_block_replaced: {
    invariant: "V12",
    stops: "chain",
    claims: "stop",
    cause: "a block that was final has left the chain, or the node shows another fork",
    remedy:
      "ask other nodes; ending it lets the scanner go back to the fork and opens later transactions again",
  },
} as const satisfies Readonly<Record<string, Facts>>;

export type Verdict = keyof typeof VERDICTS;

/** Verdicts as a list; the order is that of the page. */
// CAST: the keys of the table.
export const VERDICT_NAMES = Object.keys(VERDICTS) as readonly Verdict[];

/** Returns whether a text is the name of a verdict. */
export function isVerdict(name: string): name is Verdict {
  return Object.hasOwn(VERDICTS, name);
}

/** Verdicts during which claims stop. */
export const CLAIMS_STOP: readonly Verdict[] = VERDICT_NAMES.filter(
  (name) => VERDICTS[name].claims === "stop",
);

/** Verdicts that stop nothing. */
export const STOP_NOTHING: readonly Verdict[] = VERDICT_NAMES.filter(
  (name) => VERDICTS[name].stops === "nothing",
);
