/** The texts of the page with their language, and what is formatted by them. */
import { formatAmount } from "../kit/amounts.ts";
import { formatDuration, type Texts } from "../texts/index.ts";

/** What every part of the page needs: the texts and their language. */
export interface Words {
  readonly texts: Texts;
  readonly language: string;
}

/** Returns the name of a chain as people write it. */
export function chainName(name: string): string {
  return NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

const NAMES: Readonly<Record<string, string>> = { bsc: "BNB Chain", hyperevm: "HyperEVM" };

/** Formats an amount with its symbol. */
export function withSymbol(
  amount: bigint | string,
  token: { readonly symbol: string; readonly decimals: number },
  language: string,
): string {
  return `${formatAmount(BigInt(amount), token.decimals, language)} ${token.symbol}`;
}

/** Formats a duration in the language of the page. */
export function duration(seconds: number, { texts }: Words): string {
  return formatDuration(seconds, texts);
}
