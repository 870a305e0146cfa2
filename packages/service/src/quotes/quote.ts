/**
 * The quote service: quotes the routes of a pair and, on request, issues the deposit address, which fixes the destination
 * permanently.
 */
import type { Quote, QuoteRequest, QuoteResponse } from "@sluice/sdk/wire";
import {
  type DepositAddress,
  type FindVault,
  isCommitted,
  issueAddress,
  readChainStates,
} from "../addresses/index.ts";
import type { AddressFormat, Chains } from "../chains/port/index.ts";
import { type Caps, formatUnits, roundUnits } from "../core/amounts.ts";
import type { KnownChain } from "../core/chain-registry.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, familyOf, toAddress } from "../core/hex.ts";
import type { InTurn } from "../core/in-turn.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { gateBalance } from "../deposits/index.ts";
import { type Fees, itemise } from "../fees/index.ts";
import type { KeyHolder, Quotas } from "../integrators/index.ts";
import {
  assertPayable,
  listRouteSet,
  moduleOf,
  type Route,
  type RouteBook,
} from "../routes/index.ts";
import { parseDestinationAddress } from "./destination.ts";
import { formatQuote, type ListedToken } from "./format.ts";
import { invalid } from "./invalid.ts";
import {
  assertOpen,
  chainOf,
  isOff,
  isOn,
  parseDestination,
  parsePayUserId,
  parseSource,
  parseTerms,
  parseToken,
  unsupported,
} from "./request.ts";

/** Dependencies of the quote service. */
export interface QuoteDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly chains: Chains;
  readonly routes: RouteBook;
  readonly fees: Fees;
  readonly tokens: readonly ListedToken[];
  /** EIP-155 ids of the EVM chains by bridge chain id. */
  readonly evmChainIds: ReadonlyMap<number, number>;
  readonly format: AddressFormat;
  /** Our own contracts and accounts, which cannot be destination wallets. */
  readonly reserved: ReadonlySet<Address>;
  /** Undefined without deposits on Solana. */
  readonly findVault?: FindVault | undefined;
  /** Quotas of integrators without their own. */
  readonly quotas?: Quotas | undefined;
  /** Orders the new addresses of an integrator. */
  readonly inTurn?: InTurn | undefined;
  /** Counts new addresses of a key; throws above its limit. */
  readonly admitNewAddress?: ((keyId: string, count: number) => Promise<void>) | undefined;
  /** Caps of quotes without a deposit address. */
  readonly caps: Caps;
}

/** Exclusive upper bound of amounts, which are uint256 on chain. */
const AMOUNT_END = 2n ** 256n;
/** Maximum slippage of a request, as in the SDK. */
const SLIPPAGE_BPS_MAX = 500;

/**
 * Answers a quote request of an authenticated integrator.
 * @throws OperatingError VALIDATION_ERROR naming the field, UNSUPPORTED_CHAIN, UNSUPPORTED_DEST, UNSUPPORTED_ROUTE;
 * NO_ROUTE, AMOUNT_TOO_SMALL, FEE_NOT_COVERED, PRICE_UNAVAILABLE or RPC_UNAVAILABLE where no route can be offered.
 */
