/** Audit of value that Circle's bridge carried. */
import { sql } from "kysely";
import type { Effect, FoundMint } from "../../chains/port/index.ts";
import { toHex32, toTxHash } from "../../core/hex.ts";
import {
  type Finding,
  mapAtOnce,
  readFinalPoint,
  type RouteAudit,
  type RouteAuditDeps,
  toFinding,
} from "../../ledger/index.ts";

interface FinalTransfer {
  readonly id: string;
  readonly settlement_id: string;
  readonly burn_tx_hash: string;
  readonly wallet: string;
  readonly token: string;
  readonly sent_message: string;
  readonly burned: string;
  readonly fee: string;
  /** Null if the sweep used no pool. */
  readonly token_in: string | null;
  readonly amount_in: string | null;
  readonly nonce: string;
  readonly paid: string;
  readonly bridge_fee: string;
  readonly min_out: string;
  readonly dest_chain: number;
  readonly dest_wallet: string;
  readonly dest_token: string;
  readonly created_at: string;
}

const TRANSFERS_AT_ONCE = 200;
/** How far a node may lag, in milliseconds. */
const LAG_MAX_MS = 3_600_000;

export const bridgeAudit: RouteAudit = {
  auditDelivered,
  inFlight: {
    followed: sql`select from bridge_transfers t where t.settlement_id = s.id
                   and t.state in ('burned', 'attested', 'delivered')`,
    shown: {
      name: "bridge",
      state: sql`select state from bridge_transfers
                  where h.own is not null and settlement_id = h.own and state <> 'superseded'`,
    },
  },
};

/**
 * Checks V5 for bridge transfers: each recorded delivery matches a burn on this chain with the recorded message, and a mint
 * to the committed wallet and token of at least the minimum, where burned = minted + bridge fee. If a pool supplied the
 * burned amount, the pool swap must match too. A transfer whose both sides are final is audited once.
 */
async function auditDelivered(
  { db, chain, chains, clock }: RouteAuditDeps,
  scope: "next" | "all",
): Promise<Finding[]> {
  const { rows } = await sql<FinalTransfer>`
    select t.id, t.settlement_id, t.burn_tx_hash, t.wallet, t.token, t.sent_message, t.burned_amount::text as burned, t.nonce,
           t.fee::text, t.token_in, t.amount_in::text,
           t.delivered_amount::text as paid, t.bridge_fee::text, t.min_out::text, a.dest_chain, a.dest_wallet,
           a.dest_token, t.created_at
      from bridge_transfers t join settlements s on s.id = t.settlement_id join addresses a on a.id = s.address_id
     where t.src_chain = ${chain.chainId} and t.state = 'final' and s.sweep_final
       and (not t.audited or ${scope === "all"})
       and a.dest_chain = any(${[...chains.keys()]}::int[])
     order by t.created_at limit ${scope === "all" ? null : TRANSFERS_AT_ONCE}`.execute(db);
  return mapAtOnce(rows, async (row) => {
    const faults = await compareTransfer({ chain, chains, clock }, row);
    if (faults === "unknown") return [];
    if (!faults.isMissing) {
      await db
        .updateTable("bridge_transfers")
        .set({ audited: true })
        .where("id", "=", row.id)
        .execute();
    }
    return faults.details.map((details) =>
      toFinding("bridge_differs", {
        chainId: chain.chainId,
        subject: row.settlement_id,
        details: { transfer: row.id, ...details },
      }),
    );
  });
}

interface Faults {
  /** Whether a side of the transfer is not on its chain, so that it is compared again. */
  readonly isMissing: boolean;
  readonly details: readonly Readonly<Record<string, string>>[];
}

/** Returns the differences between both sides of a transfer and its row; "unknown" where a node may be behind it. */
async function compareTransfer(
  { chain, chains, clock }: Pick<RouteAuditDeps, "chain" | "chains" | "clock">,
  row: FinalTransfer,
): Promise<Faults | "unknown"> {
  const destination = chains.get(row.dest_chain);
  if (!destination?.cctp) return "unknown";
  const burn = await chain.getReceipt(toTxHash(row.burn_tx_hash));
  const at = await readFinalPoint(destination);
  const mint = await destination.cctp.findMint(toHex32(row.nonce), at);
  if (!burn || !mint) {
    // This node may lag behind the node that saw the transaction, in a full audit too.
    if (clock.now() - Date.parse(row.created_at) <= LAG_MAX_MS) return "unknown";
    return { isMissing: true, details: [{ on_chain: burn ? "no such mint" : "no such burn" }] };
  }
  const details: Record<string, string>[] = [];
  const wasSent = burn.effects.some(
    (effect) => effect.kind === "message_sent" && effect.message === row.sent_message,
  );
  if (!wasSent) details.push({ on_chain: "no such message", burn: row.burn_tx_hash });
  if (
    row.token_in !== null &&
    !burn.effects.some((effect) => isSwapOf(row, effect, burn.effects))
  ) {
    details.push({ on_chain: "no such swap", burn: row.burn_tx_hash });
  }
  const is = show(mint);
  const want = `${row.paid} of ${row.dest_token} to ${row.dest_wallet}, less ${row.bridge_fee}`;
  if (is !== want) details.push({ recorded: want, on_chain: is });
  if (mint.amount < BigInt(row.min_out)) details.push({ below: row.min_out });
  if (mint.amount + mint.fee !== BigInt(row.burned)) {
    details.push({ burned: row.burned, on_chain: is });
  }
  return { isMissing: false, details };
}

/** Returns whether an effect is the recorded pool swap to the route, including the fee taken before it. */
function isSwapOf(row: FinalTransfer, effect: Effect, effects: readonly Effect[]): boolean {
  return (
    effect.kind === "swapped" &&
    effect.wallet === row.wallet &&
    effects.some(
      (other) =>
        other.kind === "settled" && other.wallet === row.wallet && other.route === effect.to,
    ) &&
    effect.tokenIn === row.token_in &&
    String(effect.amountIn) === row.amount_in &&
    String(effect.fee) === row.fee &&
    effect.tokenOut === row.token &&
    String(effect.amountOut) === row.burned
  );
}

function show({ amount, token, to, fee }: FoundMint): string {
  return `${amount} of ${token} to ${to}, less ${fee}`;
}
