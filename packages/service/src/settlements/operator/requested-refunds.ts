/**
 * Refunds at the request of an integrator: by the service where it may, else by a transaction that only the committed refund
 * authority can send. The recipient is never part of a request.
 */
import { encodeRefund } from "@sluice/sdk/address";
import type { Refund, RefundResponse } from "@sluice/sdk/wire";
import {
  type DepositAddress,
  formatCommitment,
  getAddressById,
  listNotes,
  NO_NOTES,
} from "../../addresses/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, unpadAddress } from "../../core/hex.ts";
import type { SettlementDeps } from "../deps.ts";
import { stateOf } from "./announce-states.ts";
import { BY_POLICY } from "./automatic-refunds.ts";
import { BY_AUTHORITY, readUnsent } from "./attested-refund.ts";
import { refundAddress } from "./refund-address.ts";
import { type ListedRefund, listRefundsOf, type RefundFilter } from "./refunds.ts";

/** A request of an integrator about one of its own addresses. */
export interface RefundAsked {
  readonly chainId: number;
  readonly address: DepositAddress;
  readonly token: Address;
  readonly keyId: string;
  readonly note: string | undefined;
}

/** A page of an integrator's refunds. */
export interface RefundsPage {
  readonly limit: number;
  readonly cursor: { readonly at: string; readonly id: string } | undefined;
  readonly filter: RefundFilter;
}

/** Refunds as the interface requests and shows them. */
export interface RefundDesk {
  /**
   * Requests a refund, or returns the open one.
   * @throws OperatingError VALIDATION_ERROR with the reason when nothing can be refunded now.
   */
  request(asked: RefundAsked): Promise<RefundResponse>;
  /** Returns a page, newest first. */
  list(
    integratorId: string,
    page: RefundsPage,
  ): Promise<{ readonly items: Refund[]; readonly nextCursor: string | null }>;
  /** Returns one refund of an integrator; null for an unknown id and for another integrator's alike. */
  find(integratorId: string, id: string): Promise<Refund | null>;
}

/** Begins the `operator` of refunds that an API key requested; the accounts of people have no colon before their name. */
const BY_KEY = "api key:";
/** Recorded for a request without a note, since every refund has a reason. */
const NO_NOTE = "requested by the integrator";

const UNWATCHED =
  "The service does not watch this chain. The refund authority can take the balance by this transaction, if the factory is deployed there.";

export interface RefundDeskDeps extends SettlementDeps {
  /** EIP-155 ids by bridge chain id, of every chain whose authority may send a transaction. */
  readonly evmChainIds: ReadonlyMap<number, number>;
  /** Returns whether the configuration lists a token. */
  readonly lists: (chainId: number, token: Address) => boolean;
}

export function createRefundDesk(deps: RefundDeskDeps): RefundDesk {
  return {
    async request({ chainId, address, token, keyId, note }) {
      const { wallet, family } = address;
      const chain = deps.chains.get(chainId);
      if (!chain) {
        const transaction = prepare(deps, { chainId, address, token });
        return { refund: null, transaction, reason: UNWATCHED };
      }
      if (chain.wallets.kind === "vault" && !deps.lists(chainId, token)) throw unlisted();
      const to = unpadAddress(address.commitment.refundAuthority, family);
      const by = { operator: `${BY_KEY}${keyId}`, reason: note ?? NO_NOTE };
      try {
        const asked = { chainId, wallet, token, to, ...by };
        const { refund } = await refundAddress(deps, asked);
        const shown = await findOne(deps, address.integratorId, refund.id);
        return { refund: shown, transaction: null, reason: null };
      } catch (error) {
        if (!(error instanceof OperatingError) || error.details?.["reason"] !== BY_AUTHORITY) {
          throw error;
        }
        const transaction = prepare(deps, { chainId, address, token });
        return { refund: null, transaction, reason: error.message };
      }
    },
    async list(integratorId, { limit, ...page }) {
      const refunds = await listRefundsOf(deps.db, integratorId, { ...page, limit: limit + 1 });
      const items = await showAll(deps, refunds.slice(0, limit));
      const last = refunds.length > limit ? items.at(-1) : undefined;
      return { items, nextCursor: last ? `${last.requestedAt}_${last.id}` : null };
    },
    find: (integratorId, id) => findOne(deps, integratorId, id),
  };
}

/** Prepares the refund authority's own transaction, as `sluice rescue` does. */
function prepare(
  { displayAddress, evmChainIds }: RefundDeskDeps,
  {
    chainId,
    address,
    token,
  }: { readonly chainId: number; readonly address: DepositAddress; readonly token: Address },
): RefundResponse["transaction"] {
  const evmChainId = evmChainIds.get(chainId);
  if (evmChainId === undefined) return null;
  const commitment = formatCommitment(address, displayAddress);
  return {
    evmChainId,
    from: displayAddress(unpadAddress(address.commitment.refundAuthority, address.family)),
    to: commitment.factory,
    data: encodeRefund({ commitment, token }),
    value: "0",
  };
}

/** The signer alone moves the deposits of a vault, and it moves listed tokens only. */
function unlisted(): OperatingError {
  return new OperatingError(
    "VALIDATION_ERROR",
    "tokenAddress: expected a listed token of this chain. The operator can list the token, with or without a route.",
    { details: { field: "tokenAddress" } },
  );
}

async function findOne(
  deps: SettlementDeps,
  integratorId: string,
  id: string,
): Promise<Refund | null> {
  const page = { limit: 1, cursor: undefined, filter: { id } };
  const [shown] = await showAll(deps, await listRefundsOf(deps.db, integratorId, page));
  return shown ?? null;
}

async function showAll(deps: SettlementDeps, refunds: readonly ListedRefund[]): Promise<Refund[]> {
  const { db, displayAddress } = deps;
  const notes = await listNotes(
    db,
    refunds.map(({ addressId }) => addressId),
  );
  const shown: Refund[] = [];
  for (const refund of refunds) {
    const { userId } = await getAddressById(db, refund.addressId);
    const unsent = await readUnsent(deps, refund);
    const { label, metadata } = notes.get(refund.addressId) ?? NO_NOTES;
    const isByKey = refund.operator.startsWith(BY_KEY);
    shown.push({
      id: refund.id,
      chainId: refund.chainId,
      walletAddress: displayAddress(refund.wallet),
      depositAddressId: refund.addressId,
      userId,
      label,
      metadata: { ...metadata },
      tokenAddress: displayAddress(refund.token),
      amount: refund.amount.toString(),
      refundTo: displayAddress(refund.authority),
      state: stateOf(refund, unsent),
      policyReason: refund.attested?.reason ?? null,
      refusal: unsent?.kind === "refused" ? unsent.refusal : null,
      txHash: refund.txHash && displayTxHash(refund.txHash),
      // The operator's reason is for the operator's own record.
      note: isByKey && refund.reason !== NO_NOTE ? refund.reason : null,
      requestedBy: isByKey ? "api_key" : refund.operator === BY_POLICY ? "policy" : "operator",
      requestedAt: refund.requestedAt,
    });
  }
  return shown;
}
