/** Accounts as JSON. */
import { type Address, getBase58Decoder, getBase64Decoder } from "@solana/kit";
import { asRecord } from "../../json-file.ts";
import type { StoredAccount } from "../svm/account-history.ts";
import { TOKEN_PROGRAM_ADDRESS } from "../svm/programs.ts";
import { formatUiAmount, readMint, readTokenAccount } from "../svm/token-state.ts";
import { toWhole } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

/** What nodes say of every account since none pays rent over time any more. */
const RENT_EPOCH = 18_446_744_073_709_551_615n;
/** More than this is not written in base58. */
const BASE58_BYTES_MAX = 128;

/** How a caller wants an account's bytes. */
export type AccountForm = ReturnType<typeof toAccountForm>;

/** Reads the options of a method that answers with accounts. */
export function toAccountForm(options: Readonly<Record<string, unknown>>) {
  const { encoding } = options;
  const slice = asRecord(options["dataSlice"]);
  return {
    encoding,
    slice: slice && {
      offset: Number(toWhole(slice["offset"], "dataSlice.offset")),
      length: Number(toWhole(slice["length"], "dataSlice.length")),
    },
  };
}

/** Reads an account in the same view, such as the mint of a token account. */
export type ReadAccount = (address: Address) => StoredAccount | undefined;

/** An account as JSON, or null where there is none. */
export function writeAccount(
  account: StoredAccount | undefined,
  form: AccountForm,
  read: ReadAccount,
) {
  if (!account) return null;
  return {
    data: writeData(account, form, read),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: RENT_EPOCH,
    space: account.data.length,
  };
}

function writeData(account: StoredAccount, { encoding, slice }: AccountForm, read: ReadAccount) {
  const data = slice
    ? account.data.subarray(slice.offset, slice.offset + slice.length)
    : account.data;
  switch (encoding) {
    case undefined:
    case null:
    case "binary":
      return toBase58(data);
    case "base58":
      return [toBase58(data), "base58"];
    case "base64":
      return [getBase64Decoder().decode(data), "base64"];
    case "jsonParsed":
      return writeParsed(account, read) ?? [getBase64Decoder().decode(data), "base64"];
    default:
      throw invalidParams(`Invalid params: encoding ${String(encoding)} is not served here`);
  }
}

function toBase58(data: Uint8Array): string {
  if (data.length > BASE58_BYTES_MAX) {
    throw invalidParams(
      `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use Base64 encoding.`,
    );
  }
  return getBase58Decoder().decode(data);
}

/** Token accounts and mints, without their extensions. Everything else stays bytes. */
function writeParsed(account: StoredAccount, read: ReadAccount) {
  const program = account.programAddress === TOKEN_PROGRAM_ADDRESS ? "spl-token" : "spl-token-2022";
  const space = account.data.length;
  const token = readTokenAccount(account);
  if (token) {
    const decimals = readMint(read(token.mint))?.decimals ?? 0;
    const { mint, owner, state, delegate, delegatedAmount, nativeReserve, closeAuthority } = token;
    const info = {
      mint,
      owner,
      state,
      isNative: nativeReserve !== undefined,
      tokenAmount: formatUiAmount(token.amount, decimals),
      ...(delegate && { delegate, delegatedAmount: formatUiAmount(delegatedAmount, decimals) }),
      ...(nativeReserve !== undefined && { rentExemptReserve: formatUiAmount(nativeReserve, 9) }),
      ...(closeAuthority && { closeAuthority }),
    };
    return { program, parsed: { type: "account", info }, space };
  }
  const mint = readMint(account);
  if (!mint) return undefined;
  const info = {
    decimals: mint.decimals,
    freezeAuthority: mint.freezeAuthority ?? null,
    isInitialized: true,
    mintAuthority: mint.mintAuthority ?? null,
    supply: mint.supply.toString(),
  };
  return { program, parsed: { type: "mint", info }, space };
}
