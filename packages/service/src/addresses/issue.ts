import type { Chain } from "../chains/port.ts";
import type { Random } from "../core/ports.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, toAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import * as store from "./store.ts";
import type { DepositAddress, Recipient } from "./types.ts";

/**
 * The deposit address of a recipient: the one that was issued, or a new one. The refund authority and the caps come
 * from the integrator as it is at the first request and are fixed then; the same request always answers the same, also
 * when many come at once.
 */
export async function issueAddress(
  deps: { readonly db: Db; readonly random: Random },
  args: {
    readonly chain: Pick<Chain, "predictWallet" | "hashCommitment" | "addresses">;
    readonly integratorId: string;
    readonly recipient: Recipient;
  },
): Promise<DepositAddress> {
  const { db, random } = deps;
  const { chain, integratorId, recipient } = args;
  const issued = await store.getByRecipient(db, integratorId, recipient);
  if (issued) return issued;

  return db.transaction().execute(async (tx) => {
    const integrator = await tx
      .selectFrom("integrators")
      .selectAll()
      .where("id", "=", integratorId)
      .executeTakeFirstOrThrow();
    const commitment = store.commitmentOf(
      {
        id: integrator.id,
        refundEvm: toAddress(integrator.refund_evm),
        maxFeeBps: integrator.max_fee_bps,
        maxSlippageBps: integrator.max_slippage_bps,
      },
      recipient,
    );
    const id = random.uuid();
    await store.insertAddress(tx, id, {
      ...recipient,
      id,
      integratorId,
      wallet: chain.predictWallet(commitment),
      factory: chain.addresses.factory,
      commitment,
      commitmentHash: chain.hashCommitment(commitment),
    });
    const stored = await store.getByRecipient(tx, integratorId, recipient);
    assert(stored !== null, "an address that was just inserted, or that was in the way, is there");
    return stored;
  });
}

/**
 * Proves that a stored address still is what it says before anything is done with it: somebody who can edit rows must
 * not be able to steer money. The contracts would refuse as well; this refuses before gas is spent.
 */
export function assertDerived(
  chain: Pick<Chain, "predictWallet" | "hashCommitment" | "addresses">,
  address: DepositAddress,
): void {
  const wallet: Address = chain.predictWallet(address.commitment);
  const hash = chain.hashCommitment(address.commitment);
  if (wallet === address.wallet && hash === address.commitmentHash) return;
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
