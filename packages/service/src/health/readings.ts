/**
 * Metrics read from chains: heads, gas balances of lanes, inventories. They are read on a schedule, not by a scrape, so
 * that the scrape interval does not set the load on nodes. A value that could not be read is removed.
 */
import type { Chain } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";

/** The values to read from one chain. */
export interface ReadingsOfChain {
  readonly chain: Chain;
  /** Whether to read the head; true in the scanner's process. */
  readonly head: boolean;
  /** Receives the head after it was read. */
  readonly onHead?: (head: bigint) => Promise<void>;
  readonly lanes: readonly { readonly purpose: string; readonly address: Address }[];
  /** Tokens that are paid from inventory there. */
  readonly inventory: readonly {
    readonly token: Address;
    readonly symbol: string;
    /** Configured minimum, in base units. */
    readonly min: bigint | undefined;
  }[];
}

/** Reads a chain's values into their gauges. Throws the first failure after all reads have ended. */
export async function readChain(metrics: Metrics, wanted: ReadingsOfChain): Promise<void> {
  const { chain } = wanted;
  const { sequencing } = chain;
  const label = chainLabel(chain.chainId);
  const results = await Promise.allSettled([
    ...(wanted.head ? [readHead(metrics, wanted, label)] : []),
    ...wanted.lanes.flatMap(({ purpose, address }) => {
      const labels = { chain: label, purpose, account: address };
      return [
        show(metrics.laneBalance, labels, () => chain.getBalance(chain.coin.token, address)),
        ...(sequencing.kind === "nonce"
          ? [
              show(metrics.laneChainNonce, labels, async () =>
                BigInt(await sequencing.getTransactionCount(address)),
              ),
            ]
          : []),
      ];
    }),
    ...wanted.inventory.flatMap(({ token, symbol }) => {
      const labels = { chain: label, token: symbol };
      const { delivery } = chain.addresses;
      return [
        show(metrics.inventoryBalance, labels, () => chain.getBalance(token, delivery)),
        show(metrics.inventoryCapLeft, labels, () => chain.getDailyCapLeft(token)),
      ];
    }),
  ]);
  const failed = results.find((result) => result.status === "rejected");
  if (failed) throw failed.reason;
}

async function readHead(
  metrics: Metrics,
  { chain, onHead }: ReadingsOfChain,
  label: string,
): Promise<void> {
  let head = 0n;
  await show(metrics.scannerHead, { chain: label }, async () => {
    head = (await chain.getHead()).number;
    return head;
  });
  await onHead?.(head);
}

/** Sets the gauge, or removes it when the read fails: a stale value would look current. */
async function show<Labels extends Record<string, string>>(
  gauge: { set(labels: Labels, value: number): void; remove(labels: Labels): void },
  labels: Labels,
  read: () => Promise<bigint>,
): Promise<void> {
  try {
    gauge.set(labels, Number(await read()));
  } catch (error) {
    gauge.remove(labels);
    throw error;
  }
}
