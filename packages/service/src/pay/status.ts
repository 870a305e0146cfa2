/**
 * One deposit address as its payer sees it. Everything here is public to whoever has the link: no label, metadata or name of
 * the integrator, no reason of the operator, and no row of another address.
 */
import { createHash } from "node:crypto";
import {
  type Deposit,
  PAY_LISTED_MAX,
  PAY_SETTLEMENTS_MAX,
  type PaySettlement,
  type PaySource,
  type PayStatus,
  type PayWaitReason,
  type Settlement,
  type WaitReason,
} from "@sluice/sdk/wire";
import { type DepositAddress, formatCommitment, getAddressById } from "../addresses/index.ts";
import { findChainById, kindOfChain } from "../core/chain-registry.ts";
import { type Address, familyOf, isNative, toAddress } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { type DepositView, listDeposits } from "../deposits/index.ts";
import type { ListedToken, PayableToken } from "../quotes/index.ts";
import { listSwaps, readReport, type RefundDesk } from "../settlements/index.ts";
import type { OpenPayLink } from "./links.ts";

export interface PayStatusDeps extends DepositView {
  readonly db: Db;
  readonly readHeights: Parameters<typeof readReport>[2]["readHeights"];
  readonly refunds: Pick<RefundDesk, "list">;
  /** Listed tokens of every chain. */
  readonly tokens: readonly ListedToken[];
  readonly listPayable: (address: DepositAddress) => Promise<readonly PayableToken[]>;
  /** Prefix of a transaction's page by chain; "" for a network that is not public. */
  readonly explorers: ReadonlyMap<number, string>;
}

/** Returns the status of the address of a link. */
export async function readPayStatus(deps: PayStatusDeps, link: OpenPayLink): Promise<PayStatus> {
  const { db, display, heights, status, readHeights } = deps;
  const view = { display, heights, status };
  const { integratorId, addressId } = link;
  const address = await getAddressById(db, addressId);
  const { wallet } = address;
  const page = { limit: PAY_LISTED_MAX, cursor: undefined, filter: { wallet } };
  const deposits = await listDeposits(db, integratorId, { ...page, ...view });
  const swaps = await listSwaps(db, integratorId, { ...page, limit: PAY_SETTLEMENTS_MAX, display });
  const refunds = await deps.refunds.list(integratorId, page);
  const settlements: PaySettlement[] = [];
  for (const { id } of swaps.items) {
    const report = await readReport(db, integratorId, { id, display, readHeights });
    if (report) settlements.push(showSettlement(report));
  }
  const sources = groupByChain(deps, await deps.listPayable(address));
  const shown = {
    title: link.title,
    expiresAt: link.expiresAt,
    address: {
      walletAddress: display(wallet),
      chainType: address.family,
      commitment: formatCommitment(address, display),
    },
    destination: showDestination(deps, address),
    sources,
    deposits: deposits.items.map(showDeposit),
    settlements,
    hasMore: deposits.nextCursor !== null || swaps.nextCursor !== null,
    missing: findMissing(deposits.items, sources),
    refunds: refunds.items.map(
      ({ id, chainId, tokenAddress, amount, state, refundTo, txHash, requestedAt }) => ({
        id,
        chainId,
        tokenAddress,
        amount,
        state,
        refundTo,
        txHash,
        requestedAt,
      }),
    ),
  };
  const version = createHash("sha256").update(JSON.stringify(shown)).digest("base64url");
  return { version: version.slice(0, VERSION_LENGTH), ...shown };
}

const VERSION_LENGTH = 16;

/** Returns whether a status may change without an event of its integrator: confirmations are counted. */
export function isMoving({ deposits, settlements }: PayStatus): boolean {
  return (
    deposits.some(({ finality }) => finality === "confirming") ||
    settlements.some(({ waiting }) => waiting !== null)
  );
}

function showDestination(
  deps: Pick<PayStatusDeps, "tokens" | "display" | "explorers">,
  { destChain, destWallet, destToken }: DepositAddress,
): PayStatus["destination"] {
  const { tokens, display } = deps;
  const token = tokens.find(
    ({ chainId, address }) => chainId === destChain && address === destToken,
  );
  return {
    ...nameChain(deps, destChain),
    wallet: display(destWallet),
    token: token ? showToken(token, display) : null,
  };
}

function nameChain({ explorers }: Pick<PayStatusDeps, "explorers">, chainId: number) {
  return {
    chainId,
    name: findChainById(chainId)?.name ?? String(chainId),
    explorerTxUrl: explorers.get(chainId) ?? "",
  };
}

const STANDARDS = { evm: "erc20", svm: "spl" } as const;

function showToken(
  { symbol, address, decimals }: ListedToken,
  display: (address: Address) => string,
) {
  return {
    symbol,
    address: display(address),
    standard: isNative(address) ? ("native" as const) : STANDARDS[familyOf(address)],
    decimals,
  };
}

