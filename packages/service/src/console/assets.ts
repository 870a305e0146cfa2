/** Formats chains and amounts for people. */
import type { Config } from "../../config/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { findChainById } from "../../core/chain-registry.ts";
import { type Address, isNative } from "../../core/hex.ts";
import { addressFormat } from "../../roles/address-format.ts";

/** Describes a token of a chain and formats its amounts, in whole units if the configuration lists it. */
export function assetOf(config: Pick<Config, "chains">, chainId: number, address: Address) {
  const chain = config.chains.find((known) => known.chainId === chainId);
  const token = chain?.tokens.find((known) => known.address === address);
  const coin = isNative(address) ? "native coin" : addressFormat.display(address);
  return {
    describe: `${token?.symbol ?? coin} on ${nameOf(chainId)}`,
    format: (amount: bigint) =>
      token ? `${formatUnits(amount, token.decimals)} ${token.symbol}` : `${amount} base units`,
  };
}

/** Returns the name of a chain. */
export function nameOf(chainId: number): string {
  return findChainById(chainId)?.name ?? `chain ${chainId}`;
}
