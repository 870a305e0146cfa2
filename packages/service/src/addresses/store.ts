/**
 * The table of deposit addresses. It holds every field of a commitment's preimage: wallets store nothing, so without these
 * fields nobody can settle or refund a deposit. The commitment is built from the columns at each read and compared with
 * the stored hash by `assertDerived`.
 */
import { type Selectable, sql } from "kysely";
import { assert } from "../core/assert.ts";
import { gather } from "../db/gather.ts";
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

/** A user and destination with terms, of a family of source chains. Absent terms match any. */
export interface AddressQuery {
  readonly family: ChainKind;
  readonly destination: Destination;
  readonly terms: AddressTerms;
}

/** Returns for each user and destination the oldest address that was issued with these terms, or null. One statement. */
export async function listByDestinations(
  db: Db | Tx,
  integratorId: string,
  asked: readonly AddressQuery[],
): Promise<readonly (DepositAddress | null)[]> {
  const columnOf = (pick: (query: AddressQuery) => unknown) => asked.map((query) => pick(query));
  const wanted = sql<{ place: bigint }>`unnest(
    ${columnOf(({ family }) => family)}::text[],
    ${columnOf(({ destination }) => destination.userId)}::text[],
    ${columnOf(({ destination }) => destination.destChain)}::integer[],
    ${columnOf(({ destination }) => destination.destWallet)}::text[],
    ${columnOf(({ destination }) => destination.destToken)}::text[],
    ${columnOf(({ terms }) => (terms.routes === undefined ? null : terms.routes === "fixed"))}::boolean[],
    ${columnOf(({ terms }) => (terms.unattended === undefined ? null : terms.unattended ? UNATTENDED : 0))}::integer[]
  ) with ordinality as wanted (family, user_id, dest_chain, dest_wallet, dest_token, fixed, flags, place)`;
  const { rows } = await sql<Selectable<AddressesTable> & { readonly place: bigint }>`
    select found.*, wanted.place from ${wanted}
    cross join lateral (
      select * from addresses
      where integrator_id = ${integratorId}::uuid and chain_family = wanted.family
        and user_id = wanted.user_id and dest_chain = wanted.dest_chain
        and dest_wallet = wanted.dest_wallet and dest_token = wanted.dest_token
        and (wanted.fixed is null or fixed = wanted.fixed) and (wanted.flags is null or flags = wanted.flags)
      order by created_at limit 1
    ) found`.execute(db);
  const found = new Map(rows.map((row) => [Number(row.place), parseAddress(row)]));
  return asked.map((_, index) => found.get(index + 1) ?? null);
}

/** Inserts addresses of an integrator, in one statement. Leaves out those that a concurrent request issued. */
export async function insertAddresses(
  tx: Tx,
  integratorId: string,
  addresses: readonly DepositAddress[],
): Promise<void> {
  // `created_at` is the cursor of `GET /deposit-addresses`: unique, and increasing in commit order.
  await lockStamps(tx, integratorId);
  await tx
    .insertInto("addresses")
    .values(
      addresses.map((address, index) => ({
        id: address.id,
        integrator_id: integratorId,
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
          where integrator_id = ${integratorId} order by created_at desc limit 1))
          + ${index}::integer * interval '1 millisecond'`,
      })),
    )
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
  const address = await findById(db, id);
  assert(address !== null, "an address that is referred to exists");
  return address;
}

const findById = gather(async (db, ids: readonly string[]) => {
  const rows = await db
    .selectFrom("addresses")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
  return rows.map((row) => [row.id, row] as const);
}, parseAddress);

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
