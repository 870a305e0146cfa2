/** Formats a settlement as lines of text. */
import type { Config } from "../../config/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { toAddress, unpadAddress } from "../../core/hex.ts";
import type { FeeItems } from "../../fees/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import type { SettlementFile, ValuePlace } from "../../settlements/index.ts";
import { assetOf, nameOf } from "../../console/index.ts";
import type { ShownSettlement } from "./show.ts";

const PLACES: Readonly<Record<ValuePlace, string>> = {
  deposit_address: "in the deposit address",
  sweeping: "leaving the deposit address: the sweep is not final",
  escrow: "swept, not seen at the recipient yet",
  recipient: "with the recipient",
  refund_authority: "with the refund authority",
  nowhere: "nowhere: its deposits were orphaned by a reorg",
  elsewhere: "without deposits: a later settlement took them, or none was detected",
};

const show = addressFormat.display;

/** Formats a settlement as lines of text. */
export function formatSettlement(config: Pick<Config, "chains">, shown: ShownSettlement): string {
  const { settlement, address } = shown;
  const assets = {
    source: assetOf({ ...config, display: show }, settlement.chainId, settlement.token),
    destination: assetOf({ ...config, display: show }, address.destChain, address.destToken),
  };
  return [
    `settlement ${settlement.id}`,
    ...listFacts(shown, assets),
    ...listProgress(shown, assets),
    ...formatSection("statuses", listStatuses(shown)),
    ...formatSection("deposits", listDeposits(shown, assets)),
    ...formatSection("transactions", shown.transactions.flatMap(formatTransaction)),
    ...formatSection("locks", listLocks(shown, assets)),
    ...formatSection("bridge transfers", listBridgeTransfers(shown, assets)),
    ...formatSection("commands by operators", listActions(shown)),
  ].join("\n");
}

/** The tokens of a settlement. */
interface Assets {
  readonly source: ReturnType<typeof assetOf>;
  readonly destination: ReturnType<typeof assetOf>;
}

function formatLine(label: string, text: string): string {
  return `  ${label.padEnd(12)} ${text}`;
}

function formatOptional(label: string, text: string | null): readonly string[] {
  return text === null ? [] : [formatLine(label, text)];
}

function formatSection(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((text) => `  ${text}`)];
}

/** Lists where the value is, when the settlement continues, and the terms of its address. */
function listFacts(shown: ShownSettlement, { source, destination }: Assets): readonly string[] {
  const { settlement, address, error, value } = shown;
  const balance =
    value.walletBalance === null
      ? "unknown: the chain's node does not answer"
      : `${source.format(value.walletBalance)} in the deposit address`;
  const next =
    shown.nextCheckAt === null || settlement.status === "dead"
      ? null
      : `${shown.retryAt ?? shown.nextCheckAt}${shown.retryAt === null ? " (next check)" : ""}`;
  return [
    formatLine("status", `${settlement.status}, step ${settlement.step}`),
    formatLine("value", PLACES[value.place]),
    formatLine("balance", balance),
    ...formatOptional("waits for", shown.waitsFor),
    ...formatOptional("next try", next),
    formatLine("retries", `${settlement.retryCount}, tries used ${settlement.triesUsed}`),
    ...formatOptional("error", error && formatError(error)),
    formatLine("integrator", `${shown.integrator}, user ${address.userId}`),
    formatLine("from", `${source.describe} at ${show(settlement.wallet)}`),
    formatLine("to", `${destination.describe} for ${show(address.destWallet)}`),
    formatLine(
      "refunds to",
      show(unpadAddress(address.commitment.refundAuthority, address.family)),
    ),
  ];
}

