/** Ends breaches on an operator's command, and applies their repairs. */
import { sql } from "kysely";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";
import { listBalances } from "./accounts.ts";
import { type Breach, listBreaches, type Repair } from "./breaches.ts";
import { lockCursor } from "./scanned.ts";

/** Dependencies of ending a breach. */
export interface EndDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Moves a lane forward to a nonce of the chain; does nothing when the lane is there already. */
  readonly adoptNonce: (
    tx: Tx,
    lane: { readonly chainId: number; readonly address: Address },
    nonce: number,
  ) => Promise<void>;
  /** Ends a delivery whose lock the escrow ended without a claim. */
  readonly endLock: (
    tx: Tx,
    end: { readonly delivery: string; readonly state: string; readonly height: bigint },
  ) => Promise<void>;
  /** Opens transactions and sweeps above a height again, which are no longer certain to be final. */
  readonly reopenAbove: (
    tx: Tx,
    above: { readonly chainId: number; readonly height: bigint },
  ) => Promise<void>;
}

/**
 * Ends a breach and applies its repair, in one transaction. Nothing is repaired where the compared values agree again. An
 * invariant that is still violated opens another breach at the next audit. Returns false when no open breach has the id.
 */
export async function endBreach(
  deps: EndDeps,
  end: { readonly id: string; readonly operator: string; readonly reason: string },
): Promise<boolean> {
  return deps.db.transaction().execute(async (tx) => {
    const open = await listBreaches(tx);
    const breach = open.find(({ id }) => id === end.id);
    if (!breach) return false;
    const { numUpdatedRows } = await tx
      .updateTable("breaches")
      .set({
        ended_at: formatStamp(deps.clock.now()),
        ended_by: end.operator,
        end_reason: end.reason,
      })
      .where("id", "=", BigInt(end.id))
      .where("ended_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) return false;
    if (breach.repair && breach.heldSince === undefined)
      await repair(tx, deps, breach, breach.repair);
    return true;
  });
}

async function repair(tx: Tx, deps: EndDeps, breach: Breach, wanted: Repair): Promise<void> {
  const { chainId } = breach;
  switch (wanted.kind) {
    case "adopt_nonce":
      return deps.adoptNonce(tx, { chainId, address: wanted.lane }, wanted.nonce);
    case "end_lock":
      return deps.endLock(tx, { ...wanted, height: BigInt(wanted.height) });
    case "rewind":
      return deps.reopenAbove(tx, { chainId, height: BigInt(wanted.above) });
    case "write_off":
      return writeOff(tx, breach, wanted);
  }
}

/**
 * Writes off the missing amount: of a wallet, the books' excess over the balance that the breach names, since deposits and
 * outflows may have been recorded meanwhile; of transit, no more than is still there at the newest scanned block.
 */
async function writeOff(
  tx: Tx,
  { id, chainId, details }: Breach,
  wanted: Repair & { readonly kind: "write_off" },
): Promise<void> {
  const { account, owner, token, block } = wanted;
  await lockCursor(tx, chainId, "alone");
  let amount = BigInt(wanted.amount);
  if (account === "wallet" && details.chain !== undefined) {
    const at = { chainId, account, wallets: [owner], block: BigInt(block) };
    const booked = (await listBalances(tx, at)).find((one) => one.token === token)?.amount ?? 0n;
    amount = booked - BigInt(details.chain);
  }
  if (account === "transit") {
    const { rows } = await sql<{ amount: string }>`
      select coalesce(sum(amount), 0)::text as amount from ledger_lines
       where chain_id = ${chainId} and account = 'transit' and owner = ${owner} and token = ${token}
         and block_number <= greatest(${block}::bigint,
           (select max(number) from scanner_blocks where chain_id = ${chainId}))`.execute(tx);
    amount = nearerToZero(amount, BigInt(rows[0]?.amount ?? "0"));
  }
  await sql`select post_move('adjustment', ${`breach:${id}`}, ${chainId}, ${token}, ${block}::bigint,
    ${account}, ${owner}, 'external', '', ${`${amount}`}::numeric)`.execute(tx);
}

/** Returns the smaller of two amounts of one sign; zero where their signs differ. */
function nearerToZero(one: bigint, other: bigint): bigint {
  if (one > 0n !== other > 0n) return 0n;
  const isNearer = one > 0n ? one < other : one > other;
  return isNearer ? one : other;
}
