/**
 * Metrics whose truth is on a chain: heads, the gas money of lanes, inventories. Read now and then, not by a scrape: how
 * often somebody looks must not decide how often a node is asked. What could not be read is not shown.
 */
import type { Chain } from "../chains/port/index.ts";
import { type Address } from "../core/hex.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";

/** What is read of one chain. */
export interface ReadingsOfChain {
  readonly chain: Chain;
  /** Whether the head is wanted: where the scanner is. */
  readonly head: boolean;
  readonly lanes: readonly { readonly purpose: string; readonly address: Address }[];
  /** Tokens that are paid from inventory there. */
  readonly inventory: readonly {
    readonly token: Address;
    readonly symbol: string;
    /** Base units that the operator wants there at least. */
    readonly min: bigint | undefined;
  }[];
}

/** Reads a chain's values into their gauges. Throws the first failure after everything was tried. */
export async function readChain(metrics: Metrics, wanted: ReadingsOfChain): Promise<void> {
  const { chain } = wanted;
  const { sequencing } = chain;
  const label = chainLabel(chain.chainId);
  const results = await Promise.allSettled([
    ...(wanted.head ? [readHead(metrics, chain, label)] : []),
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

async function readHead(metrics: Metrics, chain: Chain, label: string): Promise<void> {
  await show(metrics.scannerHead, { chain: label }, async () => (await chain.getHead()).number);
}

/** A gauge shows what was read last, or nothing: an old value would look like a new one. */
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