function groupByChain(
  deps: Pick<PayStatusDeps, "display" | "explorers">,
  payable: readonly PayableToken[],
): PaySource[] {
  const chainIds = [...new Set(payable.map(({ chainId }) => chainId))];
  return chainIds.map((chainId) => {
    const tokens = payable.filter((token) => token.chainId === chainId);
    const evmChainId = tokens[0]?.evmChainId ?? 0;
    return {
      ...nameChain(deps, chainId),
      kind: kindOfChain(chainId),
      evmChainId: evmChainId === 0 ? null : evmChainId,
      tokens: tokens.map((token) => ({
        ...showToken(token, deps.display),
        minDeposit: token.minDeposit?.toString() ?? null,
        etaSeconds: token.etaSeconds,
      })),
    };
  });
}

function showDeposit(deposit: Deposit): PayStatus["deposits"][number] {
  const { id, chainId, tokenAddress, amount, txHash, finality, confirmations } = deposit;
  return {
    id,
    chainId,
    tokenAddress,
    amount,
    txHash,
    // CAST: a deposit has a block, so it is never only seen.
    finality: finality as PayStatus["deposits"][number]["finality"],
    confirmations,
    confirmationsRequired: deposit.confirmationsRequired,
    ignoredReason: deposit.queueItemId === null ? deposit.ignoredReason : null,
    settlementId: deposit.queueItemId,
    outcome: deposit.outcome,
    detectedAt: deposit.detectedAt,
  };
}

/** Reasons as the payer sees them. A check by the operator is not told to the person who is checked. */
const REASONS: Readonly<Record<WaitReason, PayWaitReason>> = {
  worker: "worker",
  confirmations: "confirmations",
  transaction: "transaction",
  bridge: "bridge",
  bridge_allowance: "bridge",
  delivery: "delivery",
  gas_price: "gas_price",
  inventory: "liquidity",
  inventory_share: "liquidity",
  exposure: "confirmations",
  daily_cap: "liquidity",
  operator_funds: "operator",
  pause: "operator",
  screening: "operator",
  quarantine: "operator",
  price: "price",
  node: "node",
  route: "operator",
  amount_too_small: "amount_too_small",
  configuration: "operator",
  recipient: "recipient",
  refund: "refund",
  reorg: "reorg",
  retry: "retry",
};

function showSettlement(report: Settlement): PaySettlement {
  const { waiting, error } = report;
  const refund = report.transactions.findLast(({ purpose }) => purpose === "refund");
  return {
    id: report.id,
    chainId: report.chainId,
    tokenAddress: report.tokenAddress,
    status: report.status,
    isRefunded: error?.details?.["reason"] === "refunded",
    refundTxHash: refund?.txHash ?? null,
    amount: report.sweptAmount ?? report.amount,
    waiting: waiting && {
      reason: REASONS[waiting.reason],
      chainId: waiting.chainId,
      confirmations: waiting.confirmations,
      required: waiting.required,
      retryAt: waiting.retryAt,
    },
    estimateSeconds: report.estimate?.seconds ?? null,
    sweepTxHash: report.swapTxHash,
    promisedAmount: report.promisedAmount,
    deliveredAmount: report.deliveredAmount,
    deliveryTxHash: report.deliveryTxHash,
    fees: report.fees,
    createdAt: report.createdAt,
    updatedAt: report.updatedAt,
  };
}

/**
 * Returns the amounts that wait for more: those of the deposits of a token since the newest one that is delivered. An earlier
 * deposit was in the balance that it was delivered with.
 */
function findMissing(
  deposits: readonly Deposit[],
  sources: readonly PaySource[],
): PayStatus["missing"] {
  return sources.flatMap(({ chainId, tokens }) =>
    tokens.flatMap(({ address: tokenAddress, minDeposit }) => {
      if (minDeposit === null) return [];
      const own = deposits.filter(
        (one) => one.chainId === chainId && one.tokenAddress === tokenAddress,
      );
      const newest = own.findIndex(({ queueItemId }) => queueItemId !== null);
      const waiting = newest === -1 ? own : own.slice(0, newest);
      const small = waiting.filter(
        ({ outcome, ignoredReason }) =>
          outcome === "below_minimum" && ignoredReason === "below_token_min",
      );
      const held = small.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
      const minimum = BigInt(minDeposit);
      if (held === 0n || held >= minimum) return [];
      return [
        {
          chainId,
          tokenAddress,
          held: held.toString(),
          minimum: minDeposit,
          missing: (minimum - held).toString(),
        },
      ];
    }),
  );
}

/** Parses the token of a query by the addresses that a status shows; undefined if it shows no such token. */
export function findShownToken(
  tokens: readonly ListedToken[],
  { chainId, tokenAddress }: { readonly chainId: number; readonly tokenAddress: string },
  display: (address: Address) => string,
): Address | undefined {
  const found = tokens.find(
    (token) => token.chainId === chainId && display(token.address) === tokenAddress,
  );
  return found && toAddress(found.address);
}
