/**
 * Rules of payouts before finality, for the locks of one source chain. Settler, attestors and the signer of payouts each
 * have their own, from their own configuration, nodes and prices.
 */
import { type ChainConfig, listEvmChains } from "../../../config/index.ts";
import { OperatingError } from "../../../core/errors.ts";
import type { Address } from "../../../core/hex.ts";
import type { Prices } from "../../../prices/index.ts";

/** How deep a lock must be: in a number of blocks, its own included, or in the block that the node calls `safe`. */
export type Depth = number | "safe";

/** Rising: a larger payout waits for a deeper lock. `upTo` in US dollars times 1e18. */
type Tiers = readonly { readonly after: Depth; readonly upTo: bigint }[];

/** The part of the inventory that may be at risk, in US dollars times 1e18. */
export interface EarlyTerms {
  /** The most that may be paid for locks that are not final, together. */
  readonly exposure: bigint;
  readonly tiers: Tiers;
  /** The first that fits a payout replaces the tiers. Undefined fits every locked token, or every chain. */
  readonly exceptions: readonly {
    readonly token: Address | undefined;
    readonly destChain: number | undefined;
    readonly tiers: Tiers;
  }[];
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

/** Returns how deep the lock of a payout of this worth must be, or null if it must be final. */
export function depthFor(
  { tiers, exceptions }: EarlyTerms,
  {
    token,
    destChain,
    worth,
  }: { readonly token: Address; readonly destChain: number; readonly worth: bigint },
): Depth | null {
  const exception = exceptions.find(
    (one) =>
      (one.token === undefined || one.token === token) &&
      (one.destChain === undefined || one.destChain === destChain),
  );
  return (exception?.tiers ?? tiers).find(({ upTo }) => worth <= upTo)?.after ?? null;
}
