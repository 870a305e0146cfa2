/** Mints as bytes, and the faucet that mints them. */
import { randomInt } from "node:crypto";
import {
  type Address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getBase64Encoder,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  blockhash,
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
} from "@solana-program/token";
import {
  AccountState,
  extension,
  type ExtensionArgs,
  getMintEncoder,
} from "@solana-program/token-2022";
import type { StoredAccount } from "./account-history.ts";
import type { Chain } from "./chain.ts";
import type { MintRequest } from "./controls.ts";
import { FAUCET_LAMPORTS, FAUCET_SEED, MINTED_TOKENS } from "./genesis.ts";
import {
  SYSTEM_PROGRAM_ADDRESS,
  TOKEN_2022_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from "./programs.ts";
import { type DecodedTransaction, decodeTransaction } from "./transaction.ts";

/** More than any transaction of the faucet uses, and room for numbers that tell them apart. */
const FAUCET_UNITS = 200_000;
const FAUCET_UNITS_SPREAD = 1_000_000;

/** Signs for the sandbox: gives lamports away and mints. */
export interface Faucet {
  readonly address: Address;
  giveLamports(to: Address, amount: bigint): Promise<DecodedTransaction>;
  mintTo(request: {
    readonly mint: Address;
    readonly owner: Address;
    readonly program: Address;
    readonly amount: bigint;
  }): Promise<DecodedTransaction>;
}

/** Makes the faucet of a chain. */
export async function createFaucet(chain: Pick<Chain, "ledger">): Promise<Faucet> {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(FAUCET_SEED);
  let count = randomInt(FAUCET_UNITS_SPREAD);
  const sign = async (instructions: readonly Instruction[]): Promise<DecodedTransaction> => {
    const { blockhash: hash, height } = chain.ledger.tip();
    // Two gifts that are alike would be one transaction; the limit makes each its own.
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
    giveLamports: (destination, amount) =>
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
        mintTo({ mint, token, signer, amount, tokenProgram }),
      ]);
    },
  };
}

function mintTo({
  mint,
  token,
  signer: mintAuthority,
  amount,
  tokenProgram: programAddress,
}: {
  readonly mint: Address;
  readonly token: Address;
  readonly signer: KeyPairSigner;
  readonly amount: bigint;
  readonly tokenProgram: Address;
}): Instruction {
  return getMintToInstruction({ mint, token, mintAuthority, amount }, { programAddress });
}

/** Puts the sandbox's mints and the faucet's lamports on a new chain. The faucet comes last: where it is, all is. */
export function writeGenesis(chain: Chain, faucet: Address): void {
  for (const { mint, decimals } of MINTED_TOKENS) {
    chain.write(mint, makeMint({ decimals }, faucet, chain.bank.minimumBalance), "always");
  }
  const account = {
    lamports: FAUCET_LAMPORTS,
    data: new Uint8Array(),
    programAddress: SYSTEM_PROGRAM_ADDRESS,
    executable: false,
  };
  chain.write(faucet, account, "always");
}

/** The account of a mint. */
export function makeMint(
  request: MintRequest,
  faucet: Address,
  minimumBalance: (bytes: bigint) => bigint,
): StoredAccount {
  const extensions = listExtensions(request, faucet);
  const program = request.program ?? (extensions.length > 0 ? "token-2022" : "token");
  if (program === "token" && extensions.length > 0) {
    throw new Error("only mints of token-2022 have extensions");
  }
  const data = Uint8Array.from(
    getMintEncoder().encode({
      mintAuthority: request.mintAuthority ?? faucet,
      supply: 0n,
      decimals: request.decimals,
      isInitialized: true,
      freezeAuthority: faucet,
      extensions: extensions.length > 0 ? [...extensions] : null,
    }),
  );
  return {
    lamports: minimumBalance(BigInt(data.length)),
    data,
    programAddress: program === "token" ? TOKEN_PROGRAM_ADDRESS : TOKEN_2022_PROGRAM_ADDRESS,
    executable: false,
  };
}

function listExtensions(request: MintRequest, authority: Address): readonly ExtensionArgs[] {
  const { transferFee, permanentDelegate, pausable, frozenByDefault, transferHook } = request;
  const extensions: ExtensionArgs[] = [];
  if (transferFee) {
    const { basisPoints: transferFeeBasisPoints, maximum: maximumFee } = transferFee;
    const fee = { epoch: 0n, maximumFee, transferFeeBasisPoints };
    extensions.push(
      extension("TransferFeeConfig", {
        transferFeeConfigAuthority: authority,
        withdrawWithheldAuthority: authority,
        withheldAmount: 0n,
        olderTransferFee: fee,
        newerTransferFee: fee,
      }),
    );
  }
  if (permanentDelegate) {
    extensions.push(extension("PermanentDelegate", { delegate: permanentDelegate }));
  }
  if (pausable) extensions.push(extension("PausableConfig", { authority, paused: false }));
  if (frozenByDefault) {
    extensions.push(extension("DefaultAccountState", { state: AccountState.Frozen }));
  }
  if (request.nonTransferable) extensions.push(extension("NonTransferable", {}));
  if (transferHook) {
    extensions.push(extension("TransferHook", { authority, programId: transferHook }));
  }
  return extensions;
}
