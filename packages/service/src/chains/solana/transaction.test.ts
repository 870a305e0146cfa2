import { getTransferSolInstruction } from "@solana-program/system";
import { createNoopSigner, lamports } from "@solana/kit";
import { describe, expect, test } from "vitest";
import { toAddress, toHex32, toTxHash } from "../../core/hex.ts";
import { toBase58 } from "./base58.ts";
import { readFailure } from "./failures.ts";
import {
  compileMessage,
  decodeTransaction,
  encodeTransaction,
  listSigners,
} from "./transaction.ts";

const PAYER = toAddress(`0x${"a1".repeat(32)}`);
const OTHER = toAddress(`0x${"a2".repeat(32)}`);
const BLOCKHASH = toHex32(`0x${"bb".repeat(32)}`);

function transfer(from = OTHER) {
  return getTransferSolInstruction({
    source: createNoopSigner(toBase58(from)),
    destination: toBase58(PAYER),
    amount: lamports(5n),
  });
}

const compile = (instructions = [transfer()]) =>
  compileMessage({
    instructions,
    feePayer: PAYER,
    lifetime: { blockhash: BLOCKHASH, lastValidHeight: 5n },
    unitLimit: 1_000n,
    unitPrice: 2n,
  });

describe("a transaction", () => {
  test("decodes to its message and signatures", () => {
    const message = compile();
    expect(listSigners(message)).toEqual([PAYER, OTHER]);
    const signatures = [new Uint8Array(64).fill(1), new Uint8Array(64).fill(2)];
    expect(decodeTransaction(encodeTransaction(message, signatures))).toEqual({
      txHash: toTxHash(`0x${"01".repeat(64)}`),
      message,
      signatures,
      signers: [PAYER, OTHER],
      blockhash: BLOCKHASH,
    });
  });

  test("is refused without every signature at full length", () => {
    const message = compile();
    const signature = new Uint8Array(64).fill(1);
    expect(() => encodeTransaction(message, [signature])).toThrow("every signer signs");
    expect(() => encodeTransaction(message, [signature, new Uint8Array(63)])).toThrow("64 bytes");
  });

  test("is refused when it does not fit one packet", () => {
    const many = Array.from({ length: 62 }, () => transfer());
    expect(() => compile(many)).toThrow("fits one packet");
  });
});

describe("the reason of a failed simulation", () => {
  const said = (error: unknown, from = OTHER) =>
    readFailure(error, { instructions: [transfer(from)], payer: toBase58(PAYER) });

  test.each([
    ["AccountNotFound", "gas"],
    ["InsufficientFundsForFee", "gas"],
    ["AccountInUse", "AccountInUse"],
    [{ InsufficientFundsForRent: { account_index: 0 } }, "gas"],
    [{ InsufficientFundsForRent: { account_index: 2 } }, "InsufficientFundsForRent"],
    [{ InstructionError: [2, { Custom: 1 }] }, "InsufficientFunds"],
    [{ InstructionError: [2, { Custom: 99 }] }, "Custom99"],
    [{ InstructionError: [2, "InvalidAccountData"] }, "InvalidAccountData"],
    [{ InstructionError: [5, { Custom: 17 }] }, "AccountFrozen"],
    [{ InstructionError: [2, { BorshIoError: "text of a node" }] }, "reverted"],
    ["text of a node", "reverted"],
    [{}, "reverted"],
    [7, "reverted"],
  ])("of %j is %s", (error, reason) => {
    expect(said(error)).toBe(reason);
  });

  test("is gas when the fee payer lacks funds", () => {
    expect(said({ InstructionError: [2, { Custom: 1 }] }, PAYER)).toBe("gas");
  });
});
