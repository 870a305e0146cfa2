/** How addresses of every family are written. */
import type { ChainKind } from "../../core/chain-registry.ts";
import type { Address } from "../../core/hex.ts";

/** How addresses of every family are written. */
export interface AddressFormat {
  /** The spelling shown to people and on the wire: EIP-55 on EVM chains, base58 on Solana. */
  display(address: Address): string;
  /** The address that a text names on the chains of a family. */
  parse(text: string, kind: ChainKind): ParsedAddress;
  /** Returns the address that a text names on the chains of some family, or undefined. No text names one on both. */
  parseAny(text: string): Address | undefined;
}

export type ParsedAddress =
  | { readonly kind: "address"; readonly address: Address }
  /** No address of the family; `expected` says what would have been one, in the words of a refusal. */
  | { readonly kind: "invalid"; readonly expected: string };
