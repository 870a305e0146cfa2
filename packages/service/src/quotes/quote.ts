/**
 * The quote service: prices the routes of a pair and, on request, issues the deposit address that fixes the
 * destination for ever.
 */
import type { Quote, QuoteRequest, QuoteResponse } from "@sluice/sdk/wire";
import { type DepositAddress, issueAddress, listByWallets } from "../addresses/index.ts";
import type { AddressFormat, Chain, Chains } from "../chains/port.ts";
import { type Caps, parseUnits } from "../core/amounts.ts";
import { findChainByName, type KnownChain } from "../core/chain-registry.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, isEvmAddress, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import type { Clock, Random } from "../core/ports.ts";
import { parseUserId } from "../core/user-id.ts";
import type { Db } from "../db/schema.ts";
import { gateBalance } from "../deposits/index.ts";
import type { Principal } from "../integrators/index.ts";
import type { Route, RouteBook } from "../routes/index.ts";
import { formatQuote, type ListedToken } from "./format.ts";

export interface QuoteDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly routes: RouteBook;
  readonly tokens: readonly ListedToken[];
  readonly format: AddressFormat;
  /** Addresses nobody may name as a destination: our own contracts. */
  readonly reserved: ReadonlySet<EvmAddress>;
  /** The caps that quotes without an address assume. */
  readonly caps: Caps;
}

const NO_USER = NATIVE_TOKEN;
/** The most a client may ask for, as its SDK does. */
const SLIPPAGE_BPS_MAX = 500;

/**
 * Answers a quote request of an authenticated integrator.
 * @throws OperatingError VALIDATION_ERROR naming the field, UNSUPPORTED_CHAIN, UNSUPPORTED_DEST, UNSUPPORTED_ROUTE,
 * NO_ROUTE.
 */
export async function quote(
  deps: QuoteDeps,
  request: QuoteRequest,
  principal: Principal,
): Promise<QuoteResponse> {
  const source = parseSource(deps, request.fromChain);
  const destination = parseDestination(deps, request.toChain);
  const fromToken = parseToken(deps, "fromToken", request.fromToken, source.chainId);
  const toToken = parseToken(deps, "toToken", request.toToken, destination.chainId);
  const amount = parseAmount(request, fromToken);
  const slippageBps = parseSlippage(request.slippageBps);
  const userId = parsePayUserId(request.payUserId);
  const wantsAddress = request.payDeposit === true || request.payDeposit === "true";
  const destWallet = await parseDestinationAddress(deps, request.destinationAddress);

  const routes = deps.routes.list({
    srcChain: source.chainId,
    srcToken: fromToken.address,
    destChain: destination.chainId,
    destToken: toToken.address,
  });
  if (routes.length === 0) {
    throw new OperatingError("NO_ROUTE", "No route delivers this pair.", {
      details: { fromChain: source.name, toChain: destination.name },
    });
  }
  const clears =
    gateBalance(amount, { token: fromToken.minDeposit, floor: undefined }).kind === "pass";
  const eligible = wantsAddress && principal.depositAddresses && clears && destWallet !== null;
  const chain = chainOf(deps, source.chainId);
  const address = eligible
    ? await issueAddress(deps, {
        chain,
        integratorId: principal.integratorId,
        recipient: {
          userId,
          destChain: destination.chainId,
          destWallet,
          destToken: toToken.address,
        },
      })
    : null;
  return {
    quotes: await Promise.all(
      routes.map((route) =>
        quoteRoute(deps, {
          route,
          amount,
          slippageBps,
          userId,
          principal,
          address,
          fromToken,
          toToken,
        }),
      ),
    ),
    minimumSdkVersion: [7, 0, 0],
  };
}

async function quoteRoute(
  deps: QuoteDeps,
  args: {
    readonly route: Route;
    readonly amount: bigint;
    readonly slippageBps: number;
    readonly userId: EvmAddress;
    readonly principal: Principal;
    readonly address: DepositAddress | null;
    readonly fromToken: ListedToken;
    readonly toToken: ListedToken;
  },
): Promise<Quote> {
  const priced = await args.route.quote(args.amount, args.address?.commitment ?? deps.caps);
  return formatQuote({
    ...args,
    format: deps.format,
    priced,
    quoteId: deps.random.uuid(),
    nowMs: deps.clock.now(),
  });
}

