import { type Address, address } from "@solana/kit";
import { SYSTEM_PROGRAM_ADDRESS as SYSTEM } from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS as TOKEN } from "@solana-program/token";
import { TOKEN_2022_PROGRAM_ADDRESS as TOKEN_2022 } from "@solana-program/token-2022";

export const SYSTEM_PROGRAM_ADDRESS: Address = SYSTEM;
export const TOKEN_PROGRAM_ADDRESS: Address = TOKEN;
export const TOKEN_2022_PROGRAM_ADDRESS: Address = TOKEN_2022;

/** Its instructions set the price and the limit of compute units. */
export const COMPUTE_BUDGET_PROGRAM_ADDRESS: Address = address(
  "ComputeBudget111111111111111111111111111111",
);

/** Versions 1, 3 and 4 of the memo program. Version 4 is not deployed on the sandbox's chain. */
export const MEMO_PROGRAM_ADDRESSES: readonly Address[] = [
  address("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo"),
  address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  address("Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH"),
];
