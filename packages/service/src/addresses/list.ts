/** Deposit addresses in the wire format: by page, by id, and as an export. */
import { implementationOf } from "@sluice/sdk/address";
import type {
  DepositAddress as ShownAddress,
  DepositAddressWithCommitment,
  PayDepositCommitment,
} from "@sluice/sdk/wire";
import { type Selectable, sql } from "kysely";
import { assert } from "../core/assert.ts";
import { COMMITMENT_VERSION, NO_ROUTE_SET, WALLET_KIND } from "../core/commitment.ts";
import { type Address, toAddress } from "../core/hex.ts";
import { compileOnce, type Places } from "../db/compiled.ts";
import type { AddressesTable, Db } from "../db/schema.ts";
import { parseAddress } from "./store.ts";
import type { DepositAddress } from "./types.ts";

/** Formats an address as on the wire, by its family. */
type Display = (address: Address) => string;

/** Filters of a page; undefined matches every address. */
export interface AddressFilter {
  readonly wallet?: Address | undefined;
  readonly userId?: string | undefined;
  readonly destChain?: number | undefined;
  readonly destToken?: Address | undefined;
  /** Issued at or after. */
  readonly from?: string | undefined;
  /** Issued before. */
  readonly to?: string | undefined;
}

/** Columns of a shown address. */
const SHOWN = [
  "id",
  "wallet",
  "user_id",
  "dest_chain",
  "dest_wallet",
  "dest_token",
  "chain_family",
  "created_at",
] as const;

type PageRow = Pick<Selectable<AddressesTable>, (typeof SHOWN)[number]>;

interface PageValues extends AddressFilter {
  readonly integratorId: string;
  readonly rows: number;
  readonly cursor: string | undefined;
}

/** Reads a page and one row more, which shows whether another page follows. */
const readPage = compileOnce((db, page: Places<PageValues>) => {
  const { wallet, userId, destChain, destToken, cursor, from, to } = page;
  let query = db
    .selectFrom("addresses")
    .select(SHOWN)
    .where("integrator_id", "=", page.integratorId)
    .orderBy("created_at", "desc")
    .limit(page.rows);
  if (cursor !== undefined) query = query.where("created_at", "<", cursor);
  if (wallet !== undefined) query = query.where("wallet", "=", wallet);
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (destChain !== undefined) query = query.where("dest_chain", "=", destChain);
  if (destToken !== undefined) query = query.where("dest_token", "=", destToken);
  if (from !== undefined) query = query.where("created_at", ">=", from);
  if (to !== undefined) query = query.where("created_at", "<", to);
  return query;
});

/** Returns a page of an integrator's deposit addresses, newest first, strictly older than `cursor`. */
export async function listAddresses(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly filter?: AddressFilter | undefined;
    readonly display: Display;
  },
): Promise<{ items: ShownAddress[]; nextCursor: string | null }> {
  const { limit, cursor, filter } = page;
  const rows = await readPage(db, { ...filter, integratorId, rows: limit + 1, cursor });
  const items = rows.slice(0, limit).map((row) => showAddress(row, page.display));
  const more = rows.length > limit;
  return { items, nextCursor: more ? (items.at(-1)?.createdAt ?? null) : null };
}

