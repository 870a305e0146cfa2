/** The fees of a settlement: its terms, out of the configuration, the integrator's and what gas costs now. */
import type { GasPolicy } from "../config/index.ts";
import type { Db } from "../db/schema.ts";
import { readGasPolicy } from "../integrators/index.ts";
import type { GasCosts, GasRoute } from "./gas.ts";
import { feeCapOf, type FeeTerms, planTerms } from "./terms.ts";

/** The route that a settlement takes, as far as its fees are concerned. */
export interface FeeRoute extends GasRoute {
  /**
   * The most that a bridge may keep of a sweep of `amount`, in base units of the source token; zero without one. Where
   * the bridge has a slower way that keeps less, it is chosen when the faster one is above `room`.
   */
  readBridgeFee(amount: bigint, room: bigint): Promise<bigint>;
}

/** A sweep whose terms are asked for. */
export interface FeeRequest {
  readonly integratorId: string;
  readonly route: FeeRoute;
  readonly amount: bigint;
  /** The committed cap. */
  readonly maxFeeBps: number;
  /** Whether the wallet has to be deployed for it; asked only where gas is charged. */
  readonly deploys: () => Promise<boolean>;
}

export interface Fees {
  /**
   * The terms of a sweep as things are now.
   * @throws OperatingError FEE_NOT_COVERED or AMOUNT_TOO_SMALL where gas and bridge do not fit; PRICE_UNAVAILABLE,
   *   RPC_UNAVAILABLE or CONFIG_MISSING where gas is charged and cannot be priced.
   */
  plan(request: FeeRequest): Promise<FeeTerms>;
  /** The terms of a sweep that was planned before terms were stored with it: the service's fee and nothing else. */
  planWithout(maxFeeBps: number): FeeTerms;
}

export function createFees(options: {
  readonly db: Db;
  readonly serviceBps: number;
  /** Who pays for gas where the integrator has no policy of its own. */
  readonly gas: GasPolicy;
  readonly gasCosts: GasCosts;
}): Fees {
  const { db, serviceBps, gasCosts } = options;

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
      return planTerms({ amount, maxFeeBps, serviceBps, gas, bridge });
    },

    planWithout: (maxFeeBps) => ({ bps: Math.min(serviceBps, maxFeeBps), flat: 0n, bridge: 0n }),
  };
}
