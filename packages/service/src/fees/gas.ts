/**
 * Computes the gas costs of a settlement, in base units of the token that pays them. The gas of each step is a constant,
 * so that a quote and its sweep use the same numbers; gas price, coin price and token price are read.
 */
import type { Chain, Chains, Fees as GasFees, Step } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { remember } from "../core/remember.ts";
import type { PricedToken, Prices } from "../prices/index.ts";

/** One transaction of a route, with the chain that it is sent on. */
export interface GasStep extends Step {
  readonly on: "source" | "destination";
}

/**
 * Gas that a wallet's deployment adds to its first sweep. Like all steps measured by the contracts' gas tests
 * (`packages/contracts/vectors/gas/GasTest.json`), it is the maximum of a first and a repeated transaction, rounded up
 * to the next thousand. Batches cost less.
 */
export const DEPLOY_GAS = 45_000n;

/** Gas of a refund by signature of one attestor, without the wallet's deployment. */
export const REFUND_GAS = 91_000n;

/** The properties of a route that determine its gas costs. */
export interface GasRoute {
  readonly pair: {
    readonly srcChain: number;
    readonly srcToken: Address;
    readonly destChain: number;
    readonly destToken: Address;
  };
  readonly decimalsIn: number;
  /** Transactions of a settlement, without the wallet's deployment. */
  readonly gasSteps: readonly GasStep[];
}

/** Gas of one transaction on its chain. */
export interface ChainGas extends Step {
  readonly chainId: number;
}

/** Returns the transactions of a settlement through a route, each with its chain. */
export function listGas(
  { pair, gasSteps }: Omit<GasRoute, "decimalsIn">,
  deploys: boolean,
): readonly ChainGas[] {
  // The first transaction of every route is the sweep.
  return gasSteps.map(({ on, gas, ...step }, index) => ({
    ...step,
    gas: deploys && index === 0 ? gas + DEPLOY_GAS : gas,
    chainId: on === "source" ? pair.srcChain : pair.destChain,
  }));
}

/** Returns the current price of a unit of gas in wei: base fee plus tip, since `gasPriceMax` is 2 x base fee + tip. */
export function priceOfGas({ gasPriceMax, tipMax }: GasFees): bigint {
  return (gasPriceMax - tipMax + 1n) / 2n + tipMax;
}

/** Prices the gas of settlements. */
export interface GasCosts {
  /**
   * Returns the gas costs of a settlement through a route, in base units of its source token, rounded up.
   * @throws OperatingError PRICE_UNAVAILABLE, RPC_UNAVAILABLE, CONFIG_MISSING.
   */
  read(route: GasRoute, deploys: boolean): Promise<bigint>;
}

/** Cache lifetime of prices; shorter than the interval between two polls of a settlement. */
const MEMO_MS = 3_000;
const WEI_PER_COIN = 10n ** 18n;

/** Creates the gas cost reader. Prices are cached for a few seconds. */
export function createGasCosts(options: {
  readonly chains: Chains;
  readonly prices: Prices;
  readonly clock: Clock;
  /** Returns the configured wei that each transaction costs besides its gas and the surcharge that the chain states. */
  readonly surchargeOf: (chainId: number) => bigint;
}): GasCosts {
  const { chains, prices, clock, surchargeOf } = options;
  const chainOf = (chainId: number): Chain => {
    const chain = chains.get(chainId);
    if (chain) return chain;
    throw new OperatingError("CONFIG_MISSING", "A chain of the route is not configured.", {
      details: { chainId },
    });
  };
  const remembered = { clock, forMs: MEMO_MS };
  const gasPrice = remember(remembered, async (chainId: number) =>
    priceOfGas(await chainOf(chainId).suggestFees()),
  );
  const surcharge = remember(remembered, (chainId: number) => chainOf(chainId).readSurcharge());
  const usd = remember(remembered, (token: PricedToken) => prices.readUsd(token));

  return {
    async read({ decimalsIn, ...route }, deploys) {
      const { srcChain, srcToken } = route.pair;
      let usdOfGas = 0n;
      for (const step of listGas(route, deploys)) {
        const chain = chainOf(step.chainId);
        const { chainId } = step;
        const gas = costOf(chain, step, await gasPrice(chainId));
        const cost = gas + scaleOf(chain) * (await surcharge(chainId)) + surchargeOf(chainId);
        usdOfGas += cost * (await usd({ chainId, token: chain.coin.token }));
      }
      const usdOfToken = WEI_PER_COIN * (await usd({ chainId: srcChain, token: srcToken }));
      const scaled = usdOfGas * 10n ** BigInt(decimalsIn);
      return (scaled + usdOfToken - 1n) / usdOfToken;
    },
  };
}

/** Returns the cost of a transaction, scaled to 1e18 units per coin. */
function costOf(chain: Chain, step: ChainGas, price: bigint): bigint {
  return chain.costOfStep(step, price) * scaleOf(chain);
}

/** Returns the factor from base units of a chain's coin to 1e18 units per coin. */
function scaleOf({ coin }: Chain): bigint {
  return 10n ** BigInt(18 - coin.decimals);
}
