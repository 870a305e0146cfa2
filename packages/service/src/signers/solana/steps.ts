/** A decoder of instructions. It knows the few that the signer's messages use and refuses all others. */
import { assertNever } from "../../core/assert.ts";
import { type Address, toAddress } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";
import type { ReadInstruction } from "./message.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";

/** The effect of one instruction. Amounts are lamports or base units. */
export type Step =
  | { readonly kind: "unit limit"; readonly limit: bigint }
  | { readonly kind: "unit price"; readonly price: bigint }
  | {
      readonly kind: "send lamports";
      readonly from: Address;
      readonly to: Address;
      readonly amount: bigint;
    }
  | {
      readonly kind: "allocate";
      readonly account: Address;
      readonly base: Address;
      readonly seed: string;
      readonly bytes: bigint;
      readonly owner: Address;
    }
  | {
      readonly kind: "open token account";
      readonly program: Address;
      readonly account: Address;
      readonly mint: Address;
      readonly owner: Address;
    }
  | {
      readonly kind: "send tokens";
      readonly program: Address;
      readonly mint: Address;
      readonly source: Address;
      readonly to: Address;
      readonly authority: Address;
      readonly amount: bigint;
      readonly decimals: number;
    }
  | { readonly kind: "sync"; readonly account: Address }
  | {
      readonly kind: "harvest";
      readonly mint: Address;
      readonly account: Address;
    }
  | {
      readonly kind: "close";
      readonly program: Address;
      readonly account: Address;
      readonly to: Address;
      readonly authority: Address;
    }
  | {
      /** Changes the owner of a token account. */
      readonly kind: "hand over";
      readonly program: Address;
      readonly account: Address;
      readonly to: Address;
      readonly authority: Address;
    }
  | {
      readonly kind: "open associated account";
      readonly payer: Address;
      readonly account: Address;
      readonly owner: Address;
      readonly mint: Address;
      readonly program: Address;
    }
  | { readonly kind: "memo"; readonly text: string; readonly signers: readonly Address[] };

/** Decodes an instruction with all its accounts and bytes. Throws `SignerRefusal` for an unknown one. */
export function readStep(instruction: ReadInstruction): Step {
  const { program, data } = instruction;
  switch (program) {
    case COMPUTE_BUDGET_PROGRAM:
      return readComputeBudget(instruction);
    case SYSTEM_PROGRAM:
      return readSystem(instruction);
    case TOKEN_PROGRAM:
    case TOKEN_2022_PROGRAM:
      return readToken(instruction);
    case ASSOCIATED_TOKEN_PROGRAM: {
      const [payer, account, owner, mint, system, tokenProgram] = take(instruction, 6, "01");
      if (system !== SYSTEM_PROGRAM) throw unknown(program);
      return {
        kind: "open associated account",
        payer,
        account,
        owner,
        mint,
        program: tokenProgram,
      };
    }
    case MEMO_PROGRAM:
      return { kind: "memo", text: data.toString("utf8"), signers: instruction.accounts };
    default:
      throw new SignerRefusal(`program ${program} is not allowed`);
  }
}

/** Lists the accounts that a step changes. */
export function listChanged(step: Step): readonly Address[] {
  switch (step.kind) {
    case "unit limit":
    case "unit price":
    case "memo":
      return [];
    case "send lamports":
      return [step.from, step.to];
    case "send tokens":
      return [step.source, step.to];
    case "allocate":
    case "open token account":
    case "sync":
    case "hand over":
      return [step.account];
    case "harvest":
      return [step.mint, step.account];
    case "close":
      return [step.account, step.to];
    case "open associated account":
      return [step.payer, step.account];
    default:
      return assertNever(step);
  }
}

function readComputeBudget(instruction: ReadInstruction): Step {
  const { program, data } = instruction;
  takeAccounts(instruction, 0);
  if (data[0] === 2 && data.length === 5) {
    return { kind: "unit limit", limit: BigInt(data.readUInt32LE(1)) };
  }
  if (data[0] === 3 && data.length === 9) {
    return { kind: "unit price", price: data.readBigUInt64LE(1) };
  }
  throw unknown(program);
}

