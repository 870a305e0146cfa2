/**
 * Decides whether an attestor signs a refund, or the signer of vaults pays one for a reason. It relies on nothing that the settler says: the wallet follows from the
 * commitment, the balance from final blocks of its own nodes, minimums, pairs and the policy from its own configuration.
 *
 * Invariant: no refund is signed for more than the balance for which its reason was seen.
 */
import { allowsRefund, type RefundPolicies, refundPolicyOf } from "../../config/index.ts";
import type { Chain, RefundProof } from "../../chains/port/index.ts";
import { assertNever } from "../../core/assert.ts";
import { type Address, isNative, padAddress } from "../../core/hex.ts";
import type { Pair } from "../port.ts";

/** Longest lifetime of a refund that the contract accepts, in seconds. */
export const REFUND_LIFETIME_MAX_S = 600n;

/** The attestor's own terms of refunds. */
export interface RefundTerms {
  readonly policies: RefundPolicies;
  /** Returns whether a balance is below the token's minimum; false while that cannot be known. */
  isBelowMinimum(chainId: number, token: Address, balance: bigint): Promise<boolean>;
}

/** One word for a refusal; "wait" while the final block of the attestor is too old. */
export type RefundVerdict =
  | { readonly kind: "sign" }
  | { readonly kind: "wait" }
  | { readonly kind: "refuse"; readonly reason: string };

/** A signer's own view of one chain. */
interface Judged {
  readonly chain: Chain;
  readonly pairs: readonly Pair[];
  readonly terms: RefundTerms;
}

/** A refund of a wallet that follows from the commitment. */
export type ReasonedRefund = Omit<RefundProof, "deadline"> & { readonly wallet: Address };

/** Returns whether the attestor signs a refund of a wallet on a chain. */
export async function judgeRefundProof(
  given: Judged & { readonly nowS: bigint },
  { deadline, ...refund }: RefundProof,
): Promise<RefundVerdict> {
  const { chain, nowS } = given;
  // On Solana no contract takes the signatures: the signer of the vaults judges by itself.
  if (chain.wallets.kind !== "contract") return refuse("unknown_chain");
  if (deadline > nowS + REFUND_LIFETIME_MAX_S) return refuse("deadline_too_late");
  return judgeRefundReason(given, { ...refund, wallet: chain.predictWallet(refund.commitment) });
}

/** Returns whether policy, final balance and chain show the reason of a refund. On Solana the signer of the vaults asks. */
export async function judgeRefundReason(
  given: Judged,
  refund: ReasonedRefund,
): Promise<RefundVerdict> {
  const { chain, terms } = given;
  const { commitment, wallet, token, maxAmount, reason } = refund;
  if (!allowsRefund(refundPolicyOf(terms.policies, commitment.refundAuthority), reason)) {
    return refuse("not_allowed");
  }
  if (maxAmount === 0n) return refuse("no_amount");
  const final = await readFinal(chain, token, wallet);
  if (final === null) return refuse("no_balance");
  // The settler's nodes may be ahead.
  if (maxAmount > final) return { kind: "wait" };
  return judgeReason(given, { ...refund, final });
}

function readFinal(chain: Chain, token: Address, wallet: Address): Promise<bigint | null> {
  // On Solana the level of `findBalance` is a setting.
  return chain.wallets.kind === "vault"
    ? chain.getBalance(token, wallet)
    : chain.findBalance(token, wallet, "final");
}

type Seen = ReasonedRefund & { readonly final: bigint };

async function judgeReason({ chain, pairs, terms }: Judged, seen: Seen): Promise<RefundVerdict> {
  const { commitment, token, wallet, reason } = seen;
  const policy = refundPolicyOf(terms.policies, commitment.refundAuthority);
  const isListed = pairs.some(
    (pair) =>
      pair.srcChain === chain.chainId &&
      pair.srcToken === token &&
      pair.destChain === commitment.destChain &&
      padAddress(pair.destToken) === commitment.destToken,
  );
  const isBelow = (balance: bigint) => terms.isBelowMinimum(chain.chainId, token, balance);
  switch (reason) {
    case "unlisted":
      return isListed ? refuse("listed") : { kind: "sign" };
    case "below_minimum": {
      if (!isListed) return refuse("unlisted");
      // A deposit that is not final yet may reach the minimum, and then belongs to a settlement.
      const newest = (await chain.findBalance(token, wallet, "latest")) ?? 0n;
      const most = newest > seen.final ? newest : seen.final;
      return (await isBelow(most)) ? { kind: "sign" } : refuse("above_minimum");
    }
    case "dead": {
      if (!isListed) return refuse("unlisted");
      if (await isBelow(seen.final)) return refuse("below_minimum");
      return judgeAge(chain, seen, policy.deadAfterS);
    }
    case "expired":
      return judgeAge(chain, seen, policy.expiredAfterS);
    default:
      return assertNever(reason);
  }
}

async function judgeAge(chain: Chain, seen: Seen, afterS: bigint | null): Promise<RefundVerdict> {
  if (afterS === null) return refuse("not_allowed");
  const stood = await readStood(chain, { ...seen, afterS });
  if (typeof stood === "string") return refuse(stood);
  return seen.maxAmount > stood ? refuse("too_recent") : { kind: "sign" };
}

/** Why no amount of a wallet stood for a time, or cannot be shown to. */
export type NotStood =
  | "unknown_chain"
  | "too_recent"
  | "state_not_kept"
  | "history_too_long"
  | "moved_since";

/**
 * Returns the amount that a wallet held in a block so long before the newest final one, and that no settlement or refund
 * touched since; a reason if there is none. Later deposits do not count, and cannot put a refund off.
 */
export async function readStood(
  chain: Chain,
  of: { readonly token: Address; readonly wallet: Address; readonly afterS: bigint },
): Promise<bigint | NotStood> {
  const { token, wallet, afterS } = of;
  const { wallets, payoutSearch, balances } = chain;
  const sinceS = (await chain.getTime("final")) - afterS;
  if (wallets.kind === "vault") return wallets.readStood({ wallet, token, sinceS });
  if (balances.kind !== "at_block" || payoutSearch === null) return "unknown_chain";
  const since = await payoutSearch.findBlockAt(sinceS);
  const block = since > 0n ? await chain.getBlock(since - 1n) : null;
  if (!block) return "too_recent";
  let stood: bigint | null | undefined;
  if (isNative(token)) [stood] = await balances.listNativeBalances(block, [wallet]);
  else {
    const answers = await balances.listTokenBalances(block.hash, [{ token, wallet }]);
    if (answers === null) return "state_not_kept";
    [stood] = answers;
  }
  if (!stood) return "too_recent";
  const outflow = await wallets.findOutflow({ wallet, token, fromBlock: since });
  return outflow === null ? stood : "moved_since";
}

function refuse(reason: string): RefundVerdict {
  return { kind: "refuse", reason };
}
