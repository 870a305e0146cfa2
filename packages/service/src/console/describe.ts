/** Describes a settlement for the console: facts, a timeline, and what an operator can do now. */
import type { ConsoleAction, ConsoleEvent, ConsoleFile, ConsoleListed } from "@sluice/sdk/wire";
import type { Config } from "../config/index.ts";
import { displayTxHash } from "../core/base58.ts";
import { type Address, toAddress, unpadAddress } from "../core/hex.ts";
import {
  explainWait,
  findRefusal,
  locateValue,
  type OperatorListed,
  type SettlementFile,
  type ValuePlace,
} from "../settlements/index.ts";
import { assetOf, nameOf } from "./assets.ts";

/** What descriptions need. */
export interface DescribeContext extends Pick<Config, "chains"> {
  readonly display: (address: Address) => string;
}

const PLACES: Readonly<Record<ValuePlace, string>> = {
  deposit_address: "In the deposit address",
  sweeping: "Leaving the deposit address; the sweep is not final",
  escrow: "Swept, not seen at the recipient yet",
  recipient: "With the recipient",
  refund_authority: "With the refund authority",
  nowhere: "Nowhere: its deposits were orphaned by a reorganisation",
  elsewhere: "Without deposits: a later settlement took them, or none was detected",
};

/** Describes a settlement in a list. */
export function describeListed(context: DescribeContext, listed: OperatorListed): ConsoleListed {
  const { id, status, integrator, userId, retryCount, createdAt, updatedAt, error } = listed;
  const asset = assetOf(context, listed.chainId, listed.token);
  return {
    id,
    status,
    integrator,
    chain: nameOf(listed.chainId),
    destChain: nameOf(listed.destChain),
    amount: listed.amount === null ? asset.describe : asset.format(listed.amount),
    wallet: context.display(listed.wallet),
    userId,
    error: error && `${error.code}: ${error.message}`,
    retryCount,
    createdAt,
    updatedAt,
  };
}

/** Describes one settlement. */
export function describeFile(context: DescribeContext, file: SettlementFile): ConsoleFile {
  const { settlement, address } = file;
  const { commitment, family } = address;
  return {
    id: settlement.id,
    status: settlement.status,
    facts: listFacts(context, file),
    waitsFor: explainWait(file),
    nextTry: settlement.status === "dead" ? null : (file.retryAt ?? file.nextCheckAt),
    timeline: listEvents(context, file),
    actions: listActions(file),
    refundAuthority: context.display(unpadAddress(commitment.refundAuthority, family)),
  };
}

function listFacts(
  context: DescribeContext,
  file: SettlementFile,
): readonly (readonly [string, string])[] {
  const { settlement, address, fees, error } = file;
  const { display } = context;
  const source = assetOf(context, settlement.chainId, settlement.token);
  const destination = assetOf(context, address.destChain, address.destToken);
  const { route, routeContract, sweptAmount, minOut } = settlement;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Value", PLACES[locateValue(file)]],
    ["Integrator", file.integrator],
    ["User", address.userId],
    ["From", `${source.describe} at ${display(settlement.wallet)}`],
    ["To", `${destination.describe} for ${display(address.destWallet)}`],
    ["Refunds to", display(unpadAddress(address.commitment.refundAuthority, address.family))],
    ["Route", route && (routeContract === null ? route : `${route} by ${display(routeContract)}`)],
    ["Swept", sweptAmount === null ? null : source.format(sweptAmount)],
    [
      "Fees",
      fees &&
        `service ${source.format(fees.service)}, gas ${source.format(fees.gas)}, bridge ${source.format(fees.bridge)}`,
    ],
    ["Promised", minOut === null ? null : destination.format(minOut)],
    ["Delivered", file.deliveredAmount === null ? null : destination.format(file.deliveredAmount)],
    ["Error", error && `${error.code}: ${error.message}`],
    ["Retries", `${settlement.retryCount} so far; tries used up: ${settlement.triesUsed}`],
  ];
  return facts.flatMap(([label, text]) => (text === null ? [] : [[label, text] as const]));
}

