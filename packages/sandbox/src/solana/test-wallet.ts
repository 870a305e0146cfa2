/** A wallet for tests: the unmodified client over HTTP, with transactions of each version. */
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  pipe,
  type Rpc,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  type Signature,
  signTransactionMessageWithSigners,
  type SolanaErrorCode,
  type SolanaRpcApi,
  type TransactionSigner,
} from "@solana/kit";

export interface Signed {
  readonly wire: ReturnType<typeof getBase64EncodedWireTransaction>;
  readonly signature: Signature;
  readonly lastValidBlockHeight: bigint;
}

interface SignOptions {
  readonly version?: 0 | 1;
  readonly lifetime?: { readonly blockhash: Blockhash; readonly lastValidBlockHeight: bigint };
}

/** Returns the error code of a request; undefined if it succeeds. */
export async function codeOf(request: Promise<unknown>): Promise<SolanaErrorCode | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (!isSolanaError(error)) throw error;
    return error.context["__code"];
  }
}

export type TestWallet = ReturnType<typeof connectWallet>;

export function connectWallet(url: string) {
  const rpc: Rpc<SolanaRpcApi> = createSolanaRpc(url);

  const sign = async (
    payer: TransactionSigner,
    instructions: readonly Instruction[],
    { version = 0, lifetime }: SignOptions = {},
  ): Promise<Signed> => {
    const latest =
      lifetime ?? (await rpc.getLatestBlockhash({ commitment: "confirmed" }).send()).value;
    const signed =
      version === 0
        ? await signTransactionMessageWithSigners(
            pipe(
              createTransactionMessage({ version: 0 }),
              (m) => setTransactionMessageFeePayerSigner(payer, m),
              (m) => setTransactionMessageLifetimeUsingBlockhash(latest, m),
              (m) => appendTransactionMessageInstructions(instructions, m),
            ),
          )
        : await signTransactionMessageWithSigners(
            pipe(
              createTransactionMessage({ version: 1 }),
              (m) => setTransactionMessageFeePayerSigner(payer, m),
              (m) => setTransactionMessageLifetimeUsingBlockhash(latest, m),
              (m) => setTransactionMessageComputeUnitLimit(50_000, m),
              (m) => setTransactionMessageLoadedAccountsDataSizeLimit(1_000_000, m),
              (m) => appendTransactionMessageInstructions(instructions, m),
            ),
          );
    return {
      wire: getBase64EncodedWireTransaction(signed),
      signature: getSignatureFromTransaction(signed),
      lastValidBlockHeight: latest.lastValidBlockHeight,
    };
  };
  const post = ({ wire }: Pick<Signed, "wire">, skipPreflight = true) =>
    rpc
      .sendTransaction(wire, {
        encoding: "base64",
        skipPreflight,
        preflightCommitment: "processed",
      })
      .send();

  return {
    rpc,
    sign,
    post,
    send: async (
      payer: TransactionSigner,
      instructions: readonly Instruction[],
      options: SignOptions = {},
    ): Promise<Signature> => post(await sign(payer, instructions, options)),
    balanceOf: async (address: Address, commitment: "processed" | "finalized" = "processed") =>
      (await rpc.getBalance(address, { commitment }).send()).value,
    statusOf: async (signature: Signature) =>
      (await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send())
        .value[0],
    newSigner: (): Promise<KeyPairSigner> => generateKeyPairSigner(),
    signerOf: (seed: Uint8Array): Promise<KeyPairSigner> =>
      createKeyPairSignerFromPrivateKeyBytes(seed),
  };
}
