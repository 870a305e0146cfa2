/**
 * Issues deposit addresses. Users pay to an issued address permanently, so its row is never changed or deleted, and a
 * repeated request returns it whatever the integrator's terms are by then.
 *
 * Invariant: an address is returned only if it derives from the fields of its row (`assertDerived`).
 */
import type { Selectable } from "kysely";
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
import type { Db, IntegratorsTable, Tx } from "../db/schema.ts";
import { assertAddressQuota, type Quotas } from "../integrators/index.ts";
import { keepAllFresh } from "./fresh.ts";
import { hasNotes, type NotesChange, putNotes } from "./notes.ts";
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

/** An address that a request asks for. */
export interface WantedAddress {
  readonly chain: Pick<
    Chain,
    "chainId" | "kind" | "predictWallet" | "hashCommitment" | "isWalletOf" | "addresses"
  > & { readonly wallets: Pick<Chain["wallets"], "kind"> };
  readonly destination: Destination;
  /** The request's choices; the integrator's apply to a new address without them. */
  readonly terms?: AddressTerms | undefined;
  /** The present routes to the destination from every EVM chain, to which a fixed address commits. */
  readonly routeSet?: RouteSet | undefined;
  /** The request's words about the address; those that it does not mention stay. */
  readonly notes?: NotesChange | undefined;
}

interface IssueArgs {
  readonly integratorId: string;
  /** Called before new addresses are issued, with their number; throws if there may be none. */
  readonly admitNew?: ((count: number) => Promise<void>) | undefined;
  /** Returns the error of one of several addresses, with its place among them. */
  readonly nameFault?: ((thrown: unknown, index: number) => unknown) | undefined;
}

/**
 * Returns the deposit address of a user and destination; issues it if it does not exist. The refund authority, caps, routes
 * and flags are taken from the integrator at the first request and never change afterwards; a request with terms of its own
 * gets an address of its own. Idempotent, also under concurrency.
 * @throws OperatingError VALIDATION_ERROR without a refund authority for the family, or for fixed routes or unattended
 *   settlements on Solana; CONFIG_MISSING if the stored address no
 *   longer derives from its fields, or without a signer for vaults; QuotaExceeded for a new address above the quota.
 */
export async function issueAddress(
  deps: IssueDeps,
  args: IssueArgs & WantedAddress,
): Promise<DepositAddress> {
  const [address] = await issueAddresses(deps, { ...args, wanted: [args] });
  assert(address, "an address for each that is wanted");
  return address;
}

/**
 * Returns the deposit addresses that are wanted, in their order, and issues those that do not exist: all of them with their
 * notes, or none.
 * @throws as `issueAddress`.
 */
export async function issueAddresses(
  deps: IssueDeps,
  args: IssueArgs & { readonly wanted: readonly WantedAddress[] },
): Promise<readonly DepositAddress[]> {
  const addresses = await getOrIssue(deps, args);
  for (const chainId of new Set(args.wanted.map(({ chain }) => chain.chainId))) {
    const quoted = addresses.filter((_, index) => args.wanted[index]?.chain.chainId === chainId);
    await keepAllFresh(deps.db, chainId, quoted, "quoted");
  }
  return addresses;
}

