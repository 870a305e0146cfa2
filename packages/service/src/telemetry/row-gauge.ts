/** Pairs of gauges over rows: how many there are in each state, and how old the oldest is. */
import type { RawBuilder } from "kysely";
import { Gauge, type Registry } from "prom-client";

/** What such a pair counts. A new one needs no more than this. */
export interface RowGauge {
  /** The role whose processes show it, so that each value has one source. */
  readonly role: string;
  /** Of the count; without the prefix that all metrics have. */
  readonly name: string;
  readonly help: string;
  readonly oldestName: string;
  readonly oldestHelp: string;
  /** Labels of both, from `chain_id` and `label` of the rows. */
  readonly labels: readonly ["chain", string] | readonly [string];
  /**
   * Selects `name`, `chain_id`, `label`, count and age of the oldest. `age` is that of the oldest in a group.
   * Reads no more than what is under way: it is asked at every scrape.
   */
  select(age: RawBuilder<unknown>, nowMs: number): RawBuilder<unknown>;
}

/** A pair in a registry. */
export interface OpenRowGauge {
  readonly name: string;
  /** Shows what is counted of the labels' values, in the order of the definition. */
  show(values: readonly string[], count: number, oldestS: number): void;
  reset(): void;
}

/** Adds a pair to a registry. */
export function openRowGauge(
  registry: Registry,
  { name, help, oldestName, oldestHelp, labels }: RowGauge,
): OpenRowGauge {
  const given = { labelNames: [...labels], registers: [registry] };
  const count = new Gauge({ name: `sluice_${name}`, help, ...given });
  const oldest = new Gauge({ name: `sluice_${oldestName}`, help: oldestHelp, ...given });
  return {
    name,
    show(values, counted, oldestS) {
      count.labels(...values).set(counted);
      oldest.labels(...values).set(oldestS);
    },
    reset() {
      count.reset();
      oldest.reset();
    },
  };
}
