/** V12: blocks that were final are still on the chain. */
import { sql } from "kysely";
import type { Chain } from "../chains/port/index.ts";
import type { Db } from "../db/schema.ts";
import { type Finding, toFinding } from "./breaches.ts";

/** A final block as the scanner recorded it. */
interface FinalRow {
  readonly number: bigint;
  readonly hash: string;
}

export type FinalAudit =
  /** Not decidable: nothing final is scanned, or the node is behind it. */
  | { readonly kind: "unknown" }
  | {
      readonly kind: "agrees";
      readonly held: {
        readonly verdict: "final_block_replaced";
        readonly subjects: readonly string[];
      };
    }
  | {
      readonly kind: "replaced";
      readonly finding: Finding;
      /** The lowest recorded block that is not on the chain. */
      readonly lowest: FinalRow;
    };

/**
 * Compares the scanner's final blocks with the chain. A node that does not call the height final is only behind, and one
 * answer alone proves nothing, since the next one may come from another server: the replaced block is read twice.
 */
export async function auditFinal({
  db,
  chain,
}: {
  readonly db: Db;
  readonly chain: Chain;
}): Promise<FinalAudit> {
  const blocks = await listFinal(db, chain.chainId);
  const newest = blocks.at(-1);
  if (!newest || (await chain.getFinalBlock()).number < newest.number) return { kind: "unknown" };
  const isThere = async ({ number, hash }: FinalRow) => {
    const block = await chain.getBlock(number);
    return block === null ? null : block.hash === hash;
  };
  const seen = await isThere(newest);
  if (seen === null) return { kind: "unknown" };
  if (seen) return { kind: "agrees", held: await listHeld(db, chain.chainId, blocks) };
  // Linked by their parents, the blocks below a block of the chain are on the chain too.
  let [low, high] = [0, blocks.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const one = blocks[middle];
    if (one && (await isThere(one)) === true) low = middle + 1;
    else high = middle;
  }
  const lowest = blocks[low] ?? newest;
  const other = await chain.getBlock(lowest.number);
  if (other === null || other.hash === lowest.hash) return { kind: "unknown" };
  const fork = blocks[low - 1]?.number ?? null;
  return {
    kind: "replaced",
    lowest,
    finding: describe(chain.chainId, { lowest, newest, other, fork }),
  };
}

function describe(
  chainId: number,
  {
    lowest,
    newest,
    other,
    fork,
  }: {
    readonly lowest: FinalRow;
    readonly newest: FinalRow;
    readonly other: { readonly hash: string };
    /** Newest recorded block that is on the chain; null if it is below the scanner's window. */
    readonly fork: bigint | null;
  },
): Finding {
  return toFinding("final_block_replaced", {
    chainId,
    subject: lowest.hash,
    details: {
      first_replaced: `${lowest.number}`,
      last_final: `${newest.number}`,
      scanned: lowest.hash,
      on_chain: other.hash,
      fork:
        fork === null
          ? "below the scanner's window: it begins again at its start block"
          : `${fork}`,
    },
    repair: { kind: "rewind", above: `${lowest.number - 1n}`, hash: lowest.hash },
  });
}

/** Returns the window's final blocks, the lowest first. */
async function listFinal(db: Db, chainId: number): Promise<FinalRow[]> {
  const { rows } = await sql<FinalRow>`
    select number, hash from scanner_blocks b where chain_id = ${chainId}
       and number <= (select number from scanner_finality f where f.chain_id = b.chain_id)
     order by number`.execute(db);
  return rows.map(({ number, hash }) => ({ number: BigInt(number), hash }));
}

/** Returns the subjects of open breaches whose block is on the chain again. */
async function listHeld(db: Db, chainId: number, blocks: readonly FinalRow[]) {
  const { rows } = await sql<{ subject: string }>`
    select subject from breaches where chain_id = ${chainId} and verdict = 'final_block_replaced'
       and ended_at is null and held_since is null`.execute(db);
  const hashes = new Set(blocks.map(({ hash }) => hash));
  const subjects = rows.map(({ subject }) => subject).filter((subject) => hashes.has(subject));
  return { verdict: "final_block_replaced" as const, subjects };
}
