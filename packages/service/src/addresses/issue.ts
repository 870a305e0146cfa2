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
import type { Commitment } from "../core/commitment.ts";
import { type Address, type Hex, toAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { keepFresh } from "./fresh.ts";
import * as store from "./store.ts";
import type { DepositAddress, Destination } from "./types.ts";

/** Asks the signer for a commitment's vault and its binding. */
export type FindVault = (
  commitment: Commitment,
) => Promise<{ readonly wallet: Address; readonly proof: Hex }>;

interface IssueDeps {
  readonly db: Db;
  readonly random: Random;
  /** Undefined without deposits on Solana. */
  readonly findVault?: FindVault | undefined;
}

interface IssueArgs {
  readonly chain: Pick<
    Chain,
    "chainId" | "kind" | "predictWallet" | "hashCommitment" | "isWalletOf" | "addresses"
  > & { readonly wallets: Pick<Chain["wallets"], "kind"> };
  readonly integratorId: string;
  readonly destination: Destination;
}

/**
 * Returns the deposit address of a user and destination; issues it if it does not exist. The refund authority and caps are
 * taken from the integrator at the first request and never change afterwards. Idempotent, also under concurrency.
 * @throws OperatingError VALIDATION_ERROR without a refund authority for the family; CONFIG_MISSING if the stored address no
 *   longer derives from its fields, or without a signer for vaults.
 */
export async function issueAddress(deps: IssueDeps, args: IssueArgs): Promise<DepositAddress> {
  const address = await getOrIssue(deps, args);
  await keepFresh(deps.db, args.chain.chainId, address, "quoted");
  return address;
}

async function getOrIssue(deps: IssueDeps, args: IssueArgs): Promise<DepositAddress> {
  const { db, random } = deps;
  const { chain, integratorId, destination } = args;
  const { kind: family } = chain;
  const issued = await store.getByDestination(db, { integratorId, family, destination });
  if (issued) {
    // Users will pay to this address, so an edited row or one of another deployment must fail.
    assertDerived(chain, issued);
    return issued;
  }

  // Current terms, which this address keeps: they are part of its commitment.
  const integrator = await db
    .selectFrom("integrators")
    .selectAll()
    .where("id", "=", integratorId)
    .executeTakeFirstOrThrow();
  const commitment = store.commitmentOf(
    {
      id: integrator.id,
      refundAuthority: refundAuthorityOf(integrator, family),
      maxFeeBps: integrator.max_fee_bps,
      maxSlippageBps: integrator.max_slippage_bps,
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
  };
  // Before the insert: a signer that answered with another vault must not leave a row.
  assertDerived(chain, address);
  return db.transaction().execute(async (tx) => {
    await store.insertAddress(tx, id, address);
    // Of two concurrent first requests one inserts; both return the row of that one, whose commitment may differ.
    const stored = await store.getByDestination(tx, { integratorId, family, destination });
    assert(stored !== null, "the address exists after an insert or a conflict");
    assertDerived(chain, stored);
    return stored;
  });
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
  if (chain.isWalletOf(address) && hash === address.commitmentHash) return;
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
