/** Everything recorded about one settlement, for its integrator. */
import type {
  FinalityState,
  Settlement as SettlementReport,
  SettlementTransaction,
  TransactionPurpose,
} from "@sluice/sdk/wire";
import { isTerminal } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { getAddressById } from "../addresses/index.ts";
import { displayTxHash } from "../core/base58.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import {
  listDeliveries,
  listTransfers,
  type ShownDelivery,
  type ShownTransfer,
} from "../routes/index.ts";
import { listTransactions, type ShownTransaction } from "../transactions/index.ts";
import { readDetails } from "./details.ts";
import { findSwap } from "./list.ts";
import { itemiseOf } from "./operator/file.ts";
import { findOpenRefund } from "./operator/refunds.ts";
import { getError, getSettlement } from "./store/read.ts";
import { countConfirmations, findWaitReason, type Heights } from "./wait-reason.ts";

/** Transactions of a report at most: a settlement has few, and the newest say most. */
const TRANSACTIONS_MAX = 100;
/** Newest settlements that an estimate considers, and those of the same route that it uses. */
const CONSIDERED_MAX = 200;
const SAMPLE_MAX = 20;

/** Returns the report of a settlement; null for an unknown id and for another integrator's settlement alike. */
export async function readReport(
  db: Db,
  integratorId: string,
  args: {
    readonly id: string;
    readonly display: (address: Address) => string;
    /** Returns the heights of chains; those that nobody reads are absent. */
    readonly readHeights: (
      db: Db,
      chainIds: readonly number[],
    ) => Promise<ReadonlyMap<number, Heights>>;
  },
): Promise<SettlementReport | null> {
  const { id, display } = args;
  // One snapshot: the service keeps writing while the report is read.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (tx) => {
      const swap = await findSwap(tx, integratorId, { id, display });
      const settlement = swap && (await getSettlement(tx, id));
      if (!settlement) return null;
      const { details, rows } = await readDetails(tx, id, display);
      const address = await getAddressById(tx, settlement.addressId);
      const transactions = (await listTransactions(tx, id)).slice(-TRANSACTIONS_MAX);
      const [deliveries, transfers] = [await listDeliveries(tx, id), await listTransfers(tx, id)];
      const destChain = address.destChain;
      const heights = await args.readHeights(tx, [settlement.chainId, destChain]);
      const openRefund = await findOpenRefund(tx, settlement);
      const retryAt =
        settlement.retryAtMs === null ? null : new Date(settlement.retryAtMs).toISOString();
      const error = await getError(tx, id);
      const { chainId } = settlement;
      const planned = itemiseOf(settlement, address);
      const facts = { settlement, error, retryAt, transactions, deliveries, transfers, openRefund };
      return {
        ...swap,
        depositAddressId: details.depositAddressId,
        label: details.label,
        metadata: details.metadata,
        deposits: details.deposits,
        moreDeposits: details.moreDeposits,
        route: details.route,
        tier: deliveries.findLast((lock) => lock.id === settlement.deliveryId)?.paidAtDepth ?? null,
        sweptAmount: settlement.sweptAmount?.toString() ?? null,
        promisedAmount: details.promisedAmount,
        deliveredAmount: details.deliveredAmount,
        deliveryTxHash: details.deliveryTxHash,
        plannedFees: planned && {
          service: planned.service.toString(),
          gas: planned.gas.toString(),
          bridge: planned.bridge.toString(),
        },
        fees: details.fees,
        transactions: [
          ...rows.flatMap(({ tx_hash, block_number }) =>
            tx_hash === null ? [] : [describeDeposit(tx_hash, block_number)],
          ),
          ...transactions.map(describeTransaction),
          ...describeOthers(),
        ],
        waiting: findWaitReason({ ...facts, destChain, heights }),
        estimate: isTerminal(settlement.status)
          ? null
          : await estimate(tx, integratorId, { chainId, route: details.route }),
      };

      function describeDeposit(txHash: string, block: string): SettlementTransaction {
        return {
          purpose: "deposit",
          chainId,
          txHash: displayTxHash(txHash),
          state: "mined",
          succeeded: true,
          ...judge(heights.get(chainId), BigInt(block)),
        };
      }

      function describeTransaction(transaction: ShownTransaction): SettlementTransaction {
        const { minedHash, minedBlock, state, attempts } = transaction;
        const hash = minedHash ?? attempts.at(-1)?.hash ?? null;
        const isMined = state === "mined" || state === "final";
        const block = isMined ? minedBlock : null;
        const known = judge(heights.get(transaction.chainId), block);
        return {
          purpose: purposeOf(transaction.intent),
          chainId: transaction.chainId,
          txHash: hash && displayTxHash(hash),
          state: isMined
            ? "mined"
            : state === "abandoned"
              ? "abandoned"
              : attempts.length > 0
                ? "sent"
                : "queued",
          succeeded: transaction.succeeded,
          ...known,
          // The lane follows its transactions by itself, also on chains that are not scanned.
          finality: state === "final" ? "final" : block === null ? "seen" : "confirming",
        };
      }

      /** Returns the payments that others made: anybody can submit a bridge message, or pay in an earlier release. */
      function describeOthers(): SettlementTransaction[] {
        const ours = new Set(transactions.map(({ minedHash }) => minedHash));
        const paid = (
          hash: string | null,
          purpose: TransactionPurpose,
          isFinal: boolean,
        ): SettlementTransaction[] =>
          hash === null || ours.has(hash)
            ? []
            : [
                {
                  purpose,
                  chainId: destChain,
                  txHash: displayTxHash(hash),
                  state: "mined",
                  succeeded: true,
                  finality: isFinal ? "final" : "confirming",
                  confirmations: null,
                  confirmationsRequired: null,
                },
              ];
        return [
          ...deliveries.flatMap((lock: ShownDelivery) =>
            paid(lock.deliveredTxHash, "delivery", lock.state === "claimed"),
          ),
          ...transfers.flatMap((transfer: ShownTransfer) =>
            paid(transfer.mintTxHash, "bridge_message", transfer.state === "final"),
          ),
        ];
      }
    });
}

