/** What the service has on the Solana chain: lamports for fees and rent, and inventory to deliver from. */
import { type Address, createSolanaRpc } from "@solana/kit";
import type { SolanaAccounts } from "./accounts.ts";
import { MINTED_TOKENS } from "./genesis.ts";
import type { SolanaNode } from "./node.ts";

/** For fees, and rent that is mostly given back. */
const LAMPORTS_OF_LANE = 1_000_000_000_000n;
/** An account that is not there cannot take less than keeps it, such as a fee of little SOL. */
const LAMPORTS_OF_TREASURY = 1_000_000_000n;
export const SOL_INVENTORY = 10_000n;
/** Of every minted token, in whole units. */
export const TOKEN_INVENTORY = 1_000_000n;
const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Gives the accounts what they do not have yet. */
export async function fundServiceAccounts(
  { rpcUrl, controls }: Pick<SolanaNode, "rpcUrl" | "controls">,
  { settle, deliver, delivery, treasury }: SolanaAccounts & { readonly treasury: Address },
): Promise<void> {
  const rpc = createSolanaRpc(rpcUrl);
  const commitment = "processed";
  const giveLamports = async (to: Address, amount: bigint) => {
    const { value } = await rpc.getBalance(to, { commitment }).send();
    if (value === 0n) await controls.airdrop({ to, amount });
  };
  await Promise.all([
    giveLamports(settle, LAMPORTS_OF_LANE),
    giveLamports(deliver, LAMPORTS_OF_LANE),
    giveLamports(treasury, LAMPORTS_OF_TREASURY),
    giveLamports(delivery, SOL_INVENTORY * LAMPORTS_PER_SOL),
    ...MINTED_TOKENS.map(async ({ mint, decimals }) => {
      const config = { commitment, encoding: "base64" } as const;
      const { value } = await rpc.getTokenAccountsByOwner(delivery, { mint }, config).send();
      const amount = TOKEN_INVENTORY * 10n ** BigInt(decimals);
      if (value.length === 0) await controls.mintTo({ mint, owner: delivery, amount });
    }),
  ]);
}
