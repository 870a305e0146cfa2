/** The integrator's own words about its addresses. They change nothing of an address, and stand beside its row. */
import type { Metadata } from "@sluice/sdk/wire";
import { sql } from "kysely";
import type { Db, Tx } from "../db/schema.ts";

/** Label and metadata of an address. */
export interface AddressNotes {
  readonly label: string | null;
  readonly metadata: Metadata;
}

/** Notes of an address that was given none. */
export const NO_NOTES: AddressNotes = { label: null, metadata: {} };

/** Replaces what a request notes about an address; what it does not mention stays. */
export async function putNotes(
  db: Db | Tx,
  addressId: string,
  {
    label,
    metadata,
  }: { readonly label?: string | undefined; readonly metadata?: Metadata | undefined },
): Promise<void> {
  if (label === undefined && metadata === undefined) return;
  const change = {
    ...(label !== undefined && { label }),
    ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }),
  };
  await db
    .insertInto("address_notes")
    .values({ address_id: addressId, label: null, metadata: "{}", ...change })
    .onConflict((conflict) =>
      conflict
        .column("address_id")
        .doUpdateSet({ ...change, updated_at: sql<string>`clock_timestamp()` })
        // A repeated request writes nothing.
        .where(
          sql<boolean>`(address_notes.label, address_notes.metadata) is distinct from
            (${label === undefined ? sql`address_notes.label` : sql`excluded.label`},
             ${metadata === undefined ? sql`address_notes.metadata` : sql`excluded.metadata`})`,
        ),
    )
    .execute();
}

/** Returns the notes of addresses by their ids. Addresses without an entry were given none. */
export async function listNotes(
  db: Db | Tx,
  addressIds: readonly string[],
): Promise<ReadonlyMap<string, AddressNotes>> {
  const rows = await db
    .selectFrom("address_notes")
    .select(["address_id", "label", "metadata"])
    .where("address_id", "=", sql<string>`any(${[...new Set(addressIds)]}::uuid[])`)
    .execute();
  return new Map(rows.map(({ address_id, label, metadata }) => [address_id, { label, metadata }]));
}
