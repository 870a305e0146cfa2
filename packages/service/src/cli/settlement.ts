/** `sluice settlement`: what is known about one, and what an operator may do about it. */
import { hostname, userInfo } from "node:os";
import { type Config, findEvmChain, listSolanaChains } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { displayTxHash } from "../core/base58.ts";
import { findChainById } from "../core/chain-registry.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, isNative, toAddress, unpadAddress } from "../core/hex.ts";
import type { FeeItems } from "../fees/index.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import {
  explainWait,
  locateValue,
  readSettlementFile,
  refundSettlement,
  type RefundByCall,
  type RefundByOrder,
  type RefundResult,
  type RetryResult,
  retrySettlement,
  type SettlementDeps,
  type SettlementFile,
  type ValuePlace,
} from "../settlements/index.ts";
import { createLog } from "../telemetry/log.ts";
import { addressFormat } from "../roles/address-format.ts";
import { createWatch } from "../roles/health.ts";
import { withDatabase } from "./integrators.ts";
import { openAttestations } from "../roles/attestations.ts";
import { createChains } from "../roles/chains.ts";
import { TOPICS } from "../roles/context.ts";
import { createConfiguredPrices } from "../roles/prices.ts";
import { createSettlementDeps } from "../roles/settlement-deps.ts";
import { createCrashPoint, systemClock, systemHttp, systemRandom } from "../roles/system-ports.ts";
import { createRoutes } from "../routes/index.ts";

/** A settlement as it is shown: what is recorded, and what its deposit address holds at this moment. */
export interface ShownSettlement extends SettlementFile {
  readonly value: {
    readonly place: ValuePlace;
    /** What the deposit address holds of the token, in base units; null when the chain's node does not answer. */
    readonly walletBalance: bigint | null;
  };
  readonly waitsFor: string | null;
}

/** Everything about a settlement. Throws VALIDATION_ERROR when there is none of that id. */
export async function showSettlement(config: Config, id: string): Promise<ShownSettlement> {
  return withDatabase(config, async ({ db }) => {
    const file = isUuid(id) ? await readSettlementFile(db, id) : null;
    if (!file) throw new OperatingError("VALIDATION_ERROR", `There is no settlement ${id}.`);
    const { chainId, token, wallet } = file.settlement;
    const log = createLog({ level: config.logLevel, role: "command" });
    const chain = createChains(config, { clock: systemClock, log }).get(chainId);
    const walletBalance = chain ? await readBalance(() => chain.findBalance(token, wallet)) : null;
    const value = { place: locateValue(file), walletBalance };
    return { ...file, value, waitsFor: explainWait(file) };
  });
}

/** The rest is worth showing while a node is away. */
async function readBalance(read: () => Promise<bigint | null>): Promise<bigint | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OperatingError && error.code === "RPC_UNAVAILABLE") return null;
    throw error;
  }
}

interface Asked {
  readonly id: string;
  readonly reason: string;
}

/** Has a failing settlement tried at once, or what a dead one left settled anew. */
export function retrySettlementCommand(config: Config, asked: Asked): Promise<RetryResult> {
  const request = { ...parseAsked(asked), operator: nameOperator() };
  return withSettlements(config, (deps) => retrySettlement(deps, request));
}

/** Ends a settlement for a refund, and returns what its refund authority has to do, or what pays it. */
export function refundSettlementCommand(
  config: Config,
  asked: Asked & { readonly to: string },
): Promise<RefundResult> {
  // Whether it is of the family of the settlement's chain is compared with the commitment.
  const parsed = addressFormat.parse(asked.to, asked.to.startsWith("0x") ? "evm" : "svm");
  if (parsed.kind === "invalid") {
    throw new OperatingError("VALIDATION_ERROR", `--to: expected an address, got "${asked.to}".`);
  }
  const request = {
    ...parseAsked(asked),
    operator: nameOperator(),
    to: parsed.address,
  };
  return withSettlements(config, (deps) => refundSettlement(deps, request));
}

const REASON_LENGTH_MAX = 500;

function parseAsked({ id, reason }: Asked): Asked {
  return { id, reason: parseReason(reason) };
}

