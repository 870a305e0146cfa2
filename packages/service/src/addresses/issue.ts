/**
 * Issues deposit addresses. Users pay to an issued address permanently, so its row is never changed or deleted, and a
 * repeated request returns it whatever the integrator's terms are by then.
 *
 * Invariant: an address is returned only if it derives from the fields of its row (`assertDerived`).
 */
import type { Chain } from "../chains/port/index.ts";
import type { Random } from "../core/ports.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { ChainKind } from "../core/chain-registry.ts";
import {
  type AddressTerms,
  type Commitment,
  type RouteTerms,
  UNATTENDED,
} from "../core/commitment.ts";
import { type Address, type Hex, toAddress } from "../core/hex.ts";
import type { InTurn } from "../core/in-turn.ts";
import type { Db, Tx } from "../db/schema.ts";
import { assertAddressQuota, type Quotas } from "../integrators/index.ts";
import { keepFresh } from "./fresh.ts";
import * as store from "./store.ts";
import { rootOf } from "./route-set.ts";
import type { DepositAddress, Destination, RouteSet } from "./types.ts";

/** Asks the signer for a commitment's vault and its binding. */
export type FindVault = (
  commitment: Commitment,
) => Promise<{ readonly wallet: Address; readonly proof: Hex }>;

interface IssueDeps {
  readonly db: Db;
  readonly random: Random;
  /** Undefined without deposits on Solana. */
  readonly findVault?: FindVault | undefined;
  /**
   * New addresses of an integrator wait for one another, since their stamps increase; here they wait without a connection of
   * the database, which they would take from everybody.
   */
  readonly inTurn?: InTurn | undefined;
  /** Quotas of integrators without their own; undefined for none. */
  readonly quotas?: Quotas | undefined;
}

interface IssueArgs {
  readonly chain: Pick<
    Chain,
    "chainId" | "kind" | "predictWallet" | "hashCommitment" | "isWalletOf" | "addresses"
  > & { readonly wallets: Pick<Chain["wallets"], "kind"> };
  readonly integratorId: string;
  /** Called before a new address is issued; throws if there may be none. */
  readonly admitNew?: (() => Promise<void>) | undefined;
  readonly destination: Destination;
  /** The request's choices; the integrator's apply to a new address without them. */
  readonly terms?: AddressTerms | undefined;
  /** The present routes to the destination from every EVM chain, to which a fixed address commits. */
  readonly routeSet?: RouteSet | undefined;
}

/**
 * Returns the deposit address of a user and destination; issues it if it does not exist. The refund authority, caps, routes
 * and flags are taken from the integrator at the first request and never change afterwards; a request with terms of its own
 * gets an address of its own. Idempotent, also under concurrency.
 * @throws OperatingError VALIDATION_ERROR without a refund authority for the family, or for fixed routes or unattended
 *   settlements on Solana; CONFIG_MISSING if the stored address no
 *   longer derives from its fields, or without a signer for vaults; QuotaExceeded for a new address above the quota.
 */
export async function issueAddress(deps: IssueDeps, args: IssueArgs): Promise<DepositAddress> {
  const address = await getOrIssue(deps, args);
  await keepFresh(deps.db, args.chain.chainId, address, "quoted");
  return address;
}

