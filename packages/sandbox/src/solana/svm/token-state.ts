/** Token accounts and mints of both token programs, read from their bytes. */
import { type Address, getAddressDecoder } from "@solana/kit";
import type { StoredAccount } from "./account-history.ts";
import { TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "./programs.ts";

const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
const MULTISIG_BYTES = 355;
/** Behind the first 165 bytes, Token-2022 says what an account with extensions is. */
const KIND_OFFSET = 165;
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;
const STATES = ["uninitialized", "initialized", "frozen"] as const;

/** A token account. */
export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly program: Address;
  readonly amount: bigint;
  readonly state: "initialized" | "frozen";
  readonly delegate: Address | undefined;
  readonly delegatedAmount: bigint;
  /** Lamports set aside as rent in an account of wrapped SOL; undefined in others. */
  readonly nativeReserve: bigint | undefined;
  readonly closeAuthority: Address | undefined;
}

/** A mint. */
export interface TokenMint {
  readonly program: Address;
  readonly supply: bigint;
  readonly decimals: number;
  readonly mintAuthority: Address | undefined;
  readonly freezeAuthority: Address | undefined;
}

/** True for both token programs. */
export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === TOKEN_2022_PROGRAM_ADDRESS;
}

/** The token account that these bytes are, if they are one. */
export function readTokenAccount(account: StoredAccount | undefined): TokenAccount | undefined {
  if (!account || !isTokenProgram(account.programAddress)) return undefined;
  const { data, programAddress: program } = account;
  if (!hasKind(account, TOKEN_ACCOUNT_BYTES, KIND_ACCOUNT)) return undefined;
  const state = STATES[data[108] ?? 0];
  if (state === undefined || state === "uninitialized") return undefined;
  const view = viewOf(data);
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    program,
    amount: view.getBigUint64(64, true),
    state,
    delegate: optionalAddressAt(data, 72),
    delegatedAmount: view.getBigUint64(121, true),
    nativeReserve: view.getUint32(109, true) === 1 ? view.getBigUint64(113, true) : undefined,
    closeAuthority: optionalAddressAt(data, 129),
  };
}

/** The mint that these bytes are, if they are one. */
export function readMint(account: StoredAccount | undefined): TokenMint | undefined {
  if (!account || !isTokenProgram(account.programAddress)) return undefined;
  const { data, programAddress: program } = account;
  if (!hasKind(account, MINT_BYTES, KIND_MINT) || data[45] !== 1) return undefined;
  return {
    program,
    supply: viewOf(data).getBigUint64(36, true),
    decimals: data[44] ?? 0,
    mintAuthority: optionalAddressAt(data, 0),
    freezeAuthority: optionalAddressAt(data, 46),
  };
}

/** An amount for people, as nodes write it. */
export function formatUiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const uiAmountString = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** Plain, or with extensions and then marked as what it is. */
function hasKind({ data, programAddress }: StoredAccount, bytes: number, kind: number): boolean {
  if (data.length === bytes) return true;
  if (programAddress !== TOKEN_2022_PROGRAM_ADDRESS || data.length === MULTISIG_BYTES) return false;
  return data.length > KIND_OFFSET && data[KIND_OFFSET] === kind;
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

function addressAt(data: Uint8Array, offset: number): Address {
  return getAddressDecoder().decode(data, offset);
}

function optionalAddressAt(data: Uint8Array, offset: number): Address | undefined {
  return viewOf(data).getUint32(offset, true) === 1 ? addressAt(data, offset + 4) : undefined;
}
