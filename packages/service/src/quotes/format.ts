/** Formats quotes for the wire. Amounts that are numbers on the wire are for display; exact amounts are strings. */
import type { Quote } from "@sluice/sdk/wire";
import { type DepositAddress, formatCommitment } from "../addresses/index.ts";
import type { AddressFormat } from "../chains/port/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { findChainById } from "../core/chain-registry.ts";
import { type Address, familyOf, isNative } from "../core/hex.ts";
import type { FeeItems, FeeTerms } from "../fees/index.ts";
import type { KeyHolder } from "../integrators/index.ts";
import type { Route, RouteQuote } from "../routes/index.ts";

/** A listed token of a chain. */
export interface ListedToken {
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 id of its chain; 0 if the chain is not EVM. */
  readonly evmChainId: number;
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** Minimum deposit in base units; undefined for none. */
  readonly minDeposit: bigint | undefined;
}

/** Formats the quote of one route. */
export function formatQuote(args: {
  readonly format: AddressFormat;
  readonly quoteId: string;
  readonly nowMs: number;
  readonly route: Route;
  readonly priced: RouteQuote;
  readonly fee: FeeTerms;
  /** The fees that the terms take from the amount. */
  readonly fees: FeeItems;
  readonly amount: bigint;
  readonly slippageBps: number;
  readonly userId: Address;
  readonly principal: Pick<KeyHolder, "integratorId">;
  readonly address: DepositAddress | null;
  readonly fromToken: ListedToken;
  readonly toToken: ListedToken;
}): Quote {
  const { route, priced, fee, fees, amount, address, fromToken, toToken } = args;
  const { decimalsIn, decimalsOut } = route;
  const { fair, etaSeconds = route.etaSeconds } = priced;
  const bridgeFee = fair - priced.amountOut;
  const amountOut = toNumber(priced.amountOut, decimalsOut);
  const minOut = toNumber(priced.minOut, decimalsOut);
  return {
    type: route.kind,
    quoteId: args.quoteId,
    effectiveAmountIn: toNumber(amount, decimalsIn),
    effectiveAmountIn64: amount.toString(),
    expectedAmountOut: amountOut,
    minAmountOut: minOut,
    minReceived: minOut,
    expectedAmountOutBaseUnits: priced.amountOut.toString(),
    minReceivedBaseUnits: priced.minOut.toString(),
    // Whole destination tokens per whole source token.
    price: amount === 0n ? 0 : amountOut / toNumber(amount, decimalsIn),
    // The impact of a pool is already part of the expected amount.
    priceImpact: 0,
    slippageBps: args.slippageBps,
    // The interface's native coin for the recipient, which no route delivers.
    gasDrop: 0,
    bridgeFee: toNumber(bridgeFee, decimalsOut),
    protocolBps: fees.service === 0n ? 0 : fee.bps,
    fees: {
      service: fees.service.toString(),
      gas: fees.gas.toString(),
      bridge: fees.bridge.toString(),
    },
    ...(fromToken.minDeposit === undefined
      ? {}
      : { minDeposit: formatUnits(fromToken.minDeposit, decimalsIn) }),
    belowMinimum: fromToken.minDeposit !== undefined && amount < fromToken.minDeposit,
    referrerBps: 0,
    // Whole minutes.
    eta: Math.ceil(etaSeconds / 60),
    etaSeconds,
    clientEta: `${etaSeconds} s`,
    deadline64: String(Math.floor(args.nowMs / 1000) + QUOTE_LIFETIME_S),
    fromToken: formatToken(args.format, fromToken),
    toToken: formatToken(args.format, toToken),
    fromChain: chainName(fromToken.chainId),
    toChain: chainName(toToken.chainId),
    payIntegratorId: args.principal.integratorId,
    payUserId: args.userId,
    payDepositAddress: address ? args.format.display(address.wallet) : null,
    ...(address ? { payDepositCommitment: formatCommitment(address, args.format.display) } : {}),
  };
}

/** Seconds until `deadline64` of a quote. */
const QUOTE_LIFETIME_S = 600;

/** Converts base units to whole tokens as a number, for display only. */
function toNumber(amount: bigint, decimals: number): number {
  return Number(formatUnits(amount, decimals));
}

const STANDARDS = { evm: "erc20", svm: "spl" } as const;

function formatToken(format: AddressFormat, token: ListedToken): Quote["fromToken"] {
  const contract = format.display(token.address);
  const native = isNative(token.address);
  const standard = native ? "native" : STANDARDS[familyOf(token.address)];
  return {
    name: token.symbol,
    symbol: token.symbol,
    contract,
    ...(standard === "spl" ? { mint: contract } : {}),
    chainId: token.evmChainId,
    wChainId: token.chainId,
    decimals: token.decimals,
    standard,
    // Quotes name only tokens that the operator listed.
    verified: true,
  };
}

function chainName(chainId: number): string {
  return findChainById(chainId)?.name ?? String(chainId);
}
