/** Formats accounts as JSON. */
import { type Address, getBase58Decoder, getBase64Decoder } from "@solana/kit";
import { asRecord } from "../../json-file.ts";
import type { StoredAccount } from "../svm/account-history.ts";
import { TOKEN_PROGRAM_ADDRESS } from "../svm/programs.ts";
import { formatUiAmount, readMint, readTokenAccount } from "../svm/token-state.ts";
import { toInteger } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

/** The rent epoch that nodes return for every account, because all accounts are rent-exempt. */
const RENT_EPOCH = 18_446_744_073_709_551_615n;
/** Maximum number of bytes that nodes format in base58. */
const BASE58_BYTES_MAX = 128;

/** The requested encoding and slice of an account's data. */
type AccountForm = ReturnType<typeof toAccountForm>;

/** Parses the options of a method that returns accounts. */
export function toAccountForm(options: Readonly<Record<string, unknown>>) {
  const { encoding } = options;
  const slice = asRecord(options["dataSlice"]);
  return {
    encoding,
    slice: slice && {
      offset: Number(toInteger(slice["offset"], "dataSlice.offset")),
      length: Number(toInteger(slice["length"], "dataSlice.length")),
    },
  };
}

/** Reads another account in the same view, such as the mint of a token account. */
type ReadAccount = (address: Address) => StoredAccount | undefined;

/** Formats an account as JSON; null if it does not exist. */
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
      throw invalidParams(`Invalid params: encoding ${String(encoding)} is not supported`);
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

/** Formats token accounts and mints, without their extensions. Returns undefined for all others. */
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
