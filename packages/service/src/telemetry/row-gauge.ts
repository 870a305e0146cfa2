/** Pairs of gauges over rows: their count by state, and the age of the oldest. */
import type { RawBuilder } from "kysely";
import { Gauge, type Registry } from "prom-client";

/** Definition of a pair. A new pair needs nothing else. */
export interface RowGauge {
  /** Role whose processes export the pair, so that each value has one source. */
  readonly role: string;
  /** Name of the count, without the prefix `sluice_`. */
  readonly name: string;
  readonly help: string;
  readonly oldestName: string;
  readonly oldestHelp: string;
  /** Labels of both gauges, from `chain_id` and `label` of the rows. */
  readonly labels: readonly ["chain", string] | readonly [string];
  /** The label whose rows are a warning in the report of health; absent if none are. */
  readonly warnsOf?: string;
  /**
   * Returns the query for `name`, `chain_id`, `label`, count and age of the oldest row; `age` is the expression for the age.
   * Must read only open rows, because it runs at every scrape.
   */
  select(age: RawBuilder<unknown>, nowMs: number): RawBuilder<unknown>;
}

/** A pair of gauges in a registry. */
export interface OpenRowGauge {
  readonly name: string;
  readonly warnsOf?: string | undefined;
  /** Sets count and age of one group; `values` are in the order of the labels. */
  show(values: readonly string[], count: number, oldestS: number): void;
  reset(): void;
}

/** Registers both gauges of a pair. */
export function openRowGauge(
  registry: Registry,
  { name, help, oldestName, oldestHelp, labels, warnsOf }: RowGauge,
): OpenRowGauge {
  const given = { labelNames: [...labels], registers: [registry] };
  const count = new Gauge({ name: `sluice_${name}`, help, ...given });
  const oldest = new Gauge({ name: `sluice_${oldestName}`, help: oldestHelp, ...given });
  return {
    name,
    warnsOf,
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
