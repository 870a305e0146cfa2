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

/** A request's words about an address. */
export interface NotesChange {
  readonly label?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** Returns whether a request has any words about an address. */
export function hasNotes({ label, metadata }: NotesChange = {}): boolean {
  return label !== undefined || metadata !== undefined;
}

/** Replaces the notes of addresses that a request has; those that it does not mention stay. */
export async function putNotes(
  db: Db | Tx,
  changes: readonly { readonly addressId: string; readonly notes: NotesChange | undefined }[],
): Promise<void> {
  // Of each form one statement: a change of one column must leave the other.
  for (const [hasLabel, hasMetadata] of FORMS) {
    const values = changes.flatMap(({ addressId, notes: { label, metadata } = {} }) =>
      (label !== undefined) === hasLabel && (metadata !== undefined) === hasMetadata
        ? [
            {
              address_id: addressId,
              label: label ?? null,
              metadata: JSON.stringify(metadata ?? {}),
            },
          ]
        : [],
    );
    if (values.length === 0) continue;
    const label = hasLabel ? sql<string>`excluded.label` : sql<string>`address_notes.label`;
    const metadata = hasMetadata
      ? sql<string>`excluded.metadata`
      : sql<string>`address_notes.metadata`;
    await db
      .insertInto("address_notes")
      .values(values)
      .onConflict((conflict) =>
        conflict
          .column("address_id")
          .doUpdateSet({ label, metadata, updated_at: sql<string>`clock_timestamp()` })
          // A repeated request writes nothing.
          .where(
            sql<boolean>`(address_notes.label, address_notes.metadata) is distinct from (${label}, ${metadata})`,
          ),
      )
      .execute();
  }
}

/** The forms of a change: whether it has a label, and whether it has metadata. */
const FORMS = [
  [true, false],
  [false, true],
  [true, true],
] as const;

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
