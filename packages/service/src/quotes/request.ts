/** Parses the fields that requests for quotes and for addresses share. Errors name the field. */
import type { QuoteRequest } from "@sluice/sdk/wire";
import { readChainStates } from "../addresses/index.ts";
import type { AddressFormat, Chain, Chains } from "../chains/port/index.ts";
import { findChainByName, type KnownChain } from "../core/chain-registry.ts";
import type { AddressTerms } from "../core/commitment.ts";
import { type ErrorDetails, OperatingError } from "../core/errors.ts";
import { type Address, isNativeName, NATIVE_TOKEN, nativeOf } from "../core/hex.ts";
import { parseUserId } from "../core/user-id.ts";
import type { Db } from "../db/schema.ts";
import type { ListedToken } from "./format.ts";
import { invalid } from "./invalid.ts";

/** The configured chains and tokens that requests name. */
export interface RequestDeps {
  readonly db: Db;
  readonly chains: Chains;
  readonly tokens: readonly ListedToken[];
  readonly format: AddressFormat;
}

/** User id of requests without `payUserId`. */
const NO_USER = NATIVE_TOKEN;

export function parseSource(deps: RequestDeps, name: string): KnownChain {
  const known = parseChain("fromChain", name);
  if (deps.chains.has(known.chainId)) return known;
  throw new OperatingError("UNSUPPORTED_ROUTE", "The source chain is not enabled here.", {
    details: { field: "fromChain" },
  });
}

export function parseDestination(deps: RequestDeps, name: string): KnownChain {
  const known = parseChain("toChain", name);
  if (deps.chains.has(known.chainId)) return known;
  throw new OperatingError("UNSUPPORTED_DEST", "The destination chain is not enabled here.", {
    details: { field: "toChain" },
  });
}

/** Refuses a chain that the operator drains, or has retired. */
export async function assertOpen(
  { db }: RequestDeps,
  source: KnownChain,
  destination: KnownChain,
): Promise<void> {
  const states = await readChainStates(db);
  if (states.has(source.chainId)) {
    throw new OperatingError(
      "UNSUPPORTED_ROUTE",
      "The source chain is being taken out of service.",
      {
        details: { field: "fromChain", reason: "draining" },
      },
    );
  }
  if (states.has(destination.chainId)) {
    throw new OperatingError(
      "UNSUPPORTED_DEST",
      "The destination chain is being taken out of service.",
      { details: { field: "toChain", reason: "draining" } },
    );
  }
}

function parseChain(field: string, name: string): KnownChain {
  const known = findChainByName(name.toLowerCase());
  if (known) return known;
  throw new OperatingError("UNSUPPORTED_CHAIN", `${field} is not the name of a known chain.`, {
    details: { field },
  });
}

/** The error of a request that the configuration does not serve: the same request fails again, so it is not retryable. */
export function unsupported(message: string, details: ErrorDetails): OperatingError {
  return new OperatingError("UNSUPPORTED_ROUTE", message, { details });
}

/**
 * Returns the listed token that a field names by its address, as the native coin, or by its symbol in any case.
 * @throws OperatingError VALIDATION_ERROR with the listed symbols, or with the addresses of a symbol that several tokens
 * have; UNSUPPORTED_ROUTE for the address of a token that is not listed.
 */
export function parseToken(
  deps: RequestDeps,
  field: string,
  text: string,
  { chainId, kind, name }: KnownChain,
): ListedToken {
  const listed = deps.tokens.filter((token) => token.chainId === chainId);
  const symbols = [...new Set(listed.map(({ symbol }) => symbol))].join(", ");
  const parsed = isNativeName(text)
    ? { kind: "address" as const, address: nativeOf(kind) }
    : deps.format.parse(text, kind);
  if (parsed.kind === "address") {
    const token = listed.find(({ address }) => address === parsed.address);
    if (token) return token;
    throw unsupported(`${field} is not a listed token of ${name}, which lists ${symbols}.`, {
      field,
      reason: "unlisted",
    });
  }
  const named = listed.filter(({ symbol }) => symbol.toLowerCase() === text.toLowerCase());
  const [token] = named;
  if (!token) throw invalid(field, `${parsed.expected}, or a listed symbol of ${name}: ${symbols}`);
  if (named.length === 1) return token;
  const addresses = named.map(({ address }) => deps.format.display(address)).join(" or ");
  throw invalid(field, `the address of one of the tokens ${token.symbol}: ${addresses}`);
}

type Switch = QuoteRequest["fullList"];
export const isOn = (flag: Switch) => flag === true || flag === "true";
export const isOff = (flag: Switch) => flag === false || flag === "false";

/** Returns the request's choices about its address; absent ones are the integrator's. */
export function parseTerms({
  payRoutes,
  payUnattended,
}: Pick<QuoteRequest, "payRoutes" | "payUnattended">): AddressTerms {
  return {
    routes: payRoutes,
    unattended: payUnattended === undefined ? undefined : isOn(payUnattended),
  };
}

export function parsePayUserId(payUserId: string | undefined): Address {
  if (payUserId === undefined) return NO_USER;
  const userId = parseUserId(payUserId);
  if (userId !== undefined) return userId;
  throw invalid("payUserId", "0x and hex digits whose value fits 20 bytes");
}

export function chainOf(deps: RequestDeps, chainId: number): Chain {
  const chain = deps.chains.get(chainId);
  if (chain) return chain;
  throw new OperatingError("CONFIG_MISSING", "The source chain is not configured.", {
    details: { chainId },
  });
}
