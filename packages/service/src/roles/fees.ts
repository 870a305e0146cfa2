/** Composes the fees of settlements. Quoter and settler use the same computation, so that settlements are charged as quoted. */
import { transactionSurchargeOf } from "../config/index.ts";
import { createFees, createGasCosts, type Fees } from "../fees/index.ts";
import { getChainConfig } from "../routes/index.ts";
import type { RoleContext } from "./context.ts";

/** Creates the fees of settlements from the configured policy and prices. */
export function createConfiguredFees({
  config,
  db,
  chains,
  prices,
  clock,
}: Pick<RoleContext, "config" | "db" | "chains" | "prices" | "clock">): Fees {
  // In base units of the native coin: a rollup's fee for its layer 1, which its gas price does not include.
  const surchargeOf = (chainId: number) => transactionSurchargeOf(getChainConfig(config, chainId));
  return createFees({
    db,
    serviceBps: config.feeBps,
    gas: config.gas,
    gasCosts: createGasCosts({ chains, prices, clock, surchargeOf }),
  });
}
