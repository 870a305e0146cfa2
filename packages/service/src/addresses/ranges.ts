/** Lists wallets of many integrators in ranges of addresses, each range with one probe of an index. */
import { sql } from "kysely";
import type { ChainKind } from "../core/chain-registry.ts";
import { type Address, toAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";

/** All wallets of a family, or the fresh ones of a chain. */
export type WalletList =
  | { readonly name: "all"; readonly family: ChainKind }
  | { readonly name: "fresh"; readonly chainId: number };

/** Addresses of one integrator, compared bytewise. */
export interface WalletRange {
  readonly integratorId: string;
  /** Exclusive; empty for the start. */
  readonly after: string;
  /** Inclusive. */
  readonly until: string;
}

/** Returns the first wallets of each range, at most `limit`, in order: one list for each range. */
export async function listInRanges(
  db: Db,
  list: WalletList,
  { ranges, limit }: { readonly ranges: readonly WalletRange[]; readonly limit: number },
): Promise<Address[][]> {
  const table =
    list.name === "all"
      ? sql`addresses where chain_family = ${list.family}`
      : sql`fresh_wallets where chain_id = ${list.chainId}`;
  const { rows } = await sql<{ nr: string; wallet: string }>`
    select ranges.nr, found.wallet
      from unnest(
        ${ranges.map(({ integratorId }) => integratorId)}::uuid[],
        ${ranges.map(({ after }) => after)}::text[],
        ${ranges.map(({ until }) => until)}::text[]
      ) with ordinality as ranges (integrator_id, after, until, nr)
      cross join lateral (
        select wallet from ${table} and integrator_id = ranges.integrator_id
          and wallet collate "C" > ranges.after and wallet collate "C" <= ranges.until
          order by wallet collate "C" limit ${limit}
      ) as found
      order by ranges.nr, found.wallet collate "C"`.execute(db);
  const found = ranges.map((): Address[] => []);
  for (const { nr, wallet } of rows) found[Number(nr) - 1]?.push(toAddress(wallet));
  return found;
}
