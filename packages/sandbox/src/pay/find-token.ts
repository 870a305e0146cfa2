/** Resolves the chains and tokens that a payment names, against `GET /source-config` of the running service. */
import type { SourceChain, SourceConfig, SourceToken } from "@sluice/sdk";
import { SandboxError } from "../errors.ts";

/** Familiar names of the native coins, whose symbol on the interface is the chain's name in upper case. */
const NATIVE_NAMES = {
  evm: ["native", "eth"],
  svm: ["native", "sol"],
} as const;

/** Returns the chain of that name. Throws a `SandboxError` that lists the known ones. */
export function findChain({ chains }: SourceConfig, option: string, name: string): SourceChain {
  const chain = chains.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (chain) return chain;
  const known = chains.map((one) => one.name).join(", ");
  throw new SandboxError(`${option} ${name}: unknown chain; expected one of ${known}`);
}

/** Returns the token of that symbol or address. Throws a `SandboxError` that lists the known ones. */
export function findToken(chain: SourceChain, option: string, name: string): SourceToken {
  const found = listMatches(chain, name);
  const [token] = found;
  if (token && found.length === 1) return token;
  if (!token) throw unknownToken(chain, option, name);
  const addresses = found.map(({ address }) => address).join(", ");
  throw new SandboxError(
    `${option} ${name}: ${chain.name} has several such tokens; expected one of the addresses ${addresses}`,
  );
}

/** Returns the token of the destination that is the same as the paid one: the native coin, or the one of its symbol. */
export function findSameToken(chain: SourceChain, paid: SourceToken): SourceToken {
  if (paid.standard === "native") return findToken(chain, "--to-token", "native");
  const name = paid.symbol ?? paid.address;
  if (listMatches(chain, name).length === 0) {
    throw new SandboxError(
      `--to-token is missing: ${chain.name} has no ${name}; expected one of ${listNames(chain)}`,
    );
  }
  return findToken(chain, "--to-token", name);
}

function listMatches({ kind, tokens }: SourceChain, name: string): readonly SourceToken[] {
  const wanted = name.toLowerCase();
  const byAddress = tokens.filter(({ address }) =>
    // Base58 is case-sensitive, hex digits are not.
    kind === "evm" ? address.toLowerCase() === wanted : address === name,
  );
  if (byAddress.length > 0) return byAddress;
  const bySymbol = tokens.filter(({ symbol }) => symbol?.toLowerCase() === wanted);
  if (bySymbol.length > 0) return bySymbol;
  const names: readonly string[] = NATIVE_NAMES[kind];
  return names.includes(wanted) ? tokens.filter(({ standard }) => standard === "native") : [];
}

function unknownToken(chain: SourceChain, option: string, name: string): SandboxError {
  return new SandboxError(
    `${option} ${name}: unknown token on ${chain.name}; expected one of ${listNames(chain)}`,
  );
}

function listNames({ tokens }: SourceChain): string {
  return tokens.map(({ symbol, address }) => symbol ?? address).join(", ");
}
