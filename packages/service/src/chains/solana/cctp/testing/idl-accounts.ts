/** What an IDL says of an instruction's accounts, as far as they follow from each other. */
import { AccountRole, address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import type { IdlAccount, Seed } from "./idl.ts";

/** What of an account is known by the IDL. */
export interface ExpectedAccount {
  readonly name: string;
  readonly role: AccountRole;
  readonly address: string;
}

/**
 * The accounts in their order: those with an address or seeds as the IDL says, the others as given by name. Fields that
 * are seeds are given by their path.
 */
export function expectAccounts(
  accounts: readonly IdlAccount[],
  program: string,
  given: Readonly<Record<string, string>>,
): Promise<ExpectedAccount[]> {
  return Promise.all(
    accounts.map(async (account) => ({
      name: account.name,
      role: roleOf(account),
      address: await addressOf(account, program, given),
    })),
  );
}

function roleOf({ writable, signer }: IdlAccount): AccountRole {
  if (signer) return writable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER;
  return writable ? AccountRole.WRITABLE : AccountRole.READONLY;
}

async function addressOf(
  account: IdlAccount,
  program: string,
  given: Readonly<Record<string, string>>,
): Promise<string> {
  if (account.address) return account.address;
  if (account.name === "program") return program;
  const known = (name: string): string => {
    const found = given[name];
    if (found === undefined) throw new Error(`nothing is known of ${name}`);
    return found;
  };
  if (!account.seeds) return known(account.name);
  const seeds = account.seeds.map((seed) =>
    "account" in seed ? { key: known(seed.account) } : seed,
  );
  return deriveAddress(account.program ?? program, seeds);
}

/** The address of a program that has these seeds. */
export async function deriveAddress(
  program: string,
  seeds: readonly Exclude<Seed, { readonly account: string }>[],
): Promise<string> {
  const [derived] = await getProgramDerivedAddress({
    programAddress: address(program),
    seeds: seeds.map((seed) =>
      "text" in seed ? seed.text : getAddressEncoder().encode(address(seed.key)),
    ),
  });
  return derived;
}
