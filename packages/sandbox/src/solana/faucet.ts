/** The faucet of the chain: transfers lamports and mints tokens by ordinary transactions. */
import { randomInt } from "node:crypto";
import {
  type Address,
  appendTransactionMessageInstructions,
  blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  type Instruction,
  lamports,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getMintToInstruction,
  getSyncNativeInstruction,
} from "@solana-program/token";
import type { Chain } from "./chain.ts";
import { FAUCET_SEED, WSOL_MINT } from "./genesis.ts";
import { type DecodedTransaction, decodeTransaction } from "./svm/transaction.ts";

/** Minimum compute unit limit of a faucet transaction, and the range that makes the limits different. */
const FAUCET_UNITS = 200_000;
const FAUCET_UNITS_SPREAD = 1_000_000;

/** Signs transactions that fund accounts. The caller submits them. */
export interface Faucet {
  readonly address: Address;
  transferLamports(to: Address, amount: bigint): Promise<DecodedTransaction>;
  /** Mints a token, or wraps SOL if the mint is WSOL. */
  mintTo(request: {
    readonly mint: Address;
    readonly owner: Address;
    readonly program: Address;
    readonly amount: bigint;
  }): Promise<DecodedTransaction>;
}

/** Creates the faucet of a chain. */
export async function createFaucet(chain: Pick<Chain, "ledger">): Promise<Faucet> {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(FAUCET_SEED);
  let count = randomInt(FAUCET_UNITS_SPREAD);
  const sign = async (instructions: readonly Instruction[]): Promise<DecodedTransaction> => {
    const { blockhash: hash, height } = chain.ledger.tip();
    // Two identical requests would give the same transaction; a different unit limit makes each unique.
    const units = FAUCET_UNITS + (count % FAUCET_UNITS_SPREAD);
    count += 1;
    const lifetime = { blockhash: blockhash(hash), lastValidBlockHeight: height };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(signer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (alive) => setTransactionMessageComputeUnitLimit(units, alive),
      (limited) => appendTransactionMessageInstructions(instructions, limited),
    );
    const signed = await signTransactionMessageWithSigners(message);
    const wire = getBase64EncodedWireTransaction(signed);
    return decodeTransaction(Uint8Array.from(getBase64Encoder().encode(wire)));
  };
  return {
    address: signer.address,
    transferLamports: (destination, amount) =>
      sign([getTransferSolInstruction({ source: signer, destination, amount: lamports(amount) })]),
    mintTo: async ({ mint, owner, program: tokenProgram, amount }) => {
      const [token] = await findAssociatedTokenPda({ owner, mint, tokenProgram });
      return sign([
        await getCreateAssociatedTokenIdempotentInstructionAsync({
          payer: signer,
          owner,
          mint,
          tokenProgram,
        }),
        ...(mint === WSOL_MINT
          ? [
              getTransferSolInstruction({
                source: signer,
                destination: token,
                amount: lamports(amount),
              }),
              getSyncNativeInstruction({ account: token }),
            ]
          : [
              getMintToInstruction(
                { mint, token, mintAuthority: signer, amount },
                { programAddress: tokenProgram },
              ),
            ]),
      ]);
    },
  };
}
