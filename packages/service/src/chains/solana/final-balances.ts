/** Balances of wallets at the newest final slot, as nodes report it: Solana serves no other final state. */
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { FinalBalances, HeldAt, TokenHolding } from "../port/index.ts";
import type { TokenAccountAnswer } from "./account-answers.ts";
import type { Quorum } from "./quorum.ts";

/** Concurrent requests. */
const AT_ONCE = 8;

/** Creates the reader of final balances. Throws RPC_UNAVAILABLE without enough agreeing answers. */
export function createFinalBalances({ agreeFinal }: Pick<Quorum, "agreeFinal">): FinalBalances {
  async function readOne({ token, wallet }: TokenHolding): Promise<HeldAt> {
    const held = await (token === NATIVE_SOL ? readLamports(wallet) : readTokens(token, wallet));
    return { token, wallet, ...held };
  }

  const readLamports = (wallet: Address) =>
    agreeFinal(async (node, minSlot) => {
      const { slot, accounts } = await node.readAccounts([wallet], minSlot);
      return { amount: accounts[0]?.lamports ?? 0n, at: slot };
    }, SAME_AMOUNT);

  /** Sums all accounts of the wallet, including those that others may move, because arrivals there count too. */
  const readTokens = (token: Address, wallet: Address) =>
    agreeFinal(async (node, minSlot) => {
      const { slot, accounts } = await node.readTokenAccounts(wallet, token, minSlot);
      return { amount: sumOf(accounts), at: slot };
    }, SAME_AMOUNT);

  return {
    kind: "final",
    async listHoldings(holdings) {
      const held: HeldAt[] = [];
      for (let from = 0; from < holdings.length; from += AT_ONCE) {
        held.push(...(await Promise.all(holdings.slice(from, from + AT_ONCE).map(readOne))));
      }
      return held;
    },
  };
}

interface Amount {
  readonly amount: bigint;
  readonly at: bigint;
}

const SAME_AMOUNT = {
  isSame: (one: Amount, other: Amount) => one.amount === other.amount,
  // The balance is valid for all of them at the lowest slot.
  merge: (same: readonly Amount[]) =>
    same.reduce((lowest, one) => (one.at < lowest.at ? one : lowest)),
};

function sumOf(accounts: readonly TokenAccountAnswer[]): bigint {
  return accounts.reduce((sum, { amount }) => sum + amount, 0n);
}
