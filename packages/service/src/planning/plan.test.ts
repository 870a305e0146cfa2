import { describe, expect, test } from "vitest";
import { DEPLOY_GAS } from "../fees/index.ts";
import { SWIFT_GAS } from "../routes/index.ts";
import { CHAIN_FIGURES, PROVIDER_PLANS } from "./figures.ts";
import { planInstallation } from "./plan.ts";

const CHAINS = ["base", "arbitrum"];
const plan = (change: Partial<Parameters<typeof planInstallation>[0]> = {}) =>
  planInstallation({
    depositsPerDay: 10_000,
    chains: CHAINS,
    averageUsd: 100n,
    refillDays: 2,
    ...change,
  });

function figuresOf(chain: string) {
  const figures = CHAIN_FIGURES[chain];
  if (!figures) throw new Error(`there are figures of ${chain}`);
  return figures;
}

describe("a plan", () => {
  test("divides deposits evenly, each paid on another chain than its own", () => {
    const gas = SWIFT_GAS.reduce((sum, step) => sum + step.gas, DEPLOY_GAS);
    const { idle, source, destination } = figuresOf("base").requests;
    expect(plan().chains[0]).toEqual({
      name: "base",
      requestsPerDay: Math.ceil(idle + 5_000 * (source + destination)),
      gasPerDay: 5_000n * gas,
      inventoryUsd: 1_000_000n,
    });
  });

  test("names the smallest plan that suffices for all chains together, and none where none does", () => {
    const few = plan({ depositsPerDay: 1 }).providers;
    for (const { name, unitsPerMonth, plan: chosen } of few) {
      const plans = PROVIDER_PLANS.find((one) => one.name === name)?.plans ?? [];
      const at = plans.findIndex((one) => one.name === chosen);
      expect(plans[at]?.unitsPerMonth ?? Infinity).toBeGreaterThanOrEqual(unitsPerMonth);
      for (const smaller of plans.slice(0, Math.max(0, at))) {
        const isTooSmall =
          (smaller.unitsPerMonth ?? Infinity) < unitsPerMonth ||
          (smaller.unitsPerSecond ?? Infinity) < (2 * unitsPerMonth) / (30 * 86_400);
        expect(isTooSmall).toBe(true);
      }
    }
    const many = plan({ depositsPerDay: 100_000_000 }).providers;
    expect(many.find(({ name }) => name === "Infura")?.plan).toBeNull();
  });

  test("has processors for the busiest minutes", () => {
    expect(plan({ depositsPerDay: 10 }).processors).toBe(2);
    const { peakPerSecond, processors } = plan({ depositsPerDay: 864_000 });
    expect({ peakPerSecond, processors }).toEqual({ peakPerSecond: 100, processors: 12 });
  });

  test("refuses a chain without figures", () => {
    expect(() => plan({ chains: ["base", "moon"] })).toThrow("got moon");
  });
});
