/** Plans the fee terms of a settlement from the configuration, the integrator's policy and current gas costs. */
import type { GasPolicy } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import { readGasPolicy } from "../integrators/index.ts";
import type { GasCosts, GasRoute } from "./gas.ts";
import { feeCapOf, type FeeTerms, planTerms } from "./terms.ts";

/** The properties of a route that determine its fees. */
export interface FeeRoute extends GasRoute {
  /**
   * Returns the most that a bridge may keep of a sweep of `amount`, in base units of the source token; zero without a
   * bridge. A bridge with a slower, cheaper mode uses it when the fast one costs more than `room`.
   */
  readBridgeFee(amount: bigint, room: bigint): Promise<bigint>;
}

/** A sweep to plan terms for. */
export interface FeeRequest {
  readonly integratorId: string;
  readonly route: FeeRoute;
  readonly amount: bigint;
  /** The committed fee cap. */
  readonly maxFeeBps: number;
  /** Returns whether the settlement includes the wallet's deployment; called only where gas is charged. */
  readonly deploys: () => Promise<boolean>;
}

export interface Fees {
  /**
   * Returns the terms of a sweep at current costs.
   * @throws OperatingError FEE_NOT_COVERED or AMOUNT_TOO_SMALL when gas and bridge exceed the cap or the amount;
   *   PRICE_UNAVAILABLE, RPC_UNAVAILABLE or CONFIG_MISSING when charged gas cannot be priced.
   */
  plan(request: FeeRequest): Promise<FeeTerms>;
  /** Returns the terms of a sweep that was planned before terms were stored: the service's fee only. */
  planWithout(maxFeeBps: number): FeeTerms;
}

/** Creates the fee planner of the service. */
export function createFees(options: {
  readonly db: Db;
  readonly serviceBps: number;
  /** The operator's own integrators, which pay no service fee. */
  readonly own?: ReadonlySet<string>;
  /** Gas policy of integrators without one of their own. */
  readonly gas: GasPolicy;
  readonly gasCosts: GasCosts;
}): Fees {
  const { db, gasCosts, own } = options;

  async function readGas({ integratorId, route, deploys }: FeeRequest): Promise<bigint> {
    const policy = (await readGasPolicy(db, integratorId)) ?? options.gas;
    return policy === "charged" ? gasCosts.read(route, await deploys()) : 0n;
  }

  return {
    async plan(request) {
      const { route, amount, maxFeeBps } = request;
      const gas = await readGas(request);
      const cap = feeCapOf(amount, maxFeeBps);
      const bridge = await route.readBridgeFee(amount, gas < cap ? cap - gas : 0n);
      const serviceBps = own?.has(request.integratorId) ? 0 : options.serviceBps;
      return planTerms({ amount, maxFeeBps, serviceBps, gas, bridge });
    },

    planWithout: (maxFeeBps) => {
      const bps = Math.min(options.serviceBps, maxFeeBps);
      return { bps, flat: 0n, bridge: 0n };
    },
  };
}
