import type { Descriptor } from "@sluice/sandbox";
import type { ExchangeOptions } from "./exchange.ts";

/** Returns the options of an exchange that uses the sandbox: customers pay USDC on ethereum, it receives USDC on base. */
export function readSandbox({
  baseUrl,
  quoteUrl,
  chains,
  integrators,
}: Descriptor): Pick<ExchangeOptions, "service" | "source" | "destination"> {
  const evm = chains.filter((chain) => chain.kind === "evm");
  const [ethereum, base] = evm;
  const tokenOf = (chain: typeof ethereum) =>
    chain?.tokens.find(({ symbol }) => symbol === "USDC")?.address ?? "";
  if (!ethereum || !base) throw new Error("the sandbox has two EVM chains");
  return {
    service: { baseUrl, quoteUrl, apiKey: integrators[0]?.apiKey ?? "" },
    source: {
      chain: ethereum.name,
      evmChainId: ethereum.evmChainId,
      token: tokenOf(ethereum),
      factory: ethereum.factory,
    },
    destination: {
      chain: base.name,
      chainId: base.chainId,
      token: tokenOf(base),
      wallet: base.funded[0]?.address ?? "",
    },
  };
}
