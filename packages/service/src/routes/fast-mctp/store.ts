import { expressionBuilder, type Selectable, sql } from "kysely";
import type { ErrorObject } from "@sluice/sdk/wire";
import { assert } from "../../core/assert.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  toAddress,
  toHex32,
  toTxHash,
  type TxHash,
} from "../../core/hex.ts";
import type { Random } from "../../core/ports.ts";
import { createDueRows, dueFrom } from "../../jobs/due.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Stamp } from "../../db/columns.ts";
import { literals } from "../../db/literals.ts";
import type { BridgeTransfersTable, Database, Db, Tx } from "../../db/schema.ts";
import { mayMove, OPEN_STATES, type BridgeTransferState } from "./lifecycle.ts";

/** A burn on the source chain, as its receipt shows it. */
export interface Burn {
  readonly settlementId: string;
  readonly srcChain: number;
  readonly txHash: TxHash;
  readonly block: bigint;
  readonly wallet: Address;
  readonly token: Address;
  /** Route fee, in base units of the deposited token. */
  readonly fee: bigint;
  /** Input of the pool swap that supplied the burned amount; null if the deposited token was burned. */
  readonly swapped: { readonly token: Address; readonly amount: bigint } | null;
  readonly amount: bigint;
  /** The message as emitted. */
  readonly message: Hex;
  readonly minOut: bigint;
  readonly destChain: number;
  readonly destToken: Address;
  readonly destWallet: Address;
}

/** A message with the signatures of Circle's attesters. */
export interface Attested {
  readonly nonce: Hex32;
  readonly message: Hex;
  readonly attestation: Hex;
}

/** A burn and its progress. */
export interface Transfer {
  readonly id: string;
  readonly state: BridgeTransferState;
  readonly version: number;
  readonly burn: Burn;
  /** Kept when the attestation expires. */
  readonly nonce: Hex32 | null;
  readonly attested: Attested | null;
  readonly delayReason: string | null;
  readonly reattests: number;
  readonly reattestedAtMs: number | null;
  readonly relays: number;
  readonly mint: Mint | null;
  readonly error: ErrorObject | null;
  readonly createdAtMs: number;
  /** When it is polled next, as it was read. */
  readonly nextCheckAt: Stamp;
}

/** A mint, as the service's own reader saw it on the destination. */
export interface Mint {
  readonly txHash: TxHash;
  readonly amount: bigint;
  readonly fee: bigint;
}

/**
 * Records a mined burn. The same burn in another block keeps its transfer. A burn with another message supersedes the
 * transfer, because the first attestation does not apply to it.
 */
export async function recordBurn(
  tx: Tx,
  deps: { readonly random: Random; readonly nowMs: number },
  burn: Burn,
): Promise<void> {
  const known = await lockOfSettlement(tx, burn.settlementId);
  if (known?.burn.message === burn.message && known.burn.txHash === burn.txHash) {
    await tx
      .updateTable("bridge_transfers")
      .set({ ...takenOf(burn), burn_block: burn.block, next_check_at: dueFrom(deps.nowMs) })
      .where("id", "=", known.id)
      .execute();
    return;
  }
  if (known) {
    const superseded = await updateTransfer(tx, known, { state: "superseded" });
    assert(superseded, "a locked transfer keeps its version");
  }
  await tx
    .insertInto("bridge_transfers")
    .values({
      id: deps.random.uuid(),
      settlement_id: burn.settlementId,
      state: "burned",
      src_chain: burn.srcChain,
      burn_tx_hash: burn.txHash,
      burn_block: burn.block,
      wallet: burn.wallet,
      token: burn.token,
      ...takenOf(burn),
      burned_amount: burn.amount,
      sent_message: burn.message,
      dest_chain: burn.destChain,
      dest_token: burn.destToken,
      dest_wallet: burn.destWallet,
      next_check_at: formatStamp(deps.nowMs),
    })
    .execute();
}

/** Columns of a sweep that may differ when the same message is mined in another block. */
function takenOf({ fee, swapped, minOut }: Burn) {
  return {
    fee,
    token_in: swapped?.token ?? null,
    amount_in: swapped?.amount ?? null,
    min_out: minOut,
  };
}

export async function getBridgeTransfer(db: Db | Tx, id: string): Promise<Transfer | null> {
  const row = await db
    .selectFrom("bridge_transfers")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? parseTransfer(row) : null;
}

/** Finds the transfer of a settlement's current burn. */
export async function findOfSettlement(
  db: Db | Tx,
  settlementId: string,
): Promise<Transfer | null> {
  const row = await db
    .selectFrom("bridge_transfers")
    .selectAll()
    .where("settlement_id", "=", settlementId)
    .where("state", "<>", "superseded")
    .executeTakeFirst();
  return row ? parseTransfer(row) : null;
}

