import type { Chain } from "../chains/port/index.ts";
import type { Random } from "../core/ports.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { ChainKind } from "../core/chain-registry.ts";
import type { Commitment } from "../core/commitment.ts";
import { type Address, type Hex, toAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import * as store from "./store.ts";
import type { DepositAddress, Recipient } from "./types.ts";

/** Asks for the vault of a commitment, of who alone can derive it, and for its word that it is. */
export type FindVault = (
  commitment: Commitment,
) => Promise<{ readonly wallet: Address; readonly proof: Hex }>;

/**
 * The deposit address of a recipient: the one that was issued, or a new one. The refund authority and the caps come
 * from the integrator as it is at the first request and are fixed then; the same request always answers the same, also
 * when many come at once.
 */
export async function issueAddress(
  deps: {
    readonly db: Db;
    readonly random: Random;
    /** Only where deposits are taken on Solana. */
    readonly findVault?: FindVault | undefined;
  },
  args: {
    readonly chain: Pick<
      Chain,
      "kind" | "wallets" | "predictWallet" | "hashCommitment" | "isWalletOf" | "addresses"
    >;
    readonly integratorId: string;
    readonly recipient: Recipient;
  },
): Promise<DepositAddress> {
  const { db, random } = deps;
  const { chain, integratorId, recipient } = args;
  const { kind: family } = chain;
  const issued = await store.getByRecipient(db, { integratorId, family, recipient });
  if (issued) {
    // It is about to be paid to: a row that was changed, or that is of another deployment, must not be believed.
    assertDerived(chain, issued);
    return issued;
  }

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
    recipient,
  );
  const { wallet, proof } =
    chain.wallets.kind === "contract"
      ? { wallet: chain.predictWallet(commitment), proof: null }
      : await askForVault(deps.findVault, commitment);
  const id = random.uuid();
  const address: DepositAddress = {
    ...recipient,
    id,
    integratorId,
    family,
    wallet,
    proof,
    factory: chain.addresses.factory,
    commitment,
    commitmentHash: chain.hashCommitment(commitment),
  };
  assertDerived(chain, address);
  return db.transaction().execute(async (tx) => {
    await store.insertAddress(tx, id, address);
    const stored = await store.getByRecipient(tx, { integratorId, family, recipient });
    assert(stored !== null, "an address that was just inserted, or that was in the way, is there");
    assertDerived(chain, stored);
    return stored;
  });
}

async function askForVault(findVault: FindVault | undefined, commitment: Commitment) {
  if (findVault) return findVault(commitment);
  throw new OperatingError(
    "CONFIG_MISSING",
    "signers.vaults: expected the socket of the signer that derives vaults: addresses there cannot be issued.",
  );
}

/** Who may take funds back on the chains of a family. Throws VALIDATION_ERROR where the integrator has named nobody there. */
function refundAuthorityOf(
  integrator: { readonly refund_evm: string; readonly refund_solana: string | null },
  family: ChainKind,
): Address {
  const named = { evm: integrator.refund_evm, svm: integrator.refund_solana }[family];
  if (named !== null) return toAddress(named);
  throw new OperatingError(
    "VALIDATION_ERROR",
    "fromChain: this integrator has no refund authority on Solana (--refund-solana).",
    { details: { field: "fromChain" } },
  );
}

/**
 * Proves that a stored address still is what it says before anything is done with it: somebody who can edit rows must
 * not be able to steer money. The contracts would refuse as well; this refuses before gas is spent.
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
          address.factory === chain.addresses.factory ? "address_row_changed" : "factory_changed",
      },
    },
  );
}
