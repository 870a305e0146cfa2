import { setTimeout as sleep } from "node:timers/promises";
import type { SourceToken } from "@sluice/sdk";
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  type Rpc,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  type Signature,
  signTransactionMessageWithSigners,
  type SolanaRpcApi,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import type { DescribedSolanaChain } from "../descriptor.ts";
import { SandboxError } from "../errors.ts";
import { WSOL_MINT } from "../solana/genesis.ts";
import type { Party } from "./party.ts";

const CONFIRM_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/** Returns the party of a funded account on the Solana chain. */
export async function createSolanaParty(
  chain: DescribedSolanaChain,
  { secretKey }: DescribedSolanaChain["funded"][number],
): Promise<Party> {
  const rpc = createSolanaRpc(chain.rpcUrl);
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
  const balanceOf = (owner: Address, { standard, address: mint }: SourceToken) =>
    standard === "native" ? readLamports(rpc, owner) : readTokens(rpc, owner, address(mint));
  return {
    address: signer.address,
    async pay({ to, token, amount }) {
      const destination = address(to);
      const instructions =
        token.standard === "native"
          ? [getTransferSolInstruction({ source: signer, destination, amount: lamports(amount) })]
          : await transferTokens(rpc, { signer, destination, token, amount, balanceOf });
      return send(rpc, signer, instructions);
    },
    async readSpendable(token) {
      const balance = await balanceOf(signer.address, token);
      if (token.address !== WSOL_MINT) return balance;
      return balance + (await readLamports(rpc, signer.address));
    },
    balanceOf: (owner, token) => balanceOf(address(owner), token),
  };
}

/** Returns the transfer of a token between the associated accounts, which it creates if they are missing. */
async function transferTokens(
  rpc: Rpc<SolanaRpcApi>,
  payment: {
    readonly signer: KeyPairSigner;
    readonly destination: Address;
    readonly token: SourceToken;
    readonly amount: bigint;
    readonly balanceOf: (owner: Address, token: SourceToken) => Promise<bigint>;
  },
): Promise<readonly Instruction[]> {
  const { signer, destination, token, amount, balanceOf } = payment;
  const mint = address(token.address);
  const tokenProgram = await readOwner(rpc, mint);
  const accountOf = async (owner: Address) =>
    (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];
  const create = (owner: Address) =>
    getCreateAssociatedTokenIdempotentInstructionAsync({
      payer: signer,
      owner,
      mint,
      tokenProgram,
    });
  const source = await accountOf(signer.address);
  const missing = mint === WSOL_MINT ? amount - (await balanceOf(signer.address, token)) : 0n;
  const wrap =
    missing > 0n
      ? [
          await create(signer.address),
          getTransferSolInstruction({
            source: signer,
            destination: source,
            amount: lamports(missing),
          }),
          getSyncNativeInstruction({ account: source }),
        ]
      : [];
  return [
    ...wrap,
    await create(destination),
    getTransferCheckedInstruction(
      {
        source,
        mint,
        destination: await accountOf(destination),
        authority: signer,
        amount,
        decimals: token.decimals ?? 0,
      },
      { programAddress: tokenProgram },
    ),
  ];
}

/** Returns the program that owns a mint: the token program or Token-2022. */
async function readOwner(rpc: Rpc<SolanaRpcApi>, mint: Address): Promise<Address> {
  const { value } = await rpc.getAccountInfo(mint, { encoding: "base64" }).send();
  if (value) return value.owner;
  throw new SandboxError(`there is no mint ${mint} on this chain`);
}

async function readLamports(rpc: Rpc<SolanaRpcApi>, owner: Address): Promise<bigint> {
  return (await rpc.getBalance(owner, { commitment: "confirmed" }).send()).value;
}

async function readTokens(rpc: Rpc<SolanaRpcApi>, owner: Address, mint: Address): Promise<bigint> {
  const { value } = await rpc
    .getTokenAccountsByOwner(owner, { mint }, { commitment: "confirmed", encoding: "jsonParsed" })
    .send();
  return value.reduce(
    (sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount),
    0n,
  );
}

/** Sends a transaction and waits until it is confirmed. Throws a `SandboxError` if it fails. */
async function send(
  rpc: Rpc<SolanaRpcApi>,
  signer: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<Signature> {
  const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
  const transaction = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(signer, empty),
      (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
      (alive) => appendTransactionMessageInstructions(instructions, alive),
    ),
  );
  const signature = getSignatureFromTransaction(transaction);
  const wire = getBase64EncodedWireTransaction(transaction);
  await rpc.sendTransaction(wire, { encoding: "base64", preflightCommitment: "confirmed" }).send();
  const deadline = Date.now() + CONFIRM_TIMEOUT_MS;
  for (;;) {
    const { value } = await rpc.getSignatureStatuses([signature]).send();
    const [status] = value;
    if (status?.err) throw new SandboxError(`the payment failed on Solana (${signature})`);
    if (status && status.confirmationStatus !== "processed") return signature;
    if (Date.now() > deadline) {
      throw new SandboxError(
        `the payment ${signature} is in no block after ${CONFIRM_TIMEOUT_MS / 1_000} s`,
      );
    }
    await sleep(POLL_MS);
  }
}
