import type { SourceToken } from "@sluice/sdk";
import { getAddress, isAddressEqual, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { DescribedEvmChain } from "../descriptor.ts";
import { createEvmClient } from "../evm-client.ts";
import { balanceOf, pay } from "../tokens.ts";
import type { Party } from "./party.ts";

/** Returns the party of a funded account on an EVM chain. */
export function createEvmParty(
  chain: DescribedEvmChain,
  { privateKey }: DescribedEvmChain["funded"][number],
): Party {
  const client = createEvmClient(chain, chain.rpcUrl);
  const from = privateKeyToAccount(privateKey);
  const { weth } = chain.uniswapV3;

  const isWrapped = (contract: Address | undefined) =>
    contract !== undefined && isAddressEqual(contract, weth);
  const read = (owner: Address, contract: Address | undefined) =>
    balanceOf(client, { owner, ...(contract && { token: contract }) });

  /** Wraps as much native coin as the balance lacks: the contract does so for every payment to it. */
  const wrapMissing = async (amount: bigint) => {
    const missing = amount - (await read(from.address, weth));
    if (missing > 0n) await pay(client, { from, to: weth, amount: missing });
  };

  return {
    address: from.address,
    async pay({ to, token, amount }) {
      const contract = contractOf(token);
      if (isWrapped(contract)) await wrapMissing(amount);
      return pay(client, {
        from,
        to: getAddress(to),
        amount,
        ...(contract && { token: contract }),
      });
    },
    async readSpendable(token) {
      const contract = contractOf(token);
      const balance = await read(from.address, contract);
      return isWrapped(contract) ? balance + (await read(from.address, undefined)) : balance;
    },
    balanceOf: (owner, token) => read(getAddress(owner), contractOf(token)),
  };
}

/** Returns the contract of a token; undefined for the native coin. */
function contractOf({ standard, address }: SourceToken): Address | undefined {
  return standard === "native" ? undefined : getAddress(address);
}