/** Why something is done by hand. Throws VALIDATION_ERROR for none, and for too long a text. */
export function parseReason(reason: string): string {
  const text = reason.trim();
  if (text !== "" && text.length <= REASON_LENGTH_MAX) return text;
  throw new OperatingError(
    "VALIDATION_ERROR",
    `--reason: expected a text of 1 to ${REASON_LENGTH_MAX} characters.`,
  );
}

/** Who runs a command: the account of the operating system, and its machine. */
export function nameOperator(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // An account without a name, as in containers.
    return `uid ${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}

/** Opens what the settlement functions of the service work with. Nothing is signed here: what they queue, lanes send. */
export function withSettlements<Result>(
  config: Config,
  run: (deps: SettlementDeps) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, async ({ db, pool, address }) => {
    const log = createLog({ level: config.logLevel, role: "command" });
    const clock = systemClock;
    const wakeups = createWakeups({ address, pool, clock, log });
    try {
      const chains = createChains(config, { clock, log, db });
      const wakeAttestor = () => wakeups.wake(TOPICS.attestations);
      const http = systemHttp;
      const watch = createWatch(config, clock, []);
      const { metrics } = watch;
      const attestations = openAttestations(config, { http, clock, log, metrics });
      const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
      const random = systemRandom;
      const shared = { db, clock, random, chains, prices, attestations };
      const context = {
        config,
        ...shared,
        log,
        watch,
        crashPoint: createCrashPoint(config.crashAt),
        wakeups,
        http,
        routes: createRoutes(config, { ...shared, log, metrics, wakeAttestor }),
        format: addressFormat,
      };
      return await run(createSettlementDeps(context, listSettleLanes(config)));
    } finally {
      await wakeups.close();
    }
  });
}

/** Whoever sends refunds: on Solana the configuration names it, as its key follows from the seed. */
function listSettleLanes(config: Config): SettlementDeps["lanes"] {
  return new Map(
    listSolanaChains(config).map(({ chainId, accounts: { settle } }) => [
      chainId,
      { deploy: [], settle: [settle] },
    ]),
  );
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

/** As JSON: amounts and block numbers as decimal strings. */
export function toJson(result: object): string {
  return JSON.stringify(result, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}

const PLACES: Readonly<Record<ValuePlace, string>> = {
  deposit_address: "in the deposit address",
  sweeping: "leaving the deposit address: its sweep is not final",
  escrow: "swept, not seen at the recipient yet",
  recipient: "with the recipient",
  refund_authority: "with the refund authority",
  nowhere: "nowhere: its deposits left the chain",
  elsewhere: "no deposit is its own: a later settlement took them, or none was seen",
};

/** A settlement as lines of text. */
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
      : source.format(value.walletBalance);
  const next =
    shown.nextCheckAt === null || settlement.status === "dead"
      ? null
      : `${shown.retryAt ?? shown.nextCheckAt}${shown.retryAt === null ? " (looked at)" : ""}`;
  return [
    `settlement ${settlement.id}`,
    line("status", `${settlement.status}, step ${settlement.step}`),
    line("value", PLACES[value.place]),
    line("balance", `${balance} in the deposit address`),
    ...optional("waits for", shown.waitsFor),
    ...optional("next attempt", next),
    line("retries", `${settlement.retryCount}, attempts used ${settlement.attemptsUsed}`),
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
          `${source.format(amount)}  block ${block}  ${txHash === null ? "found by balance" : displayTxHash(txHash)}${orphanedAt === null ? "" : `  left the chain ${orphanedAt}`}`,
      ),
    ),
    ...section(
      "transactions",
      shown.transactions.flatMap(
        ({ intent, chainId: id, state, succeeded, lane, nonce, attempts }) => [
          `${intent}  ${nameOf(id)}  ${state}${succeeded === false ? ", reverted" : ""}  lane ${show(toAddress(lane))}${nonce === null ? "" : ` nonce ${nonce}`}`,
          ...attempts.map(
            ({ hash, sentAt, signedAt, accepted }) =>
              `  ${displayTxHash(hash)}  ${sentAt === null ? `signed ${signedAt}, not sent` : `sent ${sentAt}`}${accepted ? "" : ", not taken by a node"}`,
          ),
        ],
      ),
    ),
    ...section(
      "locks",
      shown.deliveries.map(
        ({ id, state, lockedAmount, payAmount, trouble }) =>
          `${id}  ${state}  ${source.format(lockedAmount)} for ${destination.format(payAmount)}${trouble === null ? "" : `  ${trouble}`}`,
      ),
    ),
    ...section(
      "by the bridge",
      shown.transfers.map(
        ({ id, state, burnedAmount, burnTxHash, delayReason, mintTxHash, trouble }) =>
          [
            `${id}  ${state}  ${source.format(burnedAmount)} burned in ${displayTxHash(burnTxHash)}`,
            mintTxHash === null ? "" : `  minted in ${displayTxHash(mintTxHash)}`,
            delayReason === null ? "" : `  ${delayReason}`,
            trouble === null ? "" : `  ${trouble}`,
          ].join(""),
      ),
    ),
    ...section(
      "by hand",
      shown.actions.map(
        ({ at, operator, action, fromStatus, successorId, refundTo, reason }) =>
          `${at}  ${operator}  ${action} of ${fromStatus}${successorId === null ? "" : ` as ${successorId}`}${refundTo === null ? "" : ` to ${show(toAddress(refundTo))}`}: ${reason}`,
      ),
    ),
  ].join("\n");
}

/** What a retry came to, in words. */
export function formatRetry({ kind, settlementId, changed }: RetryResult): string {
  if (kind === "hurried") {
    return `settlement ${settlementId} is ${changed ? "tried again now" : "due already"}`;
  }
  return changed
    ? `it is dead; settlement ${settlementId} now settles what the deposit address holds`
    : `settlement ${settlementId} settles what the deposit address holds already`;
}

/** A refund in words: as the refund authority needs it, or who pays it. */
export function formatRefund(config: Pick<Config, "chains">, refund: RefundResult): string {
  return refund.kind === "call" ? formatCall(config, refund) : formatOrder(refund);
}

function formatOrder({ settlementId, changed, authority, chainId, intent }: RefundByOrder): string {
  return [
    `settlement ${settlementId} is dead and will not be swept${changed ? "" : " (its refund is on its way already)"}.`,
    `The signer pays what its deposit address holds to ${addressFormat.display(authority)} on ${nameOf(chainId)}, and to nobody else; the refund authority has nothing to do.`,
    `The settler sends it as ${intent}. Once it is final, \`sluice settlement show\` says so; if it fails, ask again.`,
  ].join("\n");
}

