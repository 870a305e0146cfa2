/** Composes the fees of settlements. Quoter and settler use the same computation, so that settlements are charged as quoted. */
import { transactionSurchargeOf } from "../config/index.ts";
import { createFees, createGasCosts, type Fees, type GasCosts } from "../fees/index.ts";
import { listOwnIntegrators } from "../rebalancing/index.ts";
import { getChainConfig } from "../routes/index.ts";
import type { RoleContext } from "./context.ts";

type GasParts = Pick<RoleContext, "config" | "chains" | "prices" | "clock">;

/** Creates the fees of settlements from the configured policy and prices. */
export function createConfiguredFees(parts: GasParts & Pick<RoleContext, "db">): Fees {
  const { db, config } = parts;
  const gasCosts = createConfiguredGasCosts(parts);
  const own = listOwnIntegrators(config);
  return createFees({ db, serviceBps: config.feeBps, own, gas: config.gas, gasCosts });
}

/** Creates the prices of gas in tokens. */
export function createConfiguredGasCosts({ config, chains, prices, clock }: GasParts): GasCosts {
  // In base units of the native coin: a rollup's fee for its layer 1, which its gas price does not include.
  const surchargeOf = (chainId: number) => transactionSurchargeOf(getChainConfig(config, chainId));
  return createGasCosts({ chains, prices, clock, surchargeOf });
}