function parseSource(deps: QuoteDeps, name: string): KnownChain {
  const known = parseChain("fromChain", name);
  if (deps.chains.has(known.chainId)) return known;
  throw new OperatingError("UNSUPPORTED_ROUTE", "The source chain is not enabled here.", {
    details: { field: "fromChain" },
  });
}

function parseDestination(deps: QuoteDeps, name: string): KnownChain {
  const known = parseChain("toChain", name);
  if (deps.chains.has(known.chainId)) return known;
  throw new OperatingError("UNSUPPORTED_DEST", "The destination chain is not enabled here.", {
    details: { field: "toChain" },
  });
}

function parseChain(field: string, name: string): KnownChain {
  const known = findChainByName(name.toLowerCase());
  if (known) return known;
  throw new OperatingError("UNSUPPORTED_CHAIN", `${field} is not the name of a known chain.`, {
    details: { field },
  });
}

function parseToken(deps: QuoteDeps, field: string, text: string, chainId: number): ListedToken {
  const address = parseAddress(deps, field, text);
  const token = deps.tokens.find(
    (listed) => listed.chainId === chainId && listed.address === address,
  );
  if (token) return token;
  throw new OperatingError("NO_ROUTE", `${field} is not a listed token of its chain.`, {
    details: { field },
  });
}

function parseAmount(request: QuoteRequest, token: ListedToken): bigint {
  if (request.amountIn64 !== undefined) {
    if (!/^\d{1,78}$/.test(request.amountIn64)) {
      throw invalid("amountIn64", "a whole number of base units as a string");
    }
    const amount = BigInt(request.amountIn64);
    if (amount > 0n && amount < 2n ** 256n) return amount;
    throw invalid("amountIn64", "between 1 and 2^256 - 1");
  }
  if (request.amountIn === undefined) throw invalid("amountIn64", "an amount in base units");
  try {
    const amount = parseUnits(String(request.amountIn), token.decimals);
    if (amount > 0n) return amount;
  } catch {
    throw invalid("amountIn", `a number with at most ${token.decimals} decimals`);
  }
  throw invalid("amountIn", "more than zero");
}

function parseSlippage(slippageBps: QuoteRequest["slippageBps"]): number {
  if (slippageBps === undefined || slippageBps === "auto") return 0;
  const bps = typeof slippageBps === "number" ? slippageBps : Number(slippageBps);
  if (Number.isInteger(bps) && bps >= 0 && bps <= SLIPPAGE_BPS_MAX) return bps;
  throw invalid("slippageBps", `"auto" or a whole number from 0 to ${SLIPPAGE_BPS_MAX}`);
}

function parsePayUserId(payUserId: string | undefined): EvmAddress {
  if (payUserId === undefined) return NO_USER;
  const userId = parseUserId(payUserId);
  if (userId !== undefined) return userId;
  throw invalid("payUserId", "0x and hex digits whose value fits 20 bytes");
}

async function parseDestinationAddress(
  deps: QuoteDeps,
  text: string | undefined,
): Promise<EvmAddress | null> {
  const field = "destinationAddress";
  if (text === undefined) return null;
  const address = parseAddress(deps, field, text);
  if (address === NATIVE_TOKEN) throw invalid(field, "an address other than zero");
  if (deps.tokens.some((token) => token.address === address)) {
    throw invalid(field, "a wallet, not a token contract");
  }
  if (deps.reserved.has(address)) throw invalid(field, "a wallet, not one of our contracts");
  if ((await listByWallets(deps.db, [address])).size > 0) {
    throw invalid(field, "a wallet that is not a deposit address: it would settle in a loop");
  }
  return address;
}

function parseAddress(deps: QuoteDeps, field: string, text: string): EvmAddress {
  if (!isEvmAddress(text)) throw invalid(field, "0x and 40 hex digits");
  if (!deps.format.hasValidChecksum(text)) {
    throw invalid(field, "an address whose mixed-case checksum (EIP-55) is right");
  }
  return toEvmAddress(text);
}

function chainOf(deps: QuoteDeps, chainId: number): Chain {
  const chain = deps.chains.get(chainId);
  if (chain) return chain;
  throw new OperatingError("CONFIG_MISSING", "The source chain is not configured.", {
    details: { chainId },
  });
}

function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