function formatCall(config: Pick<Config, "chains">, refund: RefundByCall): string {
  const { chainId, call, obstacle, authority } = refund;
  const { evmChainId } = findEvmChain(config, chainId) ?? {};
  return [
    `settlement ${refund.settlementId} is dead and will not be swept${refund.changed ? "" : " (it was prepared for a refund before)"}.`,
    `Only ${addressFormat.display(authority)} can take its deposits, with this transaction:`,
    `  chain  ${evmChainId ?? "?"} (${nameOf(chainId)})`,
    `  from   ${addressFormat.display(authority)}`,
    `  to     ${addressFormat.display(call.to)}`,
    `  value  ${call.value}`,
    `  data   ${call.data}`,
    ...(obstacle === null ? [] : [`At this moment it would fail: ${obstacle}.`]),
    "Once it is final, `sluice settlement show` says so.",
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

function assetOf(config: Pick<Config, "chains">, chainId: number, address: Address) {
  const chain = config.chains.find((known) => known.chainId === chainId);
  const token = chain?.tokens.find((known) => known.address === address);
  const coin = isNative(address) ? "native coin" : addressFormat.display(address);
  return {
    describe: `${token?.symbol ?? coin} on ${nameOf(chainId)}`,
    format: (amount: bigint) =>
      token ? `${formatUnits(amount, token.decimals)} ${token.symbol}` : `${amount} base units`,
  };
}

function nameOf(chainId: number): string {
  return findChainById(chainId)?.name ?? `chain ${chainId}`;
}