async function lockOfSettlement(tx: Tx, settlementId: string): Promise<Transfer | null> {
  const row = await tx
    .selectFrom("bridge_transfers")
    .selectAll()
    .where("settlement_id", "=", settlementId)
    .where("state", "<>", "superseded")
    .forUpdate()
    .executeTakeFirst();
  return row ? parseTransfer(row) : null;
}

/** Name of the queue of transfers. */
export const TRANSFERS = "transfers";

/** Transfers that have not ended, by destination. */
export const dueTransfers = createDueRows({
  table: "bridge_transfers",
  chain: "dest_chain",
  queue: sql`${TRANSFERS}`,
  isOpen: expressionBuilder<Database, "bridge_transfers">()("state", "in", literals(OPEN_STATES)),
});

/** Makes the transfers of settlements due, in the transaction that records the events they waited for. */
export const wakeOfSettlements = (tx: Tx, settlementIds: readonly string[], nowMs: number) =>
  dueTransfers.wake(tx, "settlement_id", settlementIds, nowMs);

/** Updates a transfer if its version is unchanged; returns false otherwise. */
export async function updateTransfer(
  tx: Db | Tx,
  transfer: Pick<Transfer, "id" | "version" | "state">,
  change: {
    readonly state?: BridgeTransferState;
    readonly attested?: Attested;
    readonly delayReason?: string | null;
    readonly reattests?: number;
    readonly reattestedAtMs?: number;
    readonly relays?: number;
    readonly mint?: Mint | null;
    readonly error?: ErrorObject | null;
  },
): Promise<boolean> {
  const { state, attested, mint } = change;
  if (state !== undefined) {
    const { state: from } = transfer;
    assert(mayMove(from, state), `a transfer may go from ${from} to ${state}`);
  }
  const result = await tx
    .updateTable("bridge_transfers")
    .set({
      version: transfer.version + 1,
      ...(state && { state }),
      ...(attested && {
        nonce: attested.nonce,
        attested_message: attested.message,
        attestation: attested.attestation,
      }),
      ...(change.delayReason !== undefined && { delay_reason: change.delayReason }),
      ...(change.reattests !== undefined && { reattests: change.reattests }),
      ...(change.reattestedAtMs !== undefined && {
        reattested_at: formatStamp(change.reattestedAtMs),
      }),
      ...(change.relays !== undefined && { relays: change.relays }),
      ...(mint !== undefined && {
        mint_tx_hash: mint?.txHash ?? null,
        delivered_amount: mint?.amount ?? null,
        bridge_fee: mint?.fee ?? null,
      }),
      ...(change.error !== undefined && {
        trouble: change.error === null ? null : JSON.stringify(change.error),
      }),
    })
    .where("id", "=", transfer.id)
    .where("version", "=", transfer.version)
    .where("state", "=", transfer.state)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

function parseTransfer(row: Selectable<BridgeTransfersTable>): Transfer {
  const { nonce, attested_message: message, attestation } = row;
  const { token_in: tokenIn, amount_in: amountIn } = row;
  const { mint_tx_hash: mintTxHash, delivered_amount: delivered, bridge_fee: bridgeFee } = row;
  return {
    id: row.id,
    // CAST: the column's check constraint allows only these.
    state: row.state as BridgeTransferState,
    version: row.version,
    burn: {
      settlementId: row.settlement_id,
      srcChain: row.src_chain,
      txHash: toTxHash(row.burn_tx_hash),
      block: row.burn_block,
      wallet: toAddress(row.wallet),
      token: toAddress(row.token),
      fee: BigInt(row.fee),
      swapped:
        tokenIn === null || amountIn === null
          ? null
          : { token: toAddress(tokenIn), amount: BigInt(amountIn) },
      amount: BigInt(row.burned_amount),
      message: toBytes(row.sent_message),
      minOut: BigInt(row.min_out),
      destChain: row.dest_chain,
      destToken: toAddress(row.dest_token),
      destWallet: toAddress(row.dest_wallet),
    },
    nonce: nonce === null ? null : toHex32(nonce),
    attested:
      nonce === null || message === null || attestation === null
        ? null
        : { nonce: toHex32(nonce), message: toBytes(message), attestation: toBytes(attestation) },
    delayReason: row.delay_reason,
    reattests: row.reattests,
    reattestedAtMs: row.reattested_at === null ? null : Date.parse(row.reattested_at),
    relays: row.relays,
    mint:
      mintTxHash === null || delivered === null || bridgeFee === null
        ? null
        : { txHash: toTxHash(mintTxHash), amount: BigInt(delivered), fee: BigInt(bridgeFee) },
    error: row.trouble,
    createdAtMs: Date.parse(row.created_at),
    nextCheckAt: row.next_check_at,
  };
}

function toBytes(text: string): Hex {
  // CAST: written from parsed bytes.
  return text as Hex;
}
