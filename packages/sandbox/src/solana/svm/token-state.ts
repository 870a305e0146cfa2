/** Decodes token accounts and mints of both token programs. */
import { type Address, getAddressDecoder } from "@solana/kit";
import type { StoredAccount } from "./account-history.ts";
import { TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "./programs.ts";

const TOKEN_ACCOUNT_BYTES = 165;
const MINT_BYTES = 82;
const MULTISIG_BYTES = 355;
/** Offset of the account type that Token-2022 stores in accounts with extensions. */
const KIND_OFFSET = 165;
const KIND_MINT = 1;
const KIND_ACCOUNT = 2;
const STATES = ["uninitialized", "initialized", "frozen"] as const;

/** A token account. */
interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly program: Address;
  readonly amount: bigint;
  readonly state: "initialized" | "frozen";
  readonly delegate: Address | undefined;
  readonly delegatedAmount: bigint;
  /** Lamports reserved as rent in a wrapped SOL account; undefined in others. */
  readonly nativeReserve: bigint | undefined;
  readonly closeAuthority: Address | undefined;
}

/** A mint. */
interface TokenMint {
  readonly program: Address;
  readonly supply: bigint;
  readonly decimals: number;
  readonly mintAuthority: Address | undefined;
  readonly freezeAuthority: Address | undefined;
}

/** Reports whether the program is one of the two token programs. */
export function isTokenProgram(program: Address): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === TOKEN_2022_PROGRAM_ADDRESS;
}

/** Decodes a token account; undefined if the account is not one. */
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

/** Decodes a mint; undefined if the account is not one. */
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

/** Formats an amount as `UiTokenAmount`, as nodes do. */
export function formatUiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const uiAmountString = fraction === "" ? whole : `${whole}.${fraction}`;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

/** Reports whether an account has the given type: by length, or by the account type if it has extensions. */
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
