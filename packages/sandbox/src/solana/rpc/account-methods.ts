/** Methods that read accounts at the requested commitment level. */
import type { Address } from "@solana/kit";
import type { Chain } from "../chain.ts";
import { formatUiAmount, isTokenProgram, readMint, readTokenAccount } from "../svm/token-state.ts";
import { toAccountForm, writeAccount } from "./account-json.ts";
import { inContext, type Methods, viewOf } from "./method.ts";
import { toAddress } from "./params.ts";
import { invalidParams } from "./rpc-error.ts";

const ACCOUNTS_MAX = 100;

/** Returns the methods. */
export function accountMethods(chain: Chain): Methods {
  const { history } = chain.bank;
  const open = (options: Readonly<Record<string, unknown>>) => {
    const view = viewOf(chain, options);
    const read = (address: Address) => history.readAt(address, view.block.slot);
    return { view, read, answer: (value: unknown) => inContext(view, value) };
  };

  return {
    getAccountInfo: (params) => {
      const options = params.optionsAt(1);
      const { read, answer } = open(options);
      return answer(writeAccount(read(params.address(0)), toAccountForm(options), read));
    },
    getMultipleAccounts: (params) => {
      const options = { encoding: "base64", ...params.optionsAt(1) };
      const { read, answer } = open(options);
      const addresses = params.list(0, "addresses", ACCOUNTS_MAX).map(toAddress);
      const form = toAccountForm(options);
      return answer(addresses.map((address) => writeAccount(read(address), form, read)));
    },
    getBalance: (params) => {
      const { read, answer } = open(params.optionsAt(1));
      return answer(read(params.address(0))?.lamports ?? 0n);
    },
    getTokenAccountBalance: (params) => {
      const { read, answer } = open(params.optionsAt(1));
      const account = read(params.address(0));
      if (!account) throw invalidParams("Invalid param: could not find account");
      const token = readTokenAccount(account);
      if (!token) throw invalidParams("Invalid param: not a Token account");
      const mint = readMint(read(token.mint));
      return answer(formatUiAmount(token.amount, mint?.decimals ?? 0));
    },
    getTokenSupply: (params) => {
      const { read, answer } = open(params.optionsAt(1));
      const mint = readMint(read(params.address(0)));
      if (!mint) throw invalidParams("Invalid param: not a Token mint");
      return answer(formatUiAmount(mint.supply, mint.decimals));
    },
    getTokenAccountsByOwner: (params) => {
      const owner = params.address(0);
      const options = params.optionsAt(2);
      const { read, answer } = open(options);
      const accepts = readFilter(params.optionsAt(1), (mint) => readMint(read(mint)) !== undefined);
      const form = toAccountForm(options);
      const found = [];
      for (const pubkey of history.addresses()) {
        const account = read(pubkey);
        const token = readTokenAccount(account);
        if (token?.owner === owner && accepts(token)) {
          found.push({ pubkey, account: writeAccount(account, form, read) });
        }
      }
      return answer(found);
    },
    getProgramAccounts: (params) => {
      const program = params.address(0);
      const options = params.optionsAt(1);
      if (options["filters"] !== undefined) {
        throw invalidParams("Invalid params: filters are not supported");
      }
      const { read, answer } = open(options);
      const form = toAccountForm(options);
      const found = [];
      for (const pubkey of history.addresses()) {
        const account = read(pubkey);
        if (account?.programAddress !== program) continue;
        found.push({ pubkey, account: writeAccount(account, form, read) });
      }
      return options["withContext"] === true ? answer(found) : found;
    },
    getMinimumBalanceForRentExemption: (params) =>
      chain.bank.minimumBalance(params.integer(0, "a length")),
  };
}

/** Parses the filter of a search for token accounts: one mint, or one program. */
function readFilter(
  filter: Readonly<Record<string, unknown>>,
  isMint: (mint: Address) => boolean,
): (token: { readonly mint: Address; readonly program: Address }) => boolean {
  if (filter["mint"] !== undefined) {
    const mint = toAddress(filter["mint"]);
    if (!isMint(mint)) throw invalidParams("Invalid param: could not find mint");
    return (token) => token.mint === mint;
  }
  if (filter["programId"] === undefined) {
    throw invalidParams("Invalid params: expected mint or programId");
  }
  const program = toAddress(filter["programId"]);
  if (!isTokenProgram(program)) throw invalidParams("Invalid param: unrecognized Token program id");
  return (token) => token.program === program;
}
