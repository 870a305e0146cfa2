/** The SVM with the accounts of a deployment, and their keys. */
import {
  createKeyPairSignerFromPrivateKeyBytes,
  createNoopSigner,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
  signBytes,
} from "@solana/kit";
import {
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getMintToInstruction,
} from "@solana-program/token";
import { type ExtensionArgs, getMintEncoder, getTokenDecoder } from "@solana-program/token-2022";
import { FailedTransactionMetadata, LiteSVM } from "litesvm";
import { type Commitment, GOVERNED } from "../../src/core/commitment.ts";
import { type Address, NATIVE_SOL, toAddress, toEvmAddress, toHex32 } from "../../src/core/hex.ts";
import { deliveryIdOf, hashCommitment } from "../../src/chains/evm/commitment.ts";
import { createLockIds } from "../../src/chains/solana/order-facts.ts";
import { bytesOf, fromBase58, toBase58 } from "../../src/chains/solana/base58.ts";
import {
  associatedAccountOf,
  TOKEN_PROGRAMS,
  WRAPPED_SOL,
} from "../../src/chains/solana/derived-accounts.ts";
import { buildInstructions } from "../../src/chains/solana/instructions.ts";
import {
  type MintFacts,
  type OrderFacts,
  WRAPPED_SOL_FACTS,
} from "../../src/chains/solana/order-facts.ts";
import type { Order } from "../../src/chains/solana/orders.ts";
import {
  compileMessage,
  encodeTransaction,
  listSigners,
} from "../../src/chains/solana/transaction.ts";

export const SOLANA = 1;
export const FACTORY = toEvmAddress("0x00000000000000000000000000000000000fac70");
/** The SVM's rent in lamports per byte, charged on 128 more bytes. */
const LAMPORTS_PER_BYTE = 6_960n;

/** Returns the SVM's rent for an account. */
export const rentOf = (bytes: number): bigint => (BigInt(bytes) + 128n) * LAMPORTS_PER_BYTE;

/** Returns a commitment with destination Solana, unique per number. */
export function commitmentOf(number: number, fields: Partial<Commitment> = {}): Commitment {
  return {
    integrator: toHex32(`0x${"11".repeat(32)}`),
    userId: toHex32(`0x${number.toString(16).padStart(64, "0")}`),
    destChain: SOLANA,
    destWallet: toHex32(`0x${"77".repeat(30)}${number.toString(16).padStart(4, "0")}`),
    destToken: toHex32(NATIVE_SOL),
    refundAuthority: toHex32(`0x${"99".repeat(30)}${number.toString(16).padStart(4, "0")}`),
    maxFeeBps: 100,
    maxSlippageBps: 50,
    ...GOVERNED,
    ...fields,
  };
}

/** A deployment whose keys the test holds. */
export interface Deployment {
  readonly facts: OrderFacts;
  readonly mints: Map<Address, MintFacts>;
  /** Opens the vault of a commitment, so that it can sign. */
  vaultOf(commitment: Commitment): Promise<Address>;
  /** Signs a message as all its signers. */
  sign(message: Uint8Array): Promise<`0x${string}`>;
}

/** Creates a deployment with the same keys each time. */
export async function deploy(): Promise<Deployment> {
  const keys = new Map<Address, KeyPairSigner>();
  const newKey = async (seed: Uint8Array): Promise<Address> => {
    const signer = await createKeyPairSignerFromPrivateKeyBytes(seed);
    const address = fromBase58(signer.address);
    keys.set(address, signer);
    return address;
  };
  const ownKey = (number: number) => newKey(new Uint8Array(32).fill(number));
  const [feePayer, escrow, delivery, treasury] = await Promise.all([1, 2, 3, 4].map(ownKey));
  if (!feePayer || !escrow || !delivery || !treasury) throw new Error("four keys");
  const mints = new Map<Address, MintFacts>([[WRAPPED_SOL, WRAPPED_SOL_FACTS]]);
  const vaultOf = (commitment: Commitment) => newKey(bytesOf(hashCommitment(commitment)));
  return {
    mints,
    vaultOf,
    facts: {
      feePayer,
      escrow,
      delivery,
      treasury,
      vaultOf,
      hashCommitment,
      ...createLockIds(
        { chainId: SOLANA, escrow, delivery },
        { hash: hashCommitment, deliveryIdOf },
      ),
      mintFactsOf(mint) {
        const found = mints.get(mint);
        if (!found) throw new Error("no such mint");
        return found;
      },
      rentOf,
    },
    async sign(message) {
      const signatures = await Promise.all(
        listSigners(message).map((address) => {
          const signer = keys.get(address);
          if (!signer) throw new Error(`no key of ${address}`);
          return signBytes(signer.keyPair.privateKey, message);
        }),
      );
      return encodeTransaction(message, signatures);
    },
  };
}

/** The result of a transaction. */
export interface Outcome {
  /** The error; null if it succeeded. */
  readonly error: string | null;
  readonly units: bigint;
  readonly bytes: number;
}

/** The SVM and a deployment on it. */
export class Svm {
  readonly svm = new LiteSVM().withNativeMints().withTransactionHistory(0n);
  readonly deployment: Deployment;
  #mintCount = 0;

