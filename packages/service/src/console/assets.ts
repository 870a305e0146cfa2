/** Formats chains and amounts for people. */
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { findChainById } from "../core/chain-registry.ts";
import { type Address, isNative } from "../core/hex.ts";

/** Describes a token of a chain and formats its amounts, in whole units if the configuration lists it. */
export function assetOf(
  { chains, display }: Pick<Config, "chains"> & { readonly display: (address: Address) => string },
  chainId: number,
  address: Address,
) {
  const chain = chains.find((known) => known.chainId === chainId);
  const token = chain?.tokens.find((known) => known.address === address);
  const coin = isNative(address) ? "native coin" : display(address);
  const units = (amount: bigint) => (token ? formatUnits(amount, token.decimals) : `${amount}`);
  return {
    describe: `${token?.symbol ?? coin} on ${nameOf(chainId)}`,
    units,
    format: (amount: bigint) => `${units(amount)} ${token?.symbol ?? "base units"}`,
  };
}

/** Returns the name of a chain. */
export function nameOf(chainId: number): string {
  return findChainById(chainId)?.name ?? `chain ${chainId}`;
}
