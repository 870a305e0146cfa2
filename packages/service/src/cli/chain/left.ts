/** Shows the work and balances left on a chain. */
import { toAddress } from "../../core/hex.ts";
import { type ChainLeft, readChainLeft } from "../../health/index.ts";
import type { Db } from "../../db/schema.ts";
import { addressFormat } from "../../roles/address-format.ts";

/** Returns the work and balances left on a chain, with tokens as people write them. */
export async function showLeft(db: Db, chainId: number): Promise<ChainLeft> {
  const left = await readChainLeft(db, chainId);
  const balances = left.balances.map(({ token, amount }) => ({
    token: addressFormat.display(toAddress(token)),
    amount,
  }));
  return { ...left, balances };
}

/** Formats it for people. */
export function formatLeft(left: ChainLeft): string {
  const { settlements, deliveries, bridgeTransfers, transactions, balances } = left;
  const lines = [
    `settlements not ended: ${settlements}`,
    `locks and payouts open: ${deliveries}`,
    `bridge transfers open: ${bridgeTransfers}`,
    `transactions not final: ${transactions}`,
    ...balances.map(({ token, amount }) => `at deposit addresses: ${amount} of ${token}`),
  ];
  return (balances.length === 0 ? [...lines, "at deposit addresses: nothing"] : lines).join("\n");
}