  private constructor(deployment: Deployment) {
    this.deployment = deployment;
  }

  /** Starts it with a fee payer, an inventory of SOL and a treasury. */
  static async start(): Promise<Svm> {
    const world = new Svm(await deploy());
    const { feePayer, delivery, treasury } = world.deployment.facts;
    for (const account of [feePayer, delivery, treasury]) world.giveSol(account, 10n ** 12n);
    return world;
  }

  giveSol(to: Address, amount: bigint): void {
    this.svm.airdrop(toBase58(to), lamports(amount));
  }

  /** Creates a mint that the deployment knows. */
  createMint(facts: MintFacts, extensions: ExtensionArgs[] = []): Address {
    this.#mintCount += 1;
    const mint = toAddress(`0x${(0x5000 + this.#mintCount).toString(16).padStart(64, "a")}`);
    this.writeMint(mint, facts, extensions);
    this.deployment.mints.set(mint, facts);
    return mint;
  }

  writeMint(mint: Address, { program, decimals }: MintFacts, extensions: ExtensionArgs[]): void {
    const authority = toBase58(this.deployment.facts.feePayer);
    const data = getMintEncoder().encode({
      mintAuthority: authority,
      supply: 0n,
      decimals,
      isInitialized: true,
      freezeAuthority: authority,
      extensions: extensions.length > 0 ? extensions : null,
    });
    this.svm.setAccount({
      address: toBase58(mint),
      lamports: lamports(rentOf(data.length)),
      data: Uint8Array.from(data),
      programAddress: TOKEN_PROGRAMS[program],
      executable: false,
      space: BigInt(data.length),
    });
  }

  /** Mints tokens into the associated account of an owner, or into another of its accounts. */
  async giveTokens(owner: Address, mint: Address, amount: bigint, into?: Address): Promise<void> {
    const { feePayer, mintFactsOf } = this.deployment.facts;
    const { program } = mintFactsOf(mint);
    const payer = createNoopSigner(toBase58(feePayer));
    const programAddress = TOKEN_PROGRAMS[program];
    const account = into ?? (await associatedAccountOf(owner, mint, program));
    const open = await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer,
      owner: toBase58(owner),
      mint: toBase58(mint),
      tokenProgram: programAddress,
    });
    const give = getMintToInstruction(
      { mint: toBase58(mint), token: toBase58(account), mintAuthority: payer, amount },
      { programAddress },
    );
    const { error } = await this.run(into ? [give] : [open, give]);
    if (error !== null) throw new Error(error);
  }

  solOf(owner: Address): bigint {
    return this.svm.getBalance(toBase58(owner)) ?? 0n;
  }

  /** Returns the balance of a token account, or null if it does not exist. */
  heldIn(account: Address): bigint | null {
    const found = this.svm.getAccount(toBase58(account));
    return found.exists && found.data.length >= 165
      ? getTokenDecoder().decode(found.data).amount
      : null;
  }

  /** Returns the owner of a token account. */
  ownerOf(account: Address): Address {
    const found = this.svm.getAccount(toBase58(account));
    if (!found.exists) throw new Error("no such account");
    return fromBase58(getTokenDecoder().decode(found.data).owner);
  }

  async tokensOf(owner: Address, mint: Address): Promise<bigint | null> {
    const { program } = this.deployment.facts.mintFactsOf(mint);
    return this.heldIn(await associatedAccountOf(owner, mint, program));
  }

  exists(account: Address): boolean {
    return this.svm.getAccount(toBase58(account)).exists;
  }

  /** Returns the signed transaction of some orders. */
  async sign(orders: readonly Order[], unitLimit = 400_000n): Promise<`0x${string}`> {
    const { facts } = this.deployment;
    return this.#sign(await buildInstructions(orders, facts), unitLimit);
  }

  /** Runs instructions of any kind, paid by the fee payer. */
  async run(instructions: readonly Instruction[]): Promise<Outcome> {
    return this.send(await this.#sign(instructions, 400_000n));
  }

  async #sign(instructions: readonly Instruction[], unitLimit: bigint): Promise<`0x${string}`> {
    const { facts } = this.deployment;
    const blockhash = toHex32(fromBase58(this.svm.latestBlockhash()));
    const message = compileMessage({
      instructions,
      feePayer: facts.feePayer,
      lifetime: { blockhash, lastValidHeight: 150n },
      unitLimit,
      unitPrice: 1_000n,
    });
    return this.deployment.sign(message);
  }

  async execute(orders: readonly Order[]): Promise<Outcome> {
    return this.send(await this.sign(orders));
  }

  send(raw: `0x${string}`): Outcome {
    const bytes = bytesOf(raw);
    const result = this.svm.sendTransaction(getTransactionDecoder().decode(bytes));
    this.svm.expireBlockhash();
    const failed = result instanceof FailedTransactionMetadata;
    const details = failed ? result.meta() : result;
    return {
      error: failed ? `${result.err().toString()} ${details.logs().join("; ")}` : null,
      units: details.computeUnitsConsumed(),
      bytes: bytes.length,
    };
  }
}