/** Lists the route, its amounts and its transactions, as far as the settlement came. */
function listProgress(shown: ShownSettlement, { source, destination }: Assets): readonly string[] {
  const { settlement, fees, deliveredAmount, deliveryTxHash } = shown;
  const { sweptAmount, swapTxHash, minOut } = settlement;
  return [
    formatLine("route", describeRoute(settlement)),
    ...formatOptional("swept", sweptAmount === null ? null : source.format(sweptAmount)),
    ...formatOptional("fees", fees && formatFees(fees, source.format)),
    ...formatOptional("sweep", swapTxHash && displayTxHash(swapTxHash)),
    ...formatOptional("promised", minOut === null ? null : destination.format(minOut)),
    ...formatOptional(
      "delivered",
      deliveredAmount === null ? null : destination.format(deliveredAmount),
    ),
    ...formatOptional("delivery", deliveryTxHash && displayTxHash(deliveryTxHash)),
  ];
}

function listStatuses({ createdAt, history }: ShownSettlement): readonly string[] {
  return [
    `${createdAt}  created`,
    ...history.map(
      ({ at, to, errorCode, txHash }) =>
        `${at}  ${[to, errorCode, txHash && displayTxHash(txHash)].filter((part) => part !== null).join("  ")}`,
    ),
  ];
}

function listDeposits({ deposits }: ShownSettlement, { source }: Assets): readonly string[] {
  return deposits.map(
    ({ amount, txHash, block, orphanedAt }) =>
      `${source.format(amount)}  block ${block}  ${txHash === null ? "found by balance" : displayTxHash(txHash)}${orphanedAt === null ? "" : `  orphaned ${orphanedAt}`}`,
  );
}

function formatTransaction(transaction: ShownSettlement["transactions"][number]) {
  const { intent, chainId, state, succeeded, lane, nonce, attempts } = transaction;
  return [
    `${intent}  ${nameOf(chainId)}  ${state}${succeeded === false ? ", reverted" : ""}  lane ${show(toAddress(lane))}${nonce === null ? "" : ` nonce ${nonce}`}`,
    ...attempts.map(
      ({ hash, sentAt, signedAt, accepted }) =>
        `  ${displayTxHash(hash)}  ${sentAt === null ? `signed ${signedAt}, not sent` : `sent ${sentAt}`}${accepted ? "" : ", not accepted by a node"}`,
    ),
  ];
}

function listLocks(
  { deliveries }: ShownSettlement,
  { source, destination }: Assets,
): readonly string[] {
  return deliveries.map(
    ({ id, state, lockedAmount, payAmount, error }) =>
      `${id}  ${state}  ${source.format(lockedAmount)} for ${destination.format(payAmount)}${error === null ? "" : `  ${error}`}`,
  );
}

function listBridgeTransfers({ transfers }: ShownSettlement, { source }: Assets) {
  return transfers.map(({ id, state, burnedAmount, burnTxHash, delayReason, mintTxHash, error }) =>
    [
      `${id}  ${state}  ${source.format(burnedAmount)} burned in ${displayTxHash(burnTxHash)}`,
      mintTxHash === null ? "" : `  minted in ${displayTxHash(mintTxHash)}`,
      delayReason === null ? "" : `  ${delayReason}`,
      error === null ? "" : `  ${error}`,
    ].join(""),
  );
}

function listActions({ actions }: ShownSettlement): readonly string[] {
  return actions.map(
    ({ at, operator, action, fromStatus, successorId, refundTo, reason }) =>
      `${at}  ${operator}  ${action} of ${fromStatus}${successorId === null ? "" : ` as ${successorId}`}${refundTo === null ? "" : ` to ${show(toAddress(refundTo))}`}: ${reason}`,
  );
}

function describeRoute({ route, routeContract }: ShownSettlement["settlement"]): string {
  if (route === null) return "not chosen yet";
  return routeContract === null ? route : `${route} by ${addressFormat.display(routeContract)}`;
}

function formatFees({ service, gas, bridge }: FeeItems, format: (amount: bigint) => string) {
  const parts = { service, gas, bridge };
  const named = Object.entries(parts).map(([name, amount]) => `${name} ${format(amount)}`);
  return `${format(service + gas + bridge)}: ${named.join(", ")}`;
}

function formatError(error: NonNullable<SettlementFile["error"]>): string {
  const details = Object.entries(error.details ?? {}).map(([key, text]) => `${key} ${text}`);
  const more = details.length === 0 ? "" : ` (${details.join(", ")})`;
  return `${error.code}: ${error.message}${more}`;
}
