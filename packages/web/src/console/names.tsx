/** Chains, tokens and hashes as people read them. */
import type { ChainList, FinalityState, SourceConfig } from "@sluice/sdk/wire";
import { formatAmount, shorten } from "../kit/amounts.ts";
import { chainName } from "../pay/words.ts";

/** Names of what the interface shows by number and address. */
export interface Names {
  chain(chainId: number | string): string;
  /** An amount with its symbol; of a token that is not listed, in base units. */
  amount(of: { chainId: number | string; tokenAddress: string; amount: string | null }): string;
  symbol(chainId: number | string, tokenAddress: string): string;
  /** The explorer of a transaction; null where there is none. */
  explorer(chainId: number | string, txHash: string): string | null;
  /** Chains whose deposits are detected. */
  readonly sources: SourceConfig["chains"];
}

/** Puts together the names of the public lists. */
export function createNames({ chains }: SourceConfig, known: ChainList): Names {
  const tokenOf = (chainId: number | string, tokenAddress: string) =>
    chains
      .find((chain) => chain.chainId === Number(chainId))
      ?.tokens.find(({ address }) => address === tokenAddress);
  const find = (chainId: number | string) =>
    known.find((chain) => chain.chainId === Number(chainId));
  const symbol: Names["symbol"] = (chainId, tokenAddress) =>
    tokenOf(chainId, tokenAddress)?.symbol ?? shorten(tokenAddress);
  return {
    sources: chains,
    chain: (chainId) => chainName(find(chainId)?.name ?? `chain ${chainId}`),
    symbol,
    amount({ chainId, tokenAddress, amount }) {
      if (amount === null) return "—";
      const decimals = tokenOf(chainId, tokenAddress)?.decimals;
      return decimals === undefined
        ? `${amount} base units of ${shorten(tokenAddress)}`
        : `${formatAmount(BigInt(amount), decimals, "en")} ${symbol(chainId, tokenAddress)}`;
    },
    explorer(chainId, txHash) {
      const base = find(chainId)?.explorerTxUrl ?? "";
      return base.startsWith("https://") ? `${base}${encodeURIComponent(txHash)}` : null;
    },
  };
}

/** Says how far a block is from final; nothing while none is known. */
export function describeBlock(of: {
  readonly finality: FinalityState;
  readonly confirmations: number | null;
  readonly confirmationsRequired: number | null;
}): string {
  const { finality, confirmations, confirmationsRequired } = of;
  if (finality === "seen") return "";
  if (finality !== "confirming") return finality;
  return `${confirmations ?? 0} of ${confirmationsRequired ?? "?"} confirmations`;
}

/** A time of day with its date, in the viewer's zone; the full time in UTC is its title. */
export function Time({ at }: { readonly at: string }) {
  const text = new Date(at).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" });
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

/** A hash that can be copied and, where an explorer shows its chain, looked up. */
export function Hash(props: {
  readonly names: Names;
  readonly chainId: number | string;
  readonly hash: string;
}) {
  const { names, chainId, hash } = props;
  const href = names.explorer(chainId, hash);
  const text = <code title={hash}>{shorten(hash)}</code>;
  if (href === null) return text;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {text}
      <span class="spoken"> (new tab)</span>
    </a>
  );
}