const PURPOSES: Readonly<Record<string, TransactionPurpose>> = {
  deploy: "deployment",
  sweep: "sweep",
  mint: "bridge_message",
  deliver: "delivery",
  claim: "claim",
  return: "return",
  refund: "refund",
};

function purposeOf(intent: string): TransactionPurpose {
  const purpose = PURPOSES[intent.split(":")[0] ?? ""];
  if (purpose === undefined) throw new RangeError(`expected an intent of a settlement: ${intent}`);
  return purpose;
}

/** Returns how far a block is from final; null for a transaction without one. */
function judge(heights: Heights | undefined, block: bigint | null) {
  if (block === null) {
    return { finality: "seen" as const, confirmations: null, confirmationsRequired: null };
  }
  const { confirmations, required } = countConfirmations(heights, block);
  const isFinal = heights?.final !== undefined && heights.final !== null && block <= heights.final;
  const finality: FinalityState = isFinal ? "final" : "confirming";
  return { finality, confirmations, confirmationsRequired: required };
}

/** Estimates from the newest completed settlements of the integrator from a chain by a route; null without any. */
async function estimate(
  db: Db,
  integratorId: string,
  { chainId, route }: { readonly chainId: number; readonly route: string | null },
): Promise<SettlementReport["estimate"]> {
  const { rows } = await sql<{ seconds: number | null; sample: number }>`
    select percentile_cont(0.5) within group (order by seconds)::float8 as seconds, count(*)::int as sample from (
      select extract(epoch from t.at - newest.created_at)::float8 as seconds from (
        select id, route, created_at, status, version from settlements
        where integrator_id = ${integratorId}::uuid and chain_id = ${chainId}
        order by created_at desc limit ${CONSIDERED_MAX}
      ) newest
      join settlement_transitions t on t.settlement_id = newest.id and t.version = newest.version
      where newest.status = 'completed' and (${route}::text is null or newest.route = ${route}::text)
        and t.to_status = 'completed'
      order by newest.created_at desc limit ${SAMPLE_MAX}
    ) taken`.execute(db);
  const [row] = rows;
  if (!row || row.seconds === null) return null;
  const seconds = Math.max(0, Math.round(row.seconds));
  return { seconds, basis: "recent_settlements", sample: row.sample };
}