/** What happened, oldest first. */
function listEvents(context: DescribeContext, file: SettlementFile): readonly ConsoleEvent[] {
  const events = [
    {
      at: file.createdAt,
      kind: "status",
      text: "created",
      isProblem: false,
      txHash: null,
    } as const,
    ...file.history.map(({ at, to, errorCode, txHash }) => ({
      at,
      kind: "status" as const,
      text: errorCode === null ? to : `${to}: ${errorCode}`,
      isProblem: errorCode !== null,
      txHash,
    })),
    ...listDeposits(context, file),
    ...file.transactions.flatMap((transaction) => listSent(context, transaction)),
    ...listLegs(context, file),
    ...file.actions.map(({ at, operator, action, reason }) => ({
      at,
      kind: "operator" as const,
      text: `${operator}: ${action}, ${reason}`,
      isProblem: false,
      txHash: null,
    })),
  ];
  return events
    .map((event) => ({ ...event, txHash: event.txHash && displayTxHash(event.txHash) }))
    .toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

function listDeposits(
  context: DescribeContext,
  { settlement, deposits }: SettlementFile,
): readonly ConsoleEvent[] {
  const { format } = assetOf(context, settlement.chainId, settlement.token);
  return deposits.flatMap(({ amount, txHash, block, detectedAt, orphanedAt }) => [
    {
      at: detectedAt,
      kind: "deposit",
      text: `${format(amount)} in block ${block}${txHash === null ? ", found by balance" : ""}`,
      isProblem: false,
      txHash,
    },
    ...(orphanedAt === null
      ? []
      : [
          {
            at: orphanedAt,
            kind: "deposit" as const,
            text: `${format(amount)} orphaned: its block left the chain`,
            isProblem: true,
            txHash,
          },
        ]),
  ]);
}

/** A transaction when it was planned, and each attempt when it was sent. */
function listSent(
  { display }: DescribeContext,
  transaction: SettlementFile["transactions"][number],
): readonly ConsoleEvent[] {
  const { intent, chainId, state, succeeded, lane, nonce, createdAt, attempts } = transaction;
  const [name] = intent.split(":");
  const numbered = nonce === null ? "" : `, nonce ${nonce}`;
  return [
    {
      at: createdAt,
      kind: "transaction",
      text: `${name} on ${nameOf(chainId)}: ${succeeded === false ? "reverted" : state}, lane ${display(toAddress(lane))}${numbered}`,
      isProblem: succeeded === false || state === "abandoned",
      txHash: transaction.minedHash,
    },
    ...attempts.map(({ hash, sentAt, signedAt, accepted, gasPriceMax }) => ({
      at: sentAt ?? signedAt,
      kind: "attempt" as const,
      text: `${name} ${sentAt === null ? "signed, not sent" : accepted ? "sent" : "sent, not accepted by a node"}, at most ${gasPriceMax} per unit of gas`,
      isProblem: sentAt !== null && !accepted,
      txHash: hash,
    })),
  ];
}

/** Locks and bridge transfers, when they were first seen. */
function listLegs(context: DescribeContext, file: SettlementFile): readonly ConsoleEvent[] {
  const { settlement, address } = file;
  const source = assetOf(context, settlement.chainId, settlement.token);
  const destination = assetOf(context, address.destChain, address.destToken);
  return [
    ...file.deliveries.map(
      ({ createdAt, state, lockedAmount, payAmount, deliveredTxHash, error }) => ({
        at: createdAt,
        kind: "lock" as const,
        text: `lock of ${source.format(lockedAmount)} for ${destination.format(payAmount)}: ${state}${error === null ? "" : `, ${error}`}`,
        isProblem: error !== null,
        txHash: deliveredTxHash,
      }),
    ),
    ...file.transfers.map(({ createdAt, state, burnedAmount, burnTxHash, delayReason, error }) => ({
      at: createdAt,
      kind: "bridge" as const,
      text: `${source.format(burnedAmount)} over the bridge: ${state}${[error, delayReason].map((why) => (why === null ? "" : `, ${why}`)).join("")}`,
      isProblem: error !== null || delayReason !== null,
      txHash: burnTxHash,
    })),
  ];
}

function listActions({ settlement }: SettlementFile): readonly ConsoleAction[] {
  return (["retry", "refund"] as const).map((action) => ({
    action,
    obstacle: findRefusal(settlement, action),
  }));
}
