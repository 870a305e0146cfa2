/** Audit of value that Circle's bridge carried. */
import { sql } from "kysely";
import type { Effect, FoundMint } from "../../chains/port/index.ts";
import { formatStamp } from "../../core/stamp.ts";
import { toHex32, toTxHash } from "../../core/hex.ts";
import {
  type Audited,
  auditInTurns,
  type Found,
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
  /** When the burn was recorded, in Unix milliseconds. */
  readonly seen_ms: number;
}

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
): Promise<Found> {
  const list = async (limit: number | null) => {
    const { rows } = await sql<FinalTransfer>`
    select t.id, t.settlement_id, t.burn_tx_hash, t.wallet, t.token, t.sent_message, t.burned_amount::text as burned, t.nonce,
           t.fee::text, t.token_in, t.amount_in::text,
           t.delivered_amount::text as paid, t.bridge_fee::text, t.min_out::text, a.dest_chain, a.dest_wallet,
           a.dest_token, extract(epoch from t.created_at)::float8 * 1000 as seen_ms
      from bridge_transfers t join settlements s on s.id = t.settlement_id join addresses a on a.id = s.address_id
     where t.src_chain = ${chain.chainId} and t.state = 'final' and s.sweep_final
       and (${scope === "all"} or not t.audited and (t.audit_again_at is null or t.audit_again_at <= ${formatStamp(clock.now())}))
       and a.dest_chain = any(${[...chains.keys()]}::int[])
     order by t.audit_again_at nulls first, t.created_at limit ${limit}`.execute(db);
    return rows;
  };
  const record = (ids: readonly string[], change: Audited) =>
    db
      .updateTable("bridge_transfers")
      .set(change)
      .where(sql<boolean>`id = any(${ids}::uuid[])`)
      .where("audited", "=", false)
      .execute();
  async function compare(row: FinalTransfer) {
    const faults = await compareTransfer({ chain, chains, clock }, row);
    if (faults === "unknown") return { findings: [], isProved: false };
    const findings = faults.map((details) =>
      toFinding("bridge_differs", {
        chainId: chain.chainId,
        subject: row.settlement_id,
        details: { transfer: row.id, ...details },
      }),
    );
    return { findings, isProved: faults.length === 0 };
  }
  return auditInTurns({ clock }, { list, scope, compare, record });
}

type Faults = readonly Readonly<Record<string, string>>[];

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
    if (clock.now() - row.seen_ms <= LAG_MAX_MS) return "unknown";
    return [{ on_chain: burn ? "no such mint" : "no such burn" }];
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
  return details;
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
