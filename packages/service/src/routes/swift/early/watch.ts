/**
 * The attestor's watch over the early payouts that it signed. Its count is in its signer's journal: no database, no settler
 * and no other attestor can change it.
 */
import type { Chains } from "../../../chains/port/index.ts";
import type { EarlyCount, CountedPayout } from "../../../signers/port.ts";
import type { Log } from "../../../telemetry/log.ts";

/** Seconds after the signature from which a final block without the lock of a paid early payout closes its chain's. */
const MISSING_AFTER_S = 600n;

export interface EarlyWatch {
  /** Reports whether the attestor signs no early payouts for locks of a chain. All are closed until the first look. */
  isClosed(srcChain: number): boolean;
  /** Looks at every payout that is counted. Returns false: there is no more at once. */
  poll(): Promise<boolean>;
}

/** Watches over the early payouts of a signer, with the attestor's own readers. */
export function watchEarly(
  count: Pick<EarlyCount, "list" | "cover">,
  { chains, log }: { readonly chains: Chains; readonly log: Log },
): EarlyWatch {
  let closed: ReadonlySet<number> | null = null;

  return {
    isClosed: (srcChain) => closed === null || closed.has(srcChain),
    async poll() {
      const missing = new Set<number>();
      for (const payout of await count.list()) {
        const { deliveryId, srcChain } = payout;
        const state = await look(chains, payout);
        if (state === "covered") await count.cover(deliveryId);
        if (state !== "missing") continue;
        if (closed?.has(srcChain) !== true) {
          log.error(
            { deliveryId, chainId: srcChain },
            "reorg: the lock of an early payout is missing, signing no others of the chain",
          );
        }
        missing.add(srcChain);
      }
      closed = missing;
      return false;
    },
  };
}

/** Returns what became of an early payout. A chain that is not configured any more shows nothing. */
async function look(
  chains: Chains,
  { srcChain, destChain, lock, deadline, signedAtMs, deliveryId, escrow }: CountedPayout,
): Promise<"counted" | "covered" | "missing"> {
  const [source, destination] = [chains.get(srcChain), chains.get(destChain)];
  if (!source || !destination) return "counted";
  const { number, hash } = await source.getFinalBlock();
  const at = hash === null ? ("final" as const) : { number, hash };
  if (await source.getLock(lock, at)) return "covered";
  const finalS = await source.getTime(at);
  const paid = { deliveryId, srcChain, escrow, seq: lock.seq };
  // The time is read first: a later final block can only contain more payouts.
  if (await destination.isOrderOver(deadline)) {
    if (!(await destination.isDelivered(paid, "final"))) return "covered";
  }
  if (finalS <= BigInt(Math.floor(signedAtMs / 1000)) + MISSING_AFTER_S) return "counted";
  return (await destination.isDelivered(paid, "final")) ? "missing" : "counted";
}
