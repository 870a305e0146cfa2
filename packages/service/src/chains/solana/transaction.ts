/** The encoding of transactions: the message to sign, and the message with its signatures. */
import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageComputeUnitPrice,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import { assert } from "../../core/assert.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  toHex32,
  type TxHash,
  toTxHash,
} from "../../core/hex.ts";
import type { Lifetime } from "../port/index.ts";
import { bytesOf, fromBase58, hexOf, toBase58 } from "./base58.ts";

/** Size of one packet. */
export const TRANSACTION_BYTES_MAX = 1_232;
const SIGNATURE_BYTES = 64;

/** The parts of a message. */
export interface MessageParts {
  readonly instructions: readonly Instruction[];
  readonly feePayer: Address;
  readonly lifetime: Lifetime;
  /** Most compute units that the transaction may use. */
  readonly unitLimit: bigint;
  /** Micro-lamports offered per compute unit. */
  readonly unitPrice: bigint;
}

/** Returns the bytes to sign. Throws when they and their signatures do not fit one packet. */
export function compileMessage(parts: MessageParts): Uint8Array {
  const { instructions, feePayer, lifetime, unitLimit, unitPrice } = parts;
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(toBase58(feePayer), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        {
          blockhash: blockhash(toBase58(lifetime.blockhash)),
          lastValidBlockHeight: lifetime.lastValidHeight,
        },
        paid,
      ),
    (alive) => setTransactionMessageComputeUnitLimit(Number(unitLimit), alive),
    (limited) => setTransactionMessageComputeUnitPrice(unitPrice, limited),
    (priced) => appendTransactionMessageInstructions(instructions, priced),
  );
  const bytes = Uint8Array.from(compileTransaction(message).messageBytes);
  const signers = listSigners(bytes).length;
  const size = 1 + signers * SIGNATURE_BYTES + bytes.length;
  assert(size <= TRANSACTION_BYTES_MAX, "a transaction fits one packet");
  return bytes;
}

/** Lists the accounts that must sign a message, the fee payer first. */
export function listSigners(message: Uint8Array): readonly Address[] {
  const { header, staticAccounts } = getCompiledTransactionMessageDecoder().decode(message);
  return staticAccounts.slice(0, header.numSignerAccounts).map(fromBase58);
}

/** Returns the blockhash that limits the lifetime of a message. */
export function readBlockhash(message: Uint8Array): Hex32 {
  const { lifetimeToken } = getCompiledTransactionMessageDecoder().decode(message);
  return toHex32(fromBase58(lifetimeToken));
}

/** Encodes a message with its signatures, which must be in the order of its signers. */
export function encodeTransaction(message: Uint8Array, signatures: readonly Uint8Array[]): Hex {
  const signers = listSigners(message).length;
  assert(signatures.length === signers, "every signer signs");
  assert(
    signatures.every((signature) => signature.length === SIGNATURE_BYTES),
    "a signature has 64 bytes",
  );
  return hexOf(Buffer.concat([Uint8Array.of(signers), ...signatures, message]));
}

/** Encodes a message with zero signatures, for simulation. */
export function encodeUnsigned(message: Uint8Array): Hex {
  return encodeTransaction(
    message,
    listSigners(message).map(() => new Uint8Array(SIGNATURE_BYTES)),
  );
}

/** The parts of a signed transaction. */
export interface DecodedTransaction {
  readonly txHash: TxHash;
  readonly message: Uint8Array;
  /** In the order of the signers. */
  readonly signatures: readonly Uint8Array[];
  readonly signers: readonly Address[];
  readonly blockhash: Hex32;
}

/** Decodes a transaction. Throws on malformed bytes and on a missing signature. */
export function decodeTransaction(raw: Hex): DecodedTransaction {
  const { messageBytes, signatures } = getTransactionDecoder().decode(bytesOf(raw));
  const message = Uint8Array.from(messageBytes);
  const given = Object.values(signatures).map((signature) => {
    if (signature === null) throw new TypeError("a signature is missing");
    return Uint8Array.from(signature);
  });
  const [first] = given;
  if (!first) throw new TypeError("nobody signed the transaction");
  return {
    txHash: toTxHash(hexOf(first)),
    message,
    signatures: given,
    signers: listSigners(message),
    blockhash: readBlockhash(message),
  };
}