export async function quote(
  deps: QuoteDeps,
  request: QuoteRequest,
  principal: KeyHolder,
): Promise<QuoteResponse> {
  const source = parseSource(deps, request.fromChain);
  const destination = parseDestination(deps, request.toChain);
  await assertOpen(deps, source, destination);
  const fromToken = parseToken(deps, "fromToken", request.fromToken, source);
  const toToken = parseToken(deps, "toToken", request.toToken, destination);
  const amount = parseAmount(request, fromToken);
  const slippageBps = parseSlippage(request.slippageBps);
  const userId = parsePayUserId(request.payUserId);
  const wantsAddress = isOn(request.payDeposit);
  const terms = parseTerms(request);
  const destWallet = await parseDestinationAddress(deps, destination, request.destinationAddress);

  const enabled = deps.routes.list({
    srcChain: source.chainId,
    srcToken: fromToken.address,
    destChain: destination.chainId,
    destToken: toToken.address,
  });
  const pairNames = { fromChain: source.name, toChain: destination.name };
  if (enabled.length === 0) {
    throw unsupported("No route delivers this pair.", pairNames);
  }
  const routes = enabled.filter((route) => !isOff(request[moduleOf(route).quoteSwitch]));
  if (routes.length === 0) {
    const names = [...new Set(enabled.map((route) => moduleOf(route).quoteSwitch))].join(", ");
    throw unsupported(`The request switches off every route of this pair: ${names}.`, {
      ...pairNames,
      switchedOff: names,
    });
  }
  // No address for an amount that would not settle. The minimum in US dollars is left to the deposit and its price.
  const clears =
    gateBalance(amount, { token: fromToken.minDeposit, floor: undefined }).kind === "pass";
  // Without a destination wallet there is nothing to commit to, and a key may be restricted to quotes.
  const eligible = wantsAddress && principal.depositAddresses && clears && destWallet !== null;
  const chain = chainOf(deps, source.chainId);
  // Issued before the routes are quoted: the quotes use the caps that the address commits to.
  const address = eligible
    ? await issueAddress(deps, {
        admitNew: async (count) => deps.admitNewAddress?.(principal.keyId, count),
        chain,
        integratorId: principal.integratorId,
        destination: {
          userId,
          destChain: destination.chainId,
          destWallet,
          destToken: toToken.address,
        },
        terms,
        notes: { label: request.payLabel, metadata: request.payMetadata },
        routeSet: listRouteSet(deps.routes, deps.evmChainIds, {
          destChain: destination.chainId,
          destToken: toToken.address,
        }),
      })
    : null;
  const asked = { amount, slippageBps, userId, principal, address, destWallet, fromToken, toToken };
  const usable = listCommitted(routes, source, address);
  const quotes = await keepAnswers(usable.map((route) => quoteRoute(deps, { route, ...asked })));
  return {
    quotes: isOn(request.fullList) ? quotes : pickFastestAndBest(quotes),
    minimumSdkVersion: [7, 0, 0],
  };
}

/** A token that an address delivers from a chain. */
export interface PayableToken extends ListedToken {
  /** Of the fastest route. */
  readonly etaSeconds: number;
}

/** Returns the tokens that an address delivers at present, from chains that the operator does not take out of service. */
export async function listPayable(
  deps: Pick<QuoteDeps, "db" | "routes" | "tokens">,
  address: DepositAddress,
): Promise<readonly PayableToken[]> {
  const closed = await readChainStates(deps.db);
  if (closed.has(address.destChain)) return [];
  const routes = deps.routes
    .listTo(address)
    .filter(({ pair, contract }) => isCommitted(address, { chainId: pair.srcChain, contract }));
  return deps.tokens.flatMap((token) => {
    if (closed.has(token.chainId) || familyOf(token.address) !== address.family) return [];
    const times = routes
      .filter(({ pair }) => pair.srcChain === token.chainId && pair.srcToken === token.address)
      .map(({ etaSeconds }) => etaSeconds);
    return times.length === 0 ? [] : [{ ...token, etaSeconds: Math.min(...times) }];
  });
}

/**
 * Returns the quotes of a payment to an address that was issued, under its own terms: the fastest and the best.
 * @throws OperatingError UNSUPPORTED_ROUTE if the address does not deliver the token from the chain; as `quote` does where
 * no route can be offered.
 */
export async function quotePayment(
  deps: QuoteDeps,
  asked: {
    readonly address: DepositAddress;
    readonly chainId: number;
    readonly token: Address;
    readonly amount: bigint;
  },
): Promise<readonly Quote[]> {
  const { address, amount } = asked;
  const isAsked = (one: ListedToken) =>
    one.chainId === asked.chainId && one.address === asked.token;
  const fromToken = (await listPayable(deps, address)).find(isAsked);
  const toToken = deps.tokens.find(
    ({ chainId, address: token }) => chainId === address.destChain && token === address.destToken,
  );
  if (!fromToken || !toToken) throw unsupported("The address does not deliver this token.", {});
  const routes = deps.routes
    .list({
      srcChain: asked.chainId,
      srcToken: asked.token,
      destChain: address.destChain,
      destToken: address.destToken,
    })
    .filter(({ contract }) => isCommitted(address, { chainId: asked.chainId, contract }));
  const quotes = routes.map((route) =>
    quoteRoute(deps, {
      route,
      amount,
      slippageBps: 0,
      userId: toAddress(address.userId),
      principal: address,
      address,
      destWallet: address.destWallet,
      fromToken,
      toToken,
    }),
  );
  return pickFastestAndBest(await keepAnswers(quotes));
}

