/** The measurement behind docs/rpc.md, and sums over it. */
import { readFileSync } from "node:fs";

export type ByMethod = Readonly<Record<string, number>>;

interface RoleCount {
  readonly role: string;
  readonly chain: "source" | "destination";
  readonly idle: ByMethod;
  readonly deposits: ByMethod;
  readonly bytes: number;
}

interface CountedDeposits {
  readonly idleSeconds: number;
  readonly deposits: number;
  readonly seconds: number;
  readonly roles: readonly RoleCount[];
}

interface Measured {
  readonly command: string;
  readonly date: string;
  readonly seconds: number;
  readonly followed: readonly {
    readonly blockSeconds: number;
    readonly pollMs: number;
    readonly hasCoin: boolean;
    readonly blocks: number;
    readonly byMethod: ByMethod;
    readonly bytes: number;
  }[];
  readonly deposits: { readonly soon: CountedDeposits; readonly late: CountedDeposits };
}

/** Reads docs/rpc.json, which `npm run bench -- budget` writes. */
export function readMeasured(): Measured {
  const path = new URL("../../docs/rpc.json", import.meta.url);
  // CAST: the benchmark writes this form.
  return JSON.parse(readFileSync(path, "utf8")) as Measured;
}

export function scale(counts: ByMethod, factor: number): ByMethod {
  return Object.fromEntries(
    Object.entries(counts).map(([method, count]) => [method, count * factor]),
  );
}

export function add(...all: readonly ByMethod[]): ByMethod {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [method, count] of Object.entries(counts)) {
      sum[method] = (sum[method] ?? 0) + count;
    }
  }
  return sum;
}

/** Returns the number of requests, or their cost. */
export function total(counts: ByMethod, cost: (method: string) => number = () => 1): number {
  return Object.entries(counts).reduce((sum, [method, count]) => sum + count * cost(method), 0);
}
