/** Formats a settlement as lines of text. */
import type { Config } from "../../config/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { toAddress, unpadAddress } from "../../core/hex.ts";
import type { FeeItems } from "../../fees/index.ts";
import { addressFormat } from "../../roles/address-format.ts";
import type { SettlementFile, ValuePlace } from "../../settlements/index.ts";
import { assetOf, nameOf } from "./assets.ts";
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

/** Formats a settlement as lines of text. */
export function formatSettlement(config: Pick<Config, "chains">, shown: ShownSettlement): string {
  const { settlement, address, error, value } = shown;
  const { chainId, token } = settlement;
  const source = assetOf(config, chainId, token);
  const destination = assetOf(config, address.destChain, address.destToken);
  const show = addressFormat.display;
  const line = (label: string, text: string) => `  ${label.padEnd(12)} ${text}`;
  const optional = (label: string, text: string | null) =>
    text === null ? [] : [line(label, text)];
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", title, ...lines.map((text) => `  ${text}`)];
  const balance =
    value.walletBalance === null
      ? "unknown: the chain's node does not answer"
      : `${source.format(value.walletBalance)} in the deposit address`;
  const next =
    shown.nextCheckAt === null || settlement.status === "dead"
      ? null
      : `${shown.retryAt ?? shown.nextCheckAt}${shown.retryAt === null ? " (next check)" : ""}`;
  return [
    `settlement ${settlement.id}`,
    line("status", `${settlement.status}, step ${settlement.step}`),
    line("value", PLACES[value.place]),
    line("balance", balance),
    ...optional("waits for", shown.waitsFor),
    ...optional("next try", next),
    line("retries", `${settlement.retryCount}, tries used ${settlement.triesUsed}`),
    ...optional("error", error && formatError(error)),
    line("integrator", `${shown.integrator}, user ${address.userId}`),
    line("from", `${source.describe} at ${show(settlement.wallet)}`),
    line("to", `${destination.describe} for ${show(address.destWallet)}`),
    line("refunds to", show(unpadAddress(address.commitment.refundAuthority, address.family))),
    line("route", describeRoute(settlement)),
    ...optional(
      "swept",
      settlement.sweptAmount === null ? null : source.format(settlement.sweptAmount),
    ),
    ...optional("fees", shown.fees && formatFees(shown.fees, source.format)),
    ...optional("sweep", settlement.swapTxHash && displayTxHash(settlement.swapTxHash)),
    ...optional(
      "promised",
      settlement.minOut === null ? null : destination.format(settlement.minOut),
    ),
    ...optional(
      "delivered",
      shown.deliveredAmount === null ? null : destination.format(shown.deliveredAmount),
    ),
    ...optional("delivery", shown.deliveryTxHash && displayTxHash(shown.deliveryTxHash)),
    ...section("statuses", [
      `${shown.createdAt}  created`,
      ...shown.history.map(
        ({ at, to, errorCode, txHash }) =>
          `${at}  ${[to, errorCode, txHash && displayTxHash(txHash)].filter((part) => part !== null).join("  ")}`,
      ),
    ]),
    ...section(
      "deposits",
      shown.deposits.map(
        ({ amount, txHash, block, orphanedAt }) =>
          `${source.format(amount)}  block ${block}  ${txHash === null ? "found by balance" : displayTxHash(txHash)}${orphanedAt === null ? "" : `  orphaned ${orphanedAt}`}`,
      ),
    ),
    ...section(
      "transactions",
      shown.transactions.flatMap(
        ({ intent, chainId: id, state, succeeded, lane, nonce, attempts }) => [
          `${intent}  ${nameOf(id)}  ${state}${succeeded === false ? ", reverted" : ""}  lane ${show(toAddress(lane))}${nonce === null ? "" : ` nonce ${nonce}`}`,
          ...attempts.map(
            ({ hash, sentAt, signedAt, accepted }) =>
              `  ${displayTxHash(hash)}  ${sentAt === null ? `signed ${signedAt}, not sent` : `sent ${sentAt}`}${accepted ? "" : ", not accepted by a node"}`,
          ),
        ],
      ),
    ),
    ...section(
      "locks",
      shown.deliveries.map(
        ({ id, state, lockedAmount, payAmount, error: lastError }) =>
          `${id}  ${state}  ${source.format(lockedAmount)} for ${destination.format(payAmount)}${lastError === null ? "" : `  ${lastError}`}`,
      ),
    ),
    ...section(
      "bridge transfers",
      shown.transfers.map(
        ({ id, state, burnedAmount, burnTxHash, delayReason, mintTxHash, error: lastError }) =>
          [
            `${id}  ${state}  ${source.format(burnedAmount)} burned in ${displayTxHash(burnTxHash)}`,
            mintTxHash === null ? "" : `  minted in ${displayTxHash(mintTxHash)}`,
            delayReason === null ? "" : `  ${delayReason}`,
            lastError === null ? "" : `  ${lastError}`,
          ].join(""),
      ),
    ),
    ...section(
      "commands by operators",
      shown.actions.map(
        ({ at, operator, action, fromStatus, successorId, refundTo, reason }) =>
          `${at}  ${operator}  ${action} of ${fromStatus}${successorId === null ? "" : ` as ${successorId}`}${refundTo === null ? "" : ` to ${show(toAddress(refundTo))}`}: ${reason}`,
      ),
    ),
  ].join("\n");
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