async function getOrIssue(
  deps: IssueDeps,
  {
    integratorId,
    admitNew,
    nameFault = (thrown) => thrown,
    wanted,
  }: IssueArgs & { readonly wanted: readonly WantedAddress[] },
): Promise<readonly DepositAddress[]> {
  const { db } = deps;
  const named = <Result>(index: number, work: () => Result): Result => {
    try {
      return work();
    } catch (thrown) {
      throw nameFault(thrown, index);
    }
  };
  for (const [index, { chain, terms = {} }] of wanted.entries()) {
    named(index, () => assertOffered(chain, terms));
  }
  const found = await store.listByDestinations(db, integratorId, wanted.map(queryOf));
  for (const [index, { chain }] of wanted.entries()) {
    const address = found[index];
    // Users will pay to this address, so an edited row or one of another deployment must fail.
    if (address) named(index, () => assertDerived(chain, address));
  }
  const issued = found.filter((address) => address !== null);
  const missing = wanted.length - issued.length;
  if (missing === 0 && !wanted.some(({ notes }) => hasNotes(notes))) return issued;

  if (missing > 0) await admitNew?.(missing);
  // Current terms, which new addresses keep: they are part of their commitments.
  const integrator = await db
    .selectFrom("integrators")
    .selectAll()
    .where("id", "=", integratorId)
    .executeTakeFirstOrThrow();
  const planned: Planned[] = [];
  for (const [index, one] of wanted.entries()) {
    if (found[index]) continue;
    const plan = planAddress(deps, integrator, one).catch((thrown: unknown) => {
      throw nameFault(thrown, index);
    });
    planned.push(await plan);
  }
  const storeAll = async (tx: Tx) => {
    const inserted = await insertPlanned(tx, integratorId, planned);
    // After the inserts, which wait for concurrent ones of the integrator, so that they cannot exceed the quota together.
    if (missing > 0 && deps.quotas) await assertAddressQuota(tx, integratorId, deps.quotas);
    const left = [...inserted];
    const stored = found.map((address) => address ?? left.shift());
    const all = stored.filter((address) => address !== undefined);
    assert(all.length === wanted.length, "an address for each that is wanted");
    await putNotes(
      tx,
      all.map(({ id }, index) => ({ addressId: id, notes: wanted[index]?.notes })),
    );
    return all;
  };
  const { inTurn = (_, work) => work() } = deps;
  return inTurn(integratorId, () => db.transaction().execute(storeAll));
}

function queryOf({ chain, destination, terms = {} }: WantedAddress): store.AddressQuery {
  return { family: chain.kind, destination, terms };
}

/** A new address before its insert. */
interface Planned {
  readonly plan: DepositAddress;
  readonly chain: WantedAddress["chain"];
  /** The terms that it was given. */
  readonly terms: AddressTerms;
}

async function planAddress(
  { findVault, random }: IssueDeps,
  integrator: Selectable<IntegratorsTable>,
  { chain, destination, terms = {}, routeSet: present = [] }: WantedAddress,
): Promise<Planned> {
  const { kind: family } = chain;
  const chosen = chooseTerms(integrator, chain, terms);
  const routeSet = chosen.routes === "fixed" ? present : null;
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
      : await askForVault(findVault, commitment);
  const plan: DepositAddress = {
    ...destination,
    id: random.uuid(),
    integratorId: integrator.id,
    family,
    wallet,
    proof,
    walletRoot: chain.addresses.walletRoot,
    commitment,
    commitmentHash: chain.hashCommitment(commitment),
    routeSet,
  };
  // Before the insert: a signer that answered with another vault must not leave a row.
  assertDerived(chain, plan);
  return { plan, chain, terms: chosen };
}

/** Inserts planned addresses and returns the stored ones, in the same order. */
async function insertPlanned(
  tx: Tx,
  integratorId: string,
  planned: readonly Planned[],
): Promise<readonly DepositAddress[]> {
  if (planned.length === 0) return [];
  await store.insertAddresses(
    tx,
    integratorId,
    planned.map(({ plan }) => plan),
  );
  // Of two concurrent first requests one inserts; both return the row of that one, whose commitment may differ.
  const stored = await store.listByDestinations(
    tx,
    integratorId,
    planned.map(({ plan, terms }) => ({ family: plan.family, destination: plan, terms })),
  );
  return planned.map(({ chain }, index) => {
    const address = stored[index];
    assert(address, "the address exists after an insert or a conflict");
    assertDerived(chain, address);
    return address;
  });
}

/** Refuses terms that only contracts can keep: on Solana the signer moves every deposit. */
function assertOffered(
  { wallets }: WantedAddress["chain"],
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
  { wallets }: WantedAddress["chain"],
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