async function getOrIssue(deps: IssueDeps, args: IssueArgs): Promise<DepositAddress> {
  const { db, random } = deps;
  const { chain, integratorId, destination, terms = {} } = args;
  const { kind: family } = chain;
  assertOffered(chain, terms);
  const issued = await store.getByDestination(db, { integratorId, family, destination, terms });
  if (issued) {
    // Users will pay to this address, so an edited row or one of another deployment must fail.
    assertDerived(chain, issued);
    return issued;
  }

  await args.admitNew?.();
  // Current terms, which this address keeps: they are part of its commitment.
  const integrator = await db
    .selectFrom("integrators")
    .selectAll()
    .where("id", "=", integratorId)
    .executeTakeFirstOrThrow();
  const chosen = chooseTerms(integrator, chain, terms);
  const routeSet = chosen.routes === "fixed" ? (args.routeSet ?? []) : null;
  assert(routeSet?.length !== 0, "a fixed address commits to at least one route");
  const commitment = store.commitmentOf(
    {
      id: integrator.id,
      refundAuthority: refundAuthorityOf(integrator, family),
      maxFeeBps: integrator.max_fee_bps,
      maxSlippageBps: integrator.max_slippage_bps,
      routes: rootOf(routeSet),
      flags: chosen.unattended ? UNATTENDED : 0,
    },
    destination,
  );
  const { wallet, proof } =
    chain.wallets.kind === "contract"
      ? { wallet: chain.predictWallet(commitment), proof: null }
      : await askForVault(deps.findVault, commitment);
  const id = random.uuid();
  const address: DepositAddress = {
    ...destination,
    id,
    integratorId,
    family,
    wallet,
    proof,
    walletRoot: chain.addresses.walletRoot,
    commitment,
    commitmentHash: chain.hashCommitment(commitment),
    routeSet,
  };
  // Before the insert: a signer that answered with another vault must not leave a row.
  assertDerived(chain, address);
  const { inTurn = (_, work) => work() } = deps;
  const insert = async (tx: Tx) => {
    await store.insertAddress(tx, id, address);
    // After the insert, which waits for concurrent ones of the integrator, so that they cannot exceed the quota together.
    if (deps.quotas) await assertAddressQuota(tx, integratorId, deps.quotas);
    // Of two concurrent first requests one inserts; both return the row of that one, whose commitment may differ.
    const stored = await store.getByDestination(tx, {
      integratorId,
      family,
      destination,
      terms: chosen,
    });
    assert(stored !== null, "the address exists after an insert or a conflict");
    assertDerived(chain, stored);
    return stored;
  };
  return inTurn(integratorId, () => db.transaction().execute(insert));
}

/** Refuses terms that only contracts can keep: on Solana the signer moves every deposit. */
function assertOffered(
  { wallets }: IssueArgs["chain"],
  { routes, unattended }: AddressTerms,
): void {
  if (wallets.kind === "contract") return;
  const field = routes === "fixed" ? "payRoutes" : unattended ? "payUnattended" : null;
  if (field === null) return;
  throw new OperatingError(
    "VALIDATION_ERROR",
    `${field}: expected none on Solana, where no contract settles a deposit.`,
    { details: { field } },
  );
}

/** Returns the terms of a new address: the request's, else the integrator's. */
function chooseTerms(
  integrator: { readonly routes: string; readonly unattended: boolean },
  { wallets }: IssueArgs["chain"],
  { routes, unattended }: AddressTerms,
): { readonly routes: RouteTerms; readonly unattended: boolean } {
  if (wallets.kind === "vault") return { routes: "governed", unattended: false };
  return {
    routes: routes ?? (integrator.routes === "fixed" ? "fixed" : "governed"),
    unattended: unattended ?? integrator.unattended,
  };
}

/** Asks the signer for a vault. Throws CONFIG_MISSING without a configured signer for vaults. */
async function askForVault(findVault: FindVault | undefined, commitment: Commitment) {
  if (findVault) return findVault(commitment);
  throw new OperatingError(
    "CONFIG_MISSING",
    "signers.vaults: expected the socket of the signer that derives vaults, to issue addresses on Solana.",
  );
}

/** Returns the integrator's refund authority of a family. Throws VALIDATION_ERROR if it has none. */
function refundAuthorityOf(
  integrator: { readonly refund_evm: string; readonly refund_solana: string | null },
  family: ChainKind,
): Address {
  // It is committed on the family of the source chain: an EVM account cannot receive a refund on Solana.
  const named = { evm: integrator.refund_evm, svm: integrator.refund_solana }[family];
  if (named !== null) return toAddress(named);
  throw new OperatingError(
    "VALIDATION_ERROR",
    "fromChain: this integrator has no refund authority on Solana (--refund-solana).",
    { details: { field: "fromChain" } },
  );
}

/**
 * Checks that a stored address derives from its fields, so that an attacker who can edit rows cannot redirect money. The
 * contracts would refuse it too; this check fails before gas is spent.
 * @throws OperatingError CONFIG_MISSING with reason `address_row_changed` or `factory_changed`.
 */
export function assertDerived(
  chain: Pick<Chain, "isWalletOf" | "hashCommitment" | "addresses">,
  address: DepositAddress,
): void {
  const hash = chain.hashCommitment(address.commitment);
  const isWhole = rootOf(address.routeSet) === address.commitment.routes;
  if (isWhole && chain.isWalletOf(address) && hash === address.commitmentHash) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    "The stored deposit address does not derive from its fields.",
    {
      details: {
        reason:
          address.walletRoot === chain.addresses.walletRoot
            ? "address_row_changed"
            : "factory_changed",
      },
    },
  );
}
