/** Checks of the destination wallet: a payment to a contract or program is lost, and one to a deposit address loops. */
import { listByWallets } from "../addresses/index.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import type { KnownChain } from "../core/chain-registry.ts";
import type { OperatingError } from "../core/errors.ts";
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
  chain: Pick<KnownChain, "kind">,
  text: string | undefined,
): Promise<Address | null> {
  if (text === undefined) return null;
  const address = parseWallet(deps, chain, text);
  const [looped] = await listLoops(deps.db, [address]);
  if (looped !== undefined) throw loop();
  return address;
}

/**
 * Parses a destination wallet without the check that it is no deposit address, for which `listLoops` takes many at once.
 * @throws OperatingError VALIDATION_ERROR with the expected form.
 */
export function parseWallet(
  deps: DestinationDeps,
  { kind }: Pick<KnownChain, "kind">,
  text: string,
): Address {
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
  return address;
}

/** Returns the wallets that are deposit addresses, to which a settlement would go in a loop. */
export async function listLoops(db: Db, wallets: readonly Address[]): Promise<readonly Address[]> {
  return [...(await listByWallets(db, wallets)).keys()];
}

/** Returns the error of a destination that is a deposit address. */
export function loop(): OperatingError {
  return invalid(
    "destinationAddress",
    "a wallet that is not a deposit address: it would settle in a loop",
  );
}

/** Returns the expected form if an EVM address cannot be a wallet; undefined if it can. */
function findEvmFault(address: Address): string | undefined {
  if (isNative(address)) return "an address other than zero";
  return BigInt(address) < PRECOMPILES_END
    ? "a wallet, not an address that chains keep for themselves"
    : undefined;
}
