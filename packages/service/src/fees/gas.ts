/**
 * What the transactions of a settlement cost, in base units of the token that pays for them. Gas of each step is a
 * constant, so that a quote and the sweep that follows it count the same; what a unit of gas costs, and what coin and
 * token are worth, is read.
 */
import type { Chain, Chains, Fees as GasFees, Step } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { PricedToken, Prices } from "../prices/index.ts";

/** One transaction, and the chain of a route that it is on. */
export interface GasStep extends Step {
  readonly on: "source" | "destination";
}

/**
 * Gas of the deployment of a wallet. As every step that the contracts' gas tests measure
 * (`packages/contracts/vectors/gas/GasTest.json`) it is the more expensive of the first and a repeated transaction,
 * rounded up to the next thousand. Batches cost less.
 */
export const DEPLOY_GAS = 74_000n;

/** The route whose transactions are paid for. */
export interface GasRoute {
  readonly pair: {
    readonly srcChain: number;
    readonly srcToken: Address;
    readonly destChain: number;
    readonly destToken: Address;
  };
  readonly decimalsIn: number;
  /** The transactions of a settlement, besides the deployment of its wallet. */
  readonly gasSteps: readonly GasStep[];
}

/** Gas of one transaction on its chain. */
export interface ChainGas extends Step {
  readonly chainId: number;
}

/** Lists the gas of a settlement by a route, chain by chain. */
export function listGas(
  { pair, gasSteps }: Omit<GasRoute, "decimalsIn">,
  deploys: boolean,
): readonly ChainGas[] {
  const steps: readonly GasStep[] = [
    ...(deploys ? [{ on: "source", gas: DEPLOY_GAS } as const] : []),
    ...gasSteps,
  ];
  return steps.map(({ on, ...step }) => ({
    ...step,
    chainId: on === "source" ? pair.srcChain : pair.destChain,
  }));
}

/** Wei of a unit of gas now: the base fee and the tip, where a transaction offers twice the base fee and the tip. */
export function priceOfGas({ maxFeePerGas, maxPriorityFeePerGas }: GasFees): bigint {
  return (maxFeePerGas - maxPriorityFeePerGas + 1n) / 2n + maxPriorityFeePerGas;
}

export interface GasCosts {
  /**
   * What a settlement by a route costs in gas, in base units of its source token, rounded up.
   * @throws OperatingError PRICE_UNAVAILABLE, RPC_UNAVAILABLE, CONFIG_MISSING.
   */
  read(route: GasRoute, deploys: boolean): Promise<bigint>;
}

/** How long what was read is good for: a settlement waits longer than this between two looks. */
const MEMO_MS = 3_000;
const WEI_PER_COIN = 10n ** 18n;

export function createGasCosts(options: {
  readonly chains: Chains;
  readonly prices: Prices;
  readonly clock: Clock;
  /** Wei that each transaction on a chain costs besides its gas: what a rollup charges for the chain below. */
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
  const gasPrice = memoise(clock, async (chainId: number) =>
    priceOfGas(await chainOf(chainId).suggestFees()),
  );
  const usd = memoise(clock, (token: PricedToken) => prices.readUsd(token));

  return {
    async read({ decimalsIn, ...route }, deploys) {
      const { srcChain, srcToken } = route.pair;
      let usdOfGas = 0n;
      for (const step of listGas(route, deploys)) {
        const chain = chainOf(step.chainId);
        const { chainId } = step;
        const cost = costOf(chain, step, await gasPrice(chainId)) + surchargeOf(chainId);
        usdOfGas += cost * (await usd({ chainId, token: chain.coin.token }));
      }
      const usdOfToken = WEI_PER_COIN * (await usd({ chainId: srcChain, token: srcToken }));
      const scaled = usdOfGas * 10n ** BigInt(decimalsIn);
      return (scaled + usdOfToken - 1n) / usdOfToken;
    },
  };
}

/** What a transaction costs, in units of which a coin has 1e18. */
function costOf(chain: Chain, step: ChainGas, price: bigint): bigint {
  return chain.costOfStep(step, price) * 10n ** BigInt(18 - chain.coin.decimals);
}

/** Answers are kept for a few seconds, failures are not. */
function memoise<Key, Value>(
  clock: Clock,
  read: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const kept = new Map<string, { readonly atMs: number; readonly value: Promise<Value> }>();
  return async (key) => {
    const name = JSON.stringify(key);
    const known = kept.get(name);
    const nowMs = clock.now();
    if (known && nowMs - known.atMs < MEMO_MS) return known.value;
    const value = read(key);
    kept.set(name, { atMs: nowMs, value });
    try {
      return await value;
    } catch (error) {
      kept.delete(name);
      throw error;
    }
  };
}
