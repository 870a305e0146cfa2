/**
 * Rules of payouts before finality, for the locks of one source chain. Settler, attestors and the signer of payouts each
 * have their own, from their own configuration, nodes and prices.
 */
import { type ChainConfig, listEvmChains } from "../../../config/index.ts";
import { OperatingError } from "../../../core/errors.ts";
import type { Address } from "../../../core/hex.ts";
import type { Prices } from "../../../prices/index.ts";

/** The part of the inventory that may be at risk, in US dollars times 1e18. */
export interface EarlyTerms {
  /** The most that may be paid for locks that are not final, together. */
  readonly exposure: bigint;
  /** Rising: a larger payout waits for more blocks, that of its lock included. */
  readonly tiers: readonly { readonly after: number; readonly upTo: bigint }[];
}

/** An amount that inventory pays, in base units of the token. */
export interface Paid {
  readonly destChain: number;
  readonly token: Address;
  readonly amount: bigint;
}

export interface EarlyRules {
  readonly terms: EarlyTerms;
  /** Returns the value of a payout in US dollars times 1e18, rounded up; null while its token has no price. */
  readonly readWorth: (paid: Paid) => Promise<bigint | null>;
}

/** Rules by source chain; a chain without any waits for finality. */
export type EarlyRulesByChain = ReadonlyMap<number, EarlyRules>;

/** Creates the rules of the chains that have early payouts. */
export function createEarlyRules(
  chains: readonly ChainConfig[],
  prices: Pick<Prices, "readUsd">,
): EarlyRulesByChain {
  const decimals = new Map(
    chains.flatMap((chain) =>
      chain.tokens.map((token) => [`${chain.chainId}:${token.address}`, token.decimals] as const),
    ),
  );
  const readWorth: EarlyRules["readWorth"] = async ({ destChain: chainId, token, amount }) => {
    const known = decimals.get(`${chainId}:${token}`);
    if (known === undefined) return null;
    try {
      const usd = await prices.readUsd({ chainId, token });
      return (amount * usd) / 10n ** BigInt(known) + 1n;
    } catch (error) {
      if (error instanceof OperatingError && error.code === "PRICE_UNAVAILABLE") return null;
      throw error;
    }
  };
  return new Map(
    listEvmChains({ chains }).flatMap(({ chainId, earlyPayouts: terms }) =>
      terms ? [[chainId, { terms, readWorth }] as const] : [],
    ),
  );
}

/** Returns the blocks after which a payout of this worth may be made, or null if it waits for finality. */
export function confirmationsFor({ tiers }: EarlyTerms, worth: bigint): number | null {
  return tiers.find(({ upTo }) => worth <= upTo)?.after ?? null;
}
