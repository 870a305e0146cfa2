/** The fees of a bridged deposit, and its state in the ledger after delivery. */
import { expect } from "vitest";
import type { World } from "./world.ts";

/** Returns the route's fee, and the fast bridge fee of the rest: 1.3 basis points, rounded up. */
const serviceFee = (amount: bigint) => amount / 1000n;
export const bridgeFee = (burned: bigint) => (burned * 130n + 999_999n) / 1_000_000n;
export const afterFast = (amount: bigint) => {
  const burned = amount - serviceFee(amount);
  return burned - bridgeFee(burned);
};
export const afterStandard = (amount: bigint) => amount - serviceFee(amount);

export async function expectProvedBooks(world: World): Promise<void> {
  let report: Readonly<Record<string, unknown>> | null = null;
  await world.until("every transfer is final and nothing is unsettled", async () => {
    report = await world.command("audit", "--json").catch(() => null);
    return Array.isArray(report?.["unsettled"]) && report["unsettled"].length === 0;
  });
  expect(report).toMatchObject({ ok: true, breaches: [] });
}