function readSystem(instruction: ReadInstruction): Step {
  const { program, data } = instruction;
  if (data.length === 12 && data.readUInt32LE(0) === 2) {
    const [from, to] = takeAccounts(instruction, 2);
    return { kind: "send lamports", from, to, amount: data.readBigUInt64LE(4) };
  }
  // CreateAccountWithSeed: number 9, base, seed with its length, size, owner.
  const seedLength = data.length - (4 + 32 + 8 + 8 + 32);
  if (
    seedLength > 0 &&
    data.readUInt32LE(0) === 9 &&
    data.readBigUInt64LE(36) === BigInt(seedLength)
  ) {
    const [account, signer] = takeAccounts(instruction, 2);
    const base = addressAt(data, 4);
    if (signer !== base) throw unknown(program);
    return {
      kind: "allocate",
      account,
      base,
      seed: data.subarray(44, 44 + seedLength).toString("latin1"),
      bytes: data.readBigUInt64LE(44 + seedLength),
      owner: addressAt(data, 52 + seedLength),
    };
  }
  throw unknown(program);
}

function readToken(instruction: ReadInstruction): Step {
  const { program, data } = instruction;
  if (data[0] === 12 && data.length === 10) {
    const [source, mint, to, authority] = takeAccounts(instruction, 4);
    const amount = data.readBigUInt64LE(1);
    const decimals = data.readUInt8(9);
    return { kind: "send tokens", program, mint, source, to, authority, amount, decimals };
  }
  if (data[0] === 18 && data.length === 33) {
    const [account, mint] = takeAccounts(instruction, 2);
    return { kind: "open token account", program, account, mint, owner: addressAt(data, 1) };
  }
  if (data[0] === 9 && data.length === 1) {
    const [account, to, authority] = takeAccounts(instruction, 3);
    return { kind: "close", program, account, to, authority };
  }
  // SetAuthority of type AccountOwner (2), with a new authority (1).
  if (data[0] === 6 && data.length === 35 && data[1] === 2 && data[2] === 1) {
    const [account, authority] = takeAccounts(instruction, 2);
    return { kind: "hand over", program, account, to: addressAt(data, 3), authority };
  }
  if (program === TOKEN_PROGRAM && data[0] === 17) {
    const [account, sysvar] = take(instruction, 2, "11");
    if (sysvar !== RENT_SYSVAR) throw unknown(program);
    return { kind: "sync", account };
  }
  if (program === TOKEN_2022_PROGRAM && data[0] === 26) {
    const [mint, account] = take(instruction, 2, "1a04");
    return { kind: "harvest", mint, account };
  }
  throw unknown(program);
}

/** A tuple of `N` accounts. */
type Tuple<N extends number, Taken extends readonly Address[] = []> = Taken["length"] extends N
  ? Taken
  : Tuple<N, readonly [...Taken, Address]>;

/** Requires exactly `count` accounts: an extra one could be another signer. */
function takeAccounts<const N extends number>(
  { program, accounts }: ReadInstruction,
  count: N,
): Tuple<N> {
  if (accounts.length !== count) throw unknown(program);
  // CAST: the length was checked above.
  return accounts as unknown as Tuple<N>;
}

function take<const N extends number>(
  instruction: ReadInstruction,
  count: N,
  data: string,
): Tuple<N> {
  if (instruction.data.toString("hex") !== data) throw unknown(instruction.program);
  return takeAccounts(instruction, count);
}

function addressAt(data: Buffer, offset: number): Address {
  return toAddress(`0x${data.subarray(offset, offset + 32).toString("hex")}`);
}

function unknown(program: Address): SignerRefusal {
  return new SignerRefusal(`unknown instruction of program ${program}`);
}
