/**
 * The table of deposit addresses. It holds every field of a commitment's preimage: wallets store nothing, so without these
 * fields nobody can settle or refund a deposit. The commitment is built from the columns at each read and compared with
 * the stored hash by `assertDerived`.
 */
import { type Selectable, sql } from "kysely";
import type { AddressesTable, Db, Tx } from "../db/schema.ts";
import type { ChainKind } from "../core/chain-registry.ts";
import {
  type AddressTerms,
  COMMITMENT_VERSION,
  type Commitment,
  UNATTENDED,
  WALLET_KIND,
} from "../core/commitment.ts";
import {
  type Address,
  type Hex32,
  padAddress,
  toAddress,
  toHex,
  toHex32,
  unpadAddress,
} from "../core/hex.ts";
import { lockStamps } from "../events/index.ts";
import { parseRouteSet } from "./route-set.ts";
import type { DepositAddress, Destination } from "./types.ts";

/** Returns the oldest address that was issued for a user and destination with these terms, or null. */
export async function getByDestination(
  db: Db | Tx,
  {
    integratorId,
    family,
    destination,
    terms,
  }: {
    readonly integratorId: string;
    readonly family: ChainKind;
    readonly destination: Destination;
    /** Absent ones match any. */
    readonly terms: AddressTerms;
  },
): Promise<DepositAddress | null> {
  let query = db
    .selectFrom("addresses")
    .selectAll()
    .where("integrator_id", "=", integratorId)
    .where("chain_family", "=", family)
    .where("user_id", "=", destination.userId)
    .where("dest_chain", "=", destination.destChain)
    .where("dest_wallet", "=", destination.destWallet)
    .where("dest_token", "=", destination.destToken)
    .orderBy("created_at")
    .limit(1);
  if (terms.routes !== undefined) query = query.where("fixed", "=", terms.routes === "fixed");
  if (terms.unattended !== undefined) {
    query = query.where("flags", "=", terms.unattended ? UNATTENDED : 0);
  }
  const row = await query.executeTakeFirst();
  return row ? parseAddress(row) : null;
}

/** Inserts an address. Does nothing if a concurrent request issued it. */
export async function insertAddress(tx: Tx, id: string, address: DepositAddress): Promise<void> {
  // `created_at` is the cursor of `GET /deposit-addresses`: unique, and increasing in commit order.
  await lockStamps(tx, address.integratorId);
  await tx
    .insertInto("addresses")
    .values({
      id,
      integrator_id: address.integratorId,
      chain_family: address.family,
      user_id: address.userId,
      dest_chain: address.destChain,
      dest_wallet: address.destWallet,
      dest_token: address.destToken,
      refund_authority: unpadAddress(address.commitment.refundAuthority, address.family),
      max_fee_bps: address.commitment.maxFeeBps,
      max_slippage_bps: address.commitment.maxSlippageBps,
      version: COMMITMENT_VERSION,
      wallet_kind: WALLET_KIND,
      factory: address.walletRoot,
      commitment: address.commitmentHash,
      wallet: address.wallet,
      proof: address.proof,
      routes: address.commitment.routes,
      flags: address.commitment.flags,
      fixed: address.routeSet !== null,
      route_set: address.routeSet === null ? null : JSON.stringify(address.routeSet),
      created_at: sql<string>`next_stamp((select created_at from addresses
        where integrator_id = ${address.integratorId} order by created_at desc limit 1))`,
    })
    .onConflict((conflict) =>
      conflict
        .columns([
          "integrator_id",
          "chain_family",
          "user_id",
          "dest_chain",
          "dest_wallet",
          "dest_token",
          "fixed",
          "flags",
        ])
        .doNothing(),
    )
    .execute();
}

/** Returns the deposit addresses of those wallets that are ours, by wallet, with one indexed query. */
export async function listByWallets(
  db: Db | Tx,
  wallets: readonly Address[],
): Promise<Map<Address, DepositAddress>> {
  if (wallets.length === 0) return new Map();
  const rows = await db
    .selectFrom("addresses")
    .selectAll()
    // Every family, for the unique index on (chain_family, wallet).
    .where("chain_family", "in", ["evm", "svm"])
    .where("wallet", "=", sql<string>`any(${[...new Set(wallets)]})`)
    .execute();
  return new Map(rows.map(parseAddress).map((address) => [address.wallet, address]));
}

/** Returns the wallet that was issued for a commitment, or null. */
export async function findWalletByCommitment(db: Db, commitment: Hex32): Promise<Address | null> {
  const row = await db
    .selectFrom("addresses")
    .select("wallet")
    .where("commitment", "=", commitment)
    .executeTakeFirst();
  return row ? toAddress(row.wallet) : null;
}

/** Returns an address by its id. Throws if it does not exist. */
export async function getById(db: Db | Tx, id: string): Promise<DepositAddress> {
  const row = await db
    .selectFrom("addresses")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return parseAddress(row);
}

/**
 * Returns the commitment of an integrator's terms, a user id and a destination. Every field but the chain and the caps is
 * 32 bytes: the UUID and shorter addresses are padded with zeros on the left. Chains are bridge chain ids, caps basis points.
 */
export function commitmentOf(
  integrator: {
    readonly id: string;
    readonly refundAuthority: Address;
    readonly maxFeeBps: number;
    readonly maxSlippageBps: number;
    readonly routes: Hex32;
    readonly flags: number;
  },
  destination: Destination,
): Commitment {
  return {
    integrator: toHex32(`0x${integrator.id.replaceAll("-", "").padStart(64, "0")}`),
    userId: padAddress(toAddress(destination.userId)),
    destChain: destination.destChain,
    destWallet: padAddress(destination.destWallet),
    destToken: padAddress(destination.destToken),
    refundAuthority: padAddress(integrator.refundAuthority),
    maxFeeBps: integrator.maxFeeBps,
    maxSlippageBps: integrator.maxSlippageBps,
    routes: integrator.routes,
    flags: integrator.flags,
  };
}

/** Converts a row to a deposit address. */
export function parseAddress(row: Selectable<AddressesTable>): DepositAddress {
  const destination: Destination = {
    userId: row.user_id,
    destChain: row.dest_chain,
    destWallet: toAddress(row.dest_wallet),
    destToken: toAddress(row.dest_token),
  };
  return {
    ...destination,
    id: row.id,
    integratorId: row.integrator_id,
    family: row.chain_family,
    proof: row.proof === null ? null : toHex(row.proof),
    wallet: toAddress(row.wallet),
    walletRoot: toAddress(row.factory),
    commitmentHash: toHex32(row.commitment),
    routeSet: row.route_set === null ? null : parseRouteSet(row.route_set),
    commitment: commitmentOf(
      {
        id: row.integrator_id,
        refundAuthority: toAddress(row.refund_authority),
        maxFeeBps: row.max_fee_bps,
        maxSlippageBps: row.max_slippage_bps,
        routes: toHex32(row.routes),
        flags: row.flags,
      },
      destination,
    ),
  };
}
