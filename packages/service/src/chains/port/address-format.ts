/** The text form of addresses. */
import type { ChainKind } from "../../core/chain-registry.ts";
import type { Address } from "../../core/hex.ts";

/** Formats and parses the addresses of every chain family. */
export interface AddressFormat {
  /** Returns the text shown to people and on the wire: EIP-55 on EVM chains, base58 on Solana. */
  display(address: Address): string;
  /** Parses an address of a chain family. */
  parse(text: string, kind: ChainKind): ParsedAddress;
  /** Parses an address of any family; undefined for any other text. No text is an address of two families. */
  parseAny(text: string): Address | undefined;
}

export type ParsedAddress =
  | { readonly kind: "address"; readonly address: Address }
  /** Not an address of the family. `expected` describes one, for the error. */
  | { readonly kind: "invalid"; readonly expected: string };
