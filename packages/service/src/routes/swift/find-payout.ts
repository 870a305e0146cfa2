/**
 * Finds the transaction of a payout, which the attestor needs as evidence for the claim.
 *
 * The settler's own transactions are tried first: one receipt proves a payout however old it is. A payout by another
 * process or before the restore of a backup is in none of them. Then the blocks in which the contract can have paid are
 * searched in parts, from the time of the lock on and from the end of the payout window back, two parts per poll. The
 * progress is a row, so that the search ends also where a node gives ten blocks per request and restarts are frequent.
 */
import type { FoundDelivery, PayoutSearch } from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { listMinedHashes } from "../../transactions/index.ts";
import { chainOf, type DeliveryDeps, paidLockOf } from "./delivery-deps.ts";
import * as searches from "./payout-searches.ts";
import type { Search } from "./payout-searches.ts";
import type { Delivery } from "./store.ts";
import type { TxHash } from "../../core/hex.ts";

/** The most blocks of a part: 32 requests where a node gives ten blocks per request. */
const PART_BLOCKS_MAX = 320n;

/** Seconds by which the clocks of two chains may differ, in the first search; eight times as many in each further one. */
const FIRST_SLACK_S = 60n;
/** Four months. */
const SLACK_MAX_S = 10_485_760n;

/** Transactions that may have made a delivery's payout, the recorded one first. */
export async function listPayoutHints(
  { db }: Pick<DeliveryDeps, "db">,
  { settlementId, deliveredTxHash }: Pick<Delivery, "settlementId" | "deliveredTxHash">,
): Promise<TxHash[]> {
  const mined = await listMinedHashes(db, settlementId);
  return [...new Set([...(deliveredTxHash ? [deliveredTxHash] : []), ...mined])];
}

/**
 * Returns the payout of a delivery, null if the contract has made none, or "searching" while only its transaction is
 * missing: the next poll continues.
 */
export async function findPayout(
  deps: DeliveryDeps,
  delivery: Delivery,
): Promise<FoundDelivery | "searching" | null> {
  const destination = chainOf(deps, delivery.destChain);
  const hints = await listPayoutHints(deps, delivery);
  const found = await destination.findDelivery(paidLockOf(delivery), "latest", hints);
  const search = await searches.get(deps.db, delivery.id);
  if (found !== "unlocated") {
    if (search) await searches.remove(deps.db, delivery.id);
    return found;
  }
  const { payoutSearch } = destination;
  if (!payoutSearch) {
    throw new OperatingError("RPC_UNAVAILABLE", "The payout was made and is not found.", {
      details: { chainId: delivery.destChain, reason: "payout not located" },
    });
  }
  const paid = await continueSearch(
    deps,
    { delivery, payoutSearch },
    search ?? (await startSearch(deps, { delivery, payoutSearch }, 0)),
  );
  return paid ?? "searching";
}

interface Place {
  readonly delivery: Delivery;
  readonly payoutSearch: PayoutSearch;
}

/** Begins a search over the time in which the contract can have paid, longer by the slack of the round at both ends. */
async function startSearch(
  deps: DeliveryDeps,
  { delivery, payoutSearch }: Place,
  rounds: number,
): Promise<Search> {
  const { id, lockedAt } = delivery;
  const slackS = FIRST_SLACK_S * 8n ** BigInt(rounds);
  const extraS = slackS < SLACK_MAX_S ? slackS : SLACK_MAX_S;
  const firstLeft = await payoutSearch.findBlockAt(lockedAt - extraS);
  const end = await payoutSearch.findBlockAt(lockedAt + deps.payoutWindowS + extraS);
  const search = { firstLeft, lastLeft: end - 1n, partBlocks: PART_BLOCKS_MAX, rounds };
  await searches.write(deps.db, id, search);
  const facts = { deliveryId: id, from: `${firstLeft}`, to: `${search.lastLeft}`, rounds };
  deps.log.warn(facts, "payout made by an unknown transaction, searching its block");
  return search;
}

/** Searches one part from each end. Records the progress before it throws. */
async function continueSearch(
  deps: DeliveryDeps,
  place: Place,
  search: Search,
): Promise<FoundDelivery | null> {
  const { delivery, payoutSearch } = place;
  const { db } = deps;
  const paid = paidLockOf(delivery);
  let { firstLeft, lastLeft, partBlocks } = search;
  try {
    for (const end of ["first", "last"] as const) {
      if (firstLeft > lastLeft) break;
      const whole = lastLeft - firstLeft + 1n;
      const blocks = partBlocks < whole ? partBlocks : whole;
      const range =
        end === "first"
          ? { from: firstLeft, to: firstLeft + blocks - 1n }
          : { from: lastLeft - blocks + 1n, to: lastLeft };
      const found = await payoutSearch.findIn(paid, range);
      if (found) {
        // The next poll finds it in one part, until it is recorded and its receipt shows it.
        const block = { firstLeft: found.blockNumber, lastLeft: found.blockNumber };
        await searches.write(db, delivery.id, { ...search, ...block });
        return found;
      }
      if (end === "first") firstLeft += blocks;
      else lastLeft -= blocks;
    }
    const more = partBlocks + partBlocks / 8n + 1n;
    partBlocks = more < PART_BLOCKS_MAX ? more : PART_BLOCKS_MAX;
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const half = partBlocks / 2n;
    partBlocks = half > 0n ? half : 1n;
    await searches.write(db, delivery.id, { ...search, firstLeft, lastLeft, partBlocks });
    throw error;
  }
  if (firstLeft <= lastLeft) {
    await searches.write(db, delivery.id, { ...search, firstLeft, lastLeft, partBlocks });
    return null;
  }
  // The nodes left the event out, or a reorg moved it into a part that was searched before.
  deps.log.error({ deliveryId: delivery.id }, "payout not in any block searched, searching again");
  await startSearch(deps, place, search.rounds + 1);
  return null;
}