/** Returns an integrator's address with its preimage, or null if it has none with this id. Never another integrator's. */
export async function findAddress(
  db: Db,
  integratorId: string,
  { id, display }: { readonly id: string; readonly display: Display },
): Promise<DepositAddressWithCommitment | null> {
  const row = await selectWithNotes(db)
    .where("integrator_id", "=", integratorId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? showWithCommitment(row, display) : null;
}

/** Returns addresses with their notes and preimages, in the order of the ids. @throws Error if one does not exist. */
export async function listIssued(
  db: Db,
  { ids, display }: { readonly ids: readonly string[]; readonly display: Display },
): Promise<readonly DepositAddressWithCommitment[]> {
  const rows = await selectWithNotes(db)
    .where("id", "=", sql<string>`any(${[...new Set(ids)]}::uuid[])`)
    .execute();
  const shown = new Map(rows.map((row) => [row.id, showWithCommitment(row, display)]));
  return ids.map((id) => {
    const address = shown.get(id);
    assert(address, "an issued address exists");
    return address;
  });
}

/** Rows per query of an export. */
const EXPORT_PAGE = 1_000;

/** Yields every address of one or all integrators with its preimage, ordered by id. Reads pages, so memory is bounded. */
export async function* iterateAddresses(
  db: Db,
  {
    integratorId,
    display,
  }: { readonly integratorId: string | undefined; readonly display: Display },
): AsyncGenerator<DepositAddressWithCommitment, void> {
  // By id, not by time: addresses that are issued during the export cannot shift its pages.
  let after: string | undefined;
  do {
    let query = selectWithNotes(db).orderBy("id").limit(EXPORT_PAGE);
    if (integratorId !== undefined) query = query.where("integrator_id", "=", integratorId);
    if (after !== undefined) query = query.where("id", ">", after);
    const rows = await query.execute();
    for (const row of rows) yield showWithCommitment(row, display);
    after = rows.length === EXPORT_PAGE ? rows.at(-1)?.id : undefined;
  } while (after !== undefined);
}

function selectWithNotes(db: Db) {
  return db
    .selectFrom("addresses")
    .leftJoin("address_notes", "address_notes.address_id", "addresses.id")
    .selectAll("addresses")
    .select(["address_notes.label", "address_notes.metadata"]);
}

type RowWithNotes = Awaited<ReturnType<ReturnType<typeof selectWithNotes>["execute"]>>[number];

function showAddress(row: PageRow, display: Display): ShownAddress {
  const show = (text: string) => display(toAddress(text));
  return {
    id: row.id,
    walletAddress: show(row.wallet),
    userId: row.user_id,
    destChain: String(row.dest_chain),
    destWallet: show(row.dest_wallet),
    destToken: show(row.dest_token),
    chainType: row.chain_family,
    createdAt: row.created_at,
  };
}

function showWithCommitment(row: RowWithNotes, display: Display): DepositAddressWithCommitment {
  const { label, metadata } = row;
  const payDepositCommitment = formatCommitment(parseAddress(row), display);
  return { ...showAddress(row, display), label, metadata: { ...metadata }, payDepositCommitment };
}

/**
 * Formats the preimage of an address for the wire. On EVM chains anybody can derive the address from these fields. On Solana
 * anybody can verify it: `factory` is the signer's account and `binding` its signature.
 */
export function formatCommitment(address: DepositAddress, display: Display): PayDepositCommitment {
  const { commitment } = address;
  return {
    version: COMMITMENT_VERSION,
    walletKind: WALLET_KIND,
    integrator: commitment.integrator,
    userId: commitment.userId,
    destChain: commitment.destChain,
    destWallet: commitment.destWallet,
    destToken: commitment.destToken,
    refundAuthority: commitment.refundAuthority,
    maxFeeBps: commitment.maxFeeBps,
    maxSlippageBps: commitment.maxSlippageBps,
    // Absent where they are zero: the published object has neither.
    ...(commitment.routes === NO_ROUTE_SET ? {} : { routes: commitment.routes }),
    ...(commitment.flags === 0 ? {} : { flags: commitment.flags }),
    ...(address.routeSet === null
      ? {}
      : {
          routeSet: address.routeSet.map(({ evmChainId, route }) => ({
            evmChainId,
            route: display(route),
          })),
        }),
    factory: display(address.walletRoot),
    ...(address.proof === null ? { implementation: implementationOf(address.walletRoot) } : {}),
    commitment: address.commitmentHash,
    ...(address.proof === null ? {} : { binding: address.proof }),
  };
}
