/** Names for the failures of transactions. */
import type { Instruction } from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";

/** Instructions that set limit and price come before those of the orders. */
const BUDGET_INSTRUCTIONS = 2;

/** Custom errors of the token programs that orders can cause. */
const TOKEN_ERRORS: Readonly<Record<number, string>> = {
  1: "InsufficientFunds",
  2: "InvalidMint",
  3: "MintMismatch",
  4: "OwnerMismatch",
  11: "NonNativeHasBalance",
  17: "AccountFrozen",
  18: "MintDecimalsMismatch",
  35: "FeesWithheld",
  36: "MemoRequired",
  37: "NonTransferable",
};
/** Custom errors of the system program. */
const SYSTEM_ERRORS: Readonly<Record<number, string>> = {
  0: "AlreadyInUse",
  1: "InsufficientFunds",
};

/** Names of the failures that orders can cause. */
export const FAILURE_NAMES: readonly string[] = [
  ...Object.values(TOKEN_ERRORS),
  ...Object.values(SYSTEM_ERRORS),
  "InsufficientFundsForRent",
];

/**
 * Returns whether the transaction would leave a signing account other than the payer below its minimum balance. Vaults
 * are emptied, so a small amount arrived after the order was built (dust).
 */
export function isLeftover(error: unknown, signersCount: number): boolean {
  const rent = isRecord(error) ? error["InsufficientFundsForRent"] : undefined;
  const place = isRecord(rent) ? Number(rent["account_index"]) : 0;
  // Accounts that sign come first.
  return place > 0 && place < signersCount;
}

/**
 * Returns the name of a node's error; `gas` when the payer cannot pay fee or rent, which is not a fault of the order.
 */
export function readFailure(
  error: unknown,
  {
    instructions,
    payer,
  }: { readonly instructions: readonly Instruction[]; readonly payer: string },
): string {
  if (error === "AccountNotFound" || error === "InsufficientFundsForFee") return "gas";
  if (typeof error === "string") return named(error);
  if (!isRecord(error)) return "reverted";
  const rent = error["InsufficientFundsForRent"];
  // The payer is the first account of all.
  if (isRecord(rent)) return rent["account_index"] === 0 ? "gas" : "InsufficientFundsForRent";
  const failed = error["InstructionError"];
  if (!Array.isArray(failed)) return "reverted";
  const [place, what]: unknown[] = failed;
  const instruction = instructions[Number(place) - BUDGET_INSTRUCTIONS];
  if (typeof what === "string") return named(what);
  const code = isRecord(what) ? what["Custom"] : undefined;
  if (typeof code !== "number") return "reverted";
  const isOfPayer = instruction?.accounts?.[0]?.address === payer;
  switch (instruction?.programAddress) {
    case SYSTEM_PROGRAM_ADDRESS:
    // Forwards errors of the system program, which funds the account that it opens.
    case ASSOCIATED_TOKEN_PROGRAM_ADDRESS:
      if (code === 1 && isOfPayer) return "gas";
      return SYSTEM_ERRORS[code] ?? `Custom${code}`;
    default:
      return TOKEN_ERRORS[code] ?? `Custom${code}`;
  }
}

/** Returns the text if it is a plain name; never passes on a node's free text. */
function named(text: string): string {
  return /^[A-Za-z]{1,60}$/.test(text) ? text : "reverted";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
