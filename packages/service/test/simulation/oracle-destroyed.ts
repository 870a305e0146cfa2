/** Expected rows of tokens that their issuer destroyed in a wallet, computed from the chain alone. */
import type { SharedDatabase } from "./database.ts";
import { Broken } from "./broken.ts";

interface Moved {
  readonly block: { readonly number: bigint };
  readonly amount: bigint;
}

/**
 * Checks that the ledger wrote off the destroyed tokens, and nothing else. Deposits of the block of a destruction count only
 * as far as the balance rose in it: nothing tells them from transfers of a token that lies.
 */
export async function judgeDestroyed(
  database: SharedDatabase,
  history: {
    readonly chainId: number;
    readonly wallet: string;
    readonly token: string;
    readonly inbound: readonly Moved[];
    readonly destroyed: readonly Moved[];
    /** The rows of the deposits. */
    readonly recorded: readonly Moved[];
  },
): Promise<void> {
  const { chainId, wallet, token, inbound, destroyed, recorded } = history;
  const name = `${chainId} ${wallet} ${token}`;
  let lost = 0n;
  for (const number of new Set(destroyed.map(({ block }) => block.number))) {
    const sumIn = (all: readonly Moved[]) =>
      all
        .filter(({ block }) => block.number === number)
        .reduce((sum, { amount }) => sum + amount, 0n);
    const [arrived, gone] = [sumIn(inbound), sumIn(destroyed)];
    const risen = arrived > gone ? arrived - gone : 0n;
    if (sumIn(recorded) !== risen)
      throw new Broken(`D1: ${name} rose by ${risen} in ${number}, recorded is ${sumIn(recorded)}`);
    lost += gone - (arrived - risen);
  }
  const [row] = await database.query<{ amount: string }>(
    `select coalesce(sum(-amount), 0)::text as amount from ledger_lines where reason = 'adjustment'
        and account = 'wallet' and chain_id = $1 and owner = $2 and token = $3`,
    [chainId, wallet, token],
  );
  if (BigInt(row?.amount ?? 0) !== lost)
    throw new Broken(`V1: ${lost} of ${name} were destroyed, ${row?.amount} written off`);
}
