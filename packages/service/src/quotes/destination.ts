/** Checks of the destination wallet: a payment to a contract or program is lost, and one to a deposit address loops. */
import { listByWallets } from "../addresses/index.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import type { KnownChain } from "../core/chain-registry.ts";
import { type Address, isNative } from "../core/hex.ts";
import { findWalletFault } from "../core/solana-wallet.ts";
import type { Db } from "../db/schema.ts";
import { invalid } from "./invalid.ts";

/** Addresses below are precompiled contracts and placeholders of routers. */
const PRECOMPILES_END = 2n ** 16n;

/** Per family: the check of a destination wallet and the expected forms in its errors. */
const WALLETS = {
  evm: {
    findFault: findEvmFault,
    notToken: "a wallet, not a token contract",
    notOurs: "a wallet, not one of our contracts",
  },
  svm: {
    findFault: findWalletFault,
    notToken: "a wallet, not a mint",
    notOurs: "a wallet, not one of our accounts",
  },
} as const;

/** Dependencies of the destination check. */
export interface DestinationDeps {
  readonly db: Db;
  readonly format: AddressFormat;
  /** Our own contracts and accounts, which cannot be destination wallets. */
  readonly reserved: ReadonlySet<Address>;
  /** Listed tokens of all chains. */
  readonly tokens: readonly { readonly address: Address }[];
}

/**
 * Parses the destination wallet of a request; null if the request names none.
 * @throws OperatingError VALIDATION_ERROR with the expected form.
 */
export async function parseDestinationAddress(
  deps: DestinationDeps,
  { kind }: Pick<KnownChain, "kind">,
  text: string | undefined,
): Promise<Address | null> {
  if (text === undefined) return null;
  const refuse = (expected: string) => invalid("destinationAddress", expected);
  const parsed = deps.format.parse(text, kind);
  if (parsed.kind === "invalid") throw refuse(parsed.expected);
  const { address } = parsed;
  const { findFault, notToken, notOurs } = WALLETS[kind];
  const fault = findFault(address);
  if (fault !== undefined) throw refuse(fault);
  if (deps.tokens.some((token) => token.address === address)) {
    throw refuse(notToken);
  }
  if (deps.reserved.has(address)) {
    throw refuse(notOurs);
  }
  if ((await listByWallets(deps.db, [address])).size > 0) {
    throw refuse("a wallet that is not a deposit address: it would settle in a loop");
  }
  return address;
}

/** Returns the expected form if an EVM address cannot be a wallet; undefined if it can. */
function findEvmFault(address: Address): string | undefined {
  if (isNative(address)) return "an address other than zero";
  return BigInt(address) < PRECOMPILES_END
    ? "a wallet, not an address that chains keep for themselves"
    : undefined;
}