/** Returns the routes that may settle the address. Throws UNSUPPORTED_ROUTE when it commits to none of them. */
function listCommitted(
  routes: readonly Route[],
  { chainId }: KnownChain,
  address: DepositAddress | null,
): readonly Route[] {
  if (address === null) return routes;
  const committed = routes.filter(({ contract }) => isCommitted(address, { chainId, contract }));
  if (committed.length > 0) return committed;
  throw unsupported(
    "The address commits to routes, and none of them delivers this pair any more.",
    {
      reason: "route_not_committed",
    },
  );
}

/**
 * Returns the fastest quote and the one with the highest output; one quote if they are the same. Of equal quotes the first,
 * which is preferred, wins.
 */
function pickFastestAndBest(quotes: readonly Quote[]): Quote[] {
  const outOf = (quote: Quote) => BigInt(quote.expectedAmountOutBaseUnits);
  const [fastest] = quotes.toSorted((one, other) => one.etaSeconds - other.etaSeconds);
  const [best] = quotes.toSorted((one, other) => compare(outOf(other), outOf(one)));
  return [...new Set([fastest, best])].filter((quote) => quote !== undefined);
}

const compare = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Returns the quotes of the routes that succeed. Routes that fail with an operating error are left out.
 * @throws the first route's error if every route fails; a bug in any route.
 */
async function keepAnswers(asked: readonly Promise<Quote>[]): Promise<Quote[]> {
  const answers = await Promise.allSettled(asked);
  const quotes = answers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failures = answers.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  const bug = failures.find((reason) => !(reason instanceof OperatingError));
  if (bug !== undefined) throw bug;
  if (quotes.length === 0) throw failures[0];
  return quotes;
}

/** Quotes one route with its fees. Throws if the recipient cannot receive the output. */
async function quoteRoute(
  deps: QuoteDeps,
  args: {
    readonly route: Route;
    readonly amount: bigint;
    readonly slippageBps: number;
    readonly userId: Address;
    readonly principal: Pick<KeyHolder, "integratorId">;
    readonly address: DepositAddress | null;
    /** Null if the request names none. */
    readonly destWallet: Address | null;
    readonly fromToken: ListedToken;
    readonly toToken: ListedToken;
  },
): Promise<Quote> {
  const { route, amount, address, destWallet, principal } = args;
  const caps = address?.commitment ?? deps.caps;
  const { maxFeeBps } = caps;
  const source = chainOf(deps, route.pair.srcChain);
  const fee = await deps.fees.plan({
    integratorId: principal.integratorId,
    route,
    amount,
    maxFeeBps,
    // A new address has no wallet contract yet. On Solana a wallet is a key, so nothing is deployed.
    deploys: async () =>
      source.wallets.kind === "contract" &&
      (address === null || !(await source.wallets.hasCode(address.wallet))),
  });
  const priced = await route.quote(amount, caps, fee);
  const { amountOut } = priced;
  if (destWallet) await assertPayable(deps.chains, route.pair, { destWallet, amountOut });
  return formatQuote({
    ...args,
    fee,
    fees: itemise(amount, fee, maxFeeBps),
    format: deps.format,
    priced,
    quoteId: deps.random.uuid(),
    nowMs: deps.clock.now(),
  });
}

/**
 * Parses the amount of a request to base units; `amountIn64` takes precedence over `amountIn`.
 * @throws OperatingError VALIDATION_ERROR with the accepted range.
 */
function parseAmount(request: QuoteRequest, token: ListedToken): bigint {
  const { amountIn64, amountIn } = request;
  if (amountIn64 !== undefined) {
    const amount = /^0*\d{1,78}$/.test(amountIn64) ? BigInt(amountIn64) : 0n;
    if (amount > 0n && amount < AMOUNT_END) return amount;
    throw invalid("amountIn64", 'a whole number of base units from "1" to 2^256 - 1');
  }
  if (amountIn === undefined) {
    throw invalid("amountIn64", "the amount in base units (or amountIn, in whole tokens)");
  }
  const amount = roundUnits(String(amountIn), token.decimals);
  if (amount > 0n && amount < AMOUNT_END) return amount;
  const least = formatUnits(1n, token.decimals);
  throw invalid("amountIn", `at least ${least} (one base unit of ${token.symbol}), below 2^256`);
}

function parseSlippage(slippageBps: QuoteRequest["slippageBps"]): number {
  if (slippageBps === undefined || slippageBps === "auto") return 0;
  const bps = typeof slippageBps === "number" ? slippageBps : Number(slippageBps);
  if (Number.isInteger(bps) && bps >= 0 && bps <= SLIPPAGE_BPS_MAX) return bps;
  throw invalid("slippageBps", `"auto" or a whole number from 0 to ${SLIPPAGE_BPS_MAX}`);
}
