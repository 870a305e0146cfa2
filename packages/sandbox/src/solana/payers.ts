/** Funded accounts on the Solana chain, with lamports and test tokens, for tests and demos. */
import { join } from "node:path";
import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  getAddressEncoder,
  getBase58Decoder,
} from "@solana/kit";
import { loadSeed, PAYERS_PER_CHAIN } from "../keys.ts";
import { MINTED_TOKENS } from "./genesis.ts";
import type { SolanaNode } from "./node.ts";
import { SOLANA_SPEC } from "./spec.ts";

const LAMPORTS_EACH = 1_000_000_000_000n;
/** Amount of every token, in whole units. */
const TOKENS_EACH = 100_000n;

/** An account and its key. */
export interface SolanaPayer {
  readonly address: Address;
  /** Seed and public key, 64 bytes in base58, as wallets import it. */
  readonly secretKey: string;
}

/** Reads the accounts of a state directory and generates missing ones. */
export function loadSolanaPayers(keysDir: string): Promise<readonly SolanaPayer[]> {
  const names = Array.from(
    { length: PAYERS_PER_CHAIN },
    (_, index) => `${SOLANA_SPEC.name}-payer-${index + 1}`,
  );
  return Promise.all(names.map((name) => loadPayer(join(keysDir, `${name}.key`))));
}

async function loadPayer(path: string): Promise<SolanaPayer> {
  const seed = loadSeed(path);
  const { address } = await createKeyPairSignerFromPrivateKeyBytes(seed);
  const secretKey = Uint8Array.from([...seed, ...getAddressEncoder().encode(address)]);
  return { address, secretKey: getBase58Decoder().decode(secretKey) };
}

/** Funds every account that has no lamports or lacks a token. */
export async function fundSolanaPayers(
  { rpcUrl, controls }: Pick<SolanaNode, "rpcUrl" | "controls">,
  payers: readonly SolanaPayer[],
): Promise<void> {
  const rpc = createSolanaRpc(rpcUrl);
  const commitment = "processed";
  const fundLamports = async (to: Address) => {
    const { value } = await rpc.getBalance(to, { commitment }).send();
    if (value === 0n) await controls.airdrop({ to, amount: LAMPORTS_EACH });
  };
  const fundTokens = async (owner: Address, mint: Address, amount: bigint) => {
    const config = { commitment, encoding: "base64" } as const;
    const { value } = await rpc.getTokenAccountsByOwner(owner, { mint }, config).send();
    if (value.length === 0) await controls.mintTo({ mint, owner, amount });
  };
  await Promise.all(
    payers.flatMap(({ address }) => [
      fundLamports(address),
      ...MINTED_TOKENS.map(({ mint, decimals }) =>
        fundTokens(address, mint, TOKENS_EACH * 10n ** BigInt(decimals)),
      ),
    ]),
  );
}
