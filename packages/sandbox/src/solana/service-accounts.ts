/** Funds the service's accounts on the Solana chain: lamports for fees and rent, and inventory. */
import { type Address, createSolanaRpc } from "@solana/kit";
import type { SolanaAccounts } from "./accounts.ts";
import { MINTED_TOKENS } from "./genesis.ts";
import type { SolanaNode } from "./node.ts";

/** Lamports of a lane, for fees and for rent that is mostly returned. */
const LANE_LAMPORTS = 1_000_000_000_000n;
/** An account that does not exist rejects transfers below the rent exemption, such as a small fee in SOL. */
const TREASURY_LAMPORTS = 1_000_000_000n;
/** Inventory of SOL, in whole units. */
export const SOL_INVENTORY = 10_000n;
/** Inventory of every minted token, in whole units. */
export const TOKEN_INVENTORY = 1_000_000n;
const LAMPORTS_PER_SOL = 1_000_000_000n;

/** Funds every account that has no lamports or lacks a token. */
export async function fundServiceAccounts(
  { rpcUrl, controls }: Pick<SolanaNode, "rpcUrl" | "controls">,
  { settle, deliver, delivery, treasury }: SolanaAccounts & { readonly treasury: Address },
): Promise<void> {
  const rpc = createSolanaRpc(rpcUrl);
  const commitment = "processed";
  const fundLamports = async (to: Address, amount: bigint) => {
    const { value } = await rpc.getBalance(to, { commitment }).send();
    if (value === 0n) await controls.airdrop({ to, amount });
  };
  await Promise.all([
    fundLamports(settle, LANE_LAMPORTS),
    fundLamports(deliver, LANE_LAMPORTS),
    fundLamports(treasury, TREASURY_LAMPORTS),
    fundLamports(delivery, SOL_INVENTORY * LAMPORTS_PER_SOL),
    ...MINTED_TOKENS.map(async ({ mint, decimals }) => {
      const config = { commitment, encoding: "base64" } as const;
      const { value } = await rpc.getTokenAccountsByOwner(delivery, { mint }, config).send();
      const amount = TOKEN_INVENTORY * 10n ** BigInt(decimals);
      if (value.length === 0) await controls.mintTo({ mint, owner: delivery, amount });
    }),
  ]);
}
