/**
 * Reads the changes that owner and guardian make from the events of factory, delivery and routes with a daily cap, and builds
 * the calls that withdraw them.
 */
import {
  type ContractEventName,
  getAbiItem,
  type Hex,
  keccak256,
  toEventSelector,
  toHex,
} from "viem";
import { deliveryAbi, depositFactoryAbi, treasuryAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { assert } from "../../core/assert.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../../core/hex.ts";
import type { Call, GovernanceChange, GovernanceLog, GovernedRole } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import { readView } from "./calls.ts";
import type { EvmContracts } from "./contracts.ts";
import { decode } from "./effects.ts";
import { listLogsInRange } from "./log-range.ts";
import type { Rpc } from "./rpc.ts";

/** Requests of one search. */
const REQUESTS_MAX = 40;

/** The roles of `schedule` by their hashes. */
const ROLES: ReadonlyMap<string, GovernedRole> = new Map(
  (["route", "attestor", "threshold", "treasury", "guardian", "settler", "mover"] as const).map(
    (role) => [hashOfRole(role), role],
  ),
);

/** Returns the hash by which a contract names a role. */
export function hashOfRole(role: string): Hex {
  return keccak256(toHex(`sluice.role.${role}`));
}

const GOVERNED_EVENTS = [
  "Sealed",
  "OwnershipTransferStarted",
  "OwnershipTransferred",
  "Scheduled",
  "Cancelled",
  "RoleGranted",
  "RoleRevoked",
  "Paused",
  "Unpaused",
  "RelayerSet",
] as const satisfies readonly ContractEventName<typeof depositFactoryAbi>[];
const CAP_EVENTS = [
  "CapSet",
  "CapRaiseScheduled",
  "CapRaiseCancelled",
] as const satisfies readonly ContractEventName<typeof deliveryAbi>[];

const TREASURY_EVENTS = [
  "DirectionSet",
  "DirectionScheduled",
  "DirectionCancelled",
  "WithdrawalScheduled",
  "WithdrawalCancelled",
  "Withdrawn",
] as const satisfies readonly ContractEventName<typeof treasuryAbi>[];

const TOPICS = [
  ...GOVERNED_EVENTS.map((name) => toEventSelector(getAbiItem({ abi: depositFactoryAbi, name }))),
  ...CAP_EVENTS.map((name) => toEventSelector(getAbiItem({ abi: deliveryAbi, name }))),
  ...TREASURY_EVENTS.map((name) => toEventSelector(getAbiItem({ abi: treasuryAbi, name }))),
];

/** Returns the reader of the changes of a chain's contracts. */
export function createGovernanceLog(
  rpc: Rpc,
  { factory, delivery, treasury }: Pick<EvmContracts, "factory" | "delivery" | "treasury">,
): GovernanceLog {
  const governed = [factory, delivery, ...(treasury === undefined ? [] : [treasury])];
  return {
    async getDelay() {
      const delays = await Promise.all(governed.map((at) => getDelay(rpc, at)));
      return delays.reduce((longest, one) => (one > longest ? one : longest));
    },
    async listChanges({ from, to, routes }) {
      const address = [...new Set([...governed, ...routes.map(toEvmAddress)])];
      const logs: LogAnswer[] = [];
      let next = from;
      for (let requests = 0; next <= to; requests += 1) {
        if (requests === REQUESTS_MAX) throw rpc.unavailable("too many blocks for one search");
        const query = { from: next, to, address, topics: [TOPICS] };
        const found = await listLogsInRange(rpc, query, rpc.searchRange);
        logs.push(...found.logs);
        next = found.through + 1n;
      }
      return toChanges(logs, { governed, treasury });
    },
  };
}

function getDelay(rpc: Rpc, contract: EvmAddress): Promise<bigint> {
  const call = { abi: depositFactoryAbi, functionName: "delay" } as const;
  return readView(rpc, { to: contract, data: encodeFunctionData(call), at: "latest" }, (returned) =>
    decodeFunctionResult({ ...call, data: returned }),
  );
}

/** Decodes the changes. Of contracts that are not governed, which are routes, only daily caps count. */
function toChanges(
  logs: readonly LogAnswer[],
  contracts: GovernedContracts,
): readonly GovernanceChange[] {
  const decoded = logs.map((log) => ({ log, event: decodeChange(log, contracts) }));
  const placeOf = ({ address, txHash }: LogAnswer) => `${address}:${txHash}`;
  const deployments = new Set(
    decoded.flatMap(({ log, event }) => (event === "deployment" ? placeOf(log) : [])),
  );
  return decoded.flatMap(({ log, event }) => {
    if (event === null || event === "deployment") return [];
    const { address: contract, blockNumber, logIndex, txHash } = log;
    const atDeployment = deployments.has(placeOf(log));
    return [
      {
        token: null,
        perDay: null,
        readyAt: null,
        ...event,
        contract,
        atDeployment,
        blockNumber,
        logIndex,
        txHash,
      },
    ];
  });
}

/** The fields of a change that its event states. */
type Stated = Pick<GovernanceChange, "role" | "subject" | "step"> &
  Partial<Pick<GovernanceChange, "token" | "perDay" | "readyAt">>;

interface GovernedContracts {
  readonly governed: readonly EvmAddress[];
  readonly treasury: EvmAddress | undefined;
}

/** Decodes a log; `deployment` marks the transaction that created or sealed a contract, null is no change. */
function decodeChange(
  log: LogAnswer,
  { governed, treasury }: GovernedContracts,
): Stated | "deployment" | null {
  const isGoverned = governed.includes(log.address);
  const stated = isGoverned ? decodeGoverned(log) : null;
  return stated ?? (log.address === treasury ? decodeTreasury(log) : decodeCap(log));
}

function decodeGoverned(log: LogAnswer): Stated | "deployment" | null {
  const event = decode(depositFactoryAbi, log);
  switch (event?.eventName) {
    case "Sealed":
      return "deployment";
    case "OwnershipTransferred": {
      if (event.args.previousOwner === NATIVE_TOKEN) return "deployment";
      return { role: "owner", subject: toEvmAddress(event.args.owner), step: "in_force" };
    }
    case "OwnershipTransferStarted": {
      const subject = toEvmAddress(event.args.pendingOwner);
      const step = subject === NATIVE_TOKEN ? "cancelled" : "scheduled";
      return { role: "owner", subject, step };
    }
    case "Scheduled": {
      const { role, who, eta } = event.args;
      return ofRole(role, who, "scheduled", { readyAt: eta });
    }
    case "Cancelled":
      return ofRole(event.args.role, event.args.who, "cancelled");
    case "RoleGranted":
      return ofRole(event.args.role, event.args.who, "in_force");
    case "RoleRevoked":
      return ofRole(event.args.role, event.args.who, "removed");
    case "RelayerSet": {
      const { relayer, on } = event.args;
      const step = on ? "in_force" : "removed";
      return { role: "relayer", subject: toEvmAddress(relayer), step };
    }
    case "Paused":
      return { role: "pause", subject: NATIVE_TOKEN, step: "in_force" };
    case "Unpaused":
      return { role: "pause", subject: NATIVE_TOKEN, step: "removed" };
    default:
      return null;
  }
}

function decodeCap(log: LogAnswer): Stated | null {
  const event = decode(deliveryAbi, log);
  switch (event?.eventName) {
    case "CapSet": {
      const { token, perDay } = event.args;
      return { role: "daily_cap", subject: toEvmAddress(token), step: "in_force", perDay };
    }
    case "CapRaiseScheduled": {
      const { token, perDay, eta: readyAt } = event.args;
      const subject = toEvmAddress(token);
      return { role: "daily_cap", subject, step: "scheduled", perDay, readyAt };
    }
    case "CapRaiseCancelled":
      return { role: "daily_cap", subject: toEvmAddress(event.args.token), step: "cancelled" };
    default:
      return null;
  }
}

function decodeTreasury(log: LogAnswer): Stated | null {
  const event = decode(treasuryAbi, log);
  switch (event?.eventName) {
    case "DirectionSet":
      return { ...directionOf(event.args), step: "in_force", perDay: event.args.perDay };
    case "DirectionScheduled": {
      const { perDay, eta: readyAt } = event.args;
      return { ...directionOf(event.args), step: "scheduled", perDay, readyAt };
    }
    case "DirectionCancelled":
      return { ...directionOf(event.args), step: "cancelled" };
    case "WithdrawalScheduled": {
      const { token, amount: perDay, eta: readyAt } = event.args;
      const subject = toEvmAddress(token);
      return { role: "withdrawal", subject, step: "scheduled", perDay, readyAt };
    }
    case "WithdrawalCancelled":
      return { role: "withdrawal", subject: toEvmAddress(event.args.token), step: "cancelled" };
    case "Withdrawn": {
      const { token, amount: perDay } = event.args;
      return { role: "withdrawal", subject: toEvmAddress(token), step: "in_force", perDay };
    }
    default:
      return null;
  }
}

function directionOf({ token, to }: { readonly token: Hex; readonly to: Hex }) {
  return { role: "direction", subject: toEvmAddress(to), token: toEvmAddress(token) } as const;
}

/** Throws for a role that this build does not know: the contract is then another one. */
function ofRole(
  hash: Hex,
  who: Hex,
  step: GovernanceChange["step"],
  more: Pick<Stated, "readyAt"> = {},
): Stated {
  const role = ROLES.get(hash);
  if (role === undefined) throw new TypeError(`unknown role ${hash}`);
  return { role, subject: toEvmAddress(who), step, ...more };
}

/** A call that withdraws a change, and who can make it. */
export interface Withdrawal {
  readonly call: Call;
  readonly by: "owner" | "owner or guardian";
}

/**
 * Builds the call that cancels a scheduled change or removes what is in force. Null if neither is possible: the holder of a
 * role with one holder is only replaced.
 */
export function buildWithdrawal({
  contract,
  role,
  subject,
  token,
  step,
}: Pick<GovernanceChange, "contract" | "role" | "subject" | "token" | "step">): Withdrawal | null {
  const callOf = (data: Hex): Call => ({ to: contract, data, value: 0n });
  const abi = depositFactoryAbi;
  const who = toEvmAddress(subject);
  const byBoth = (data: Hex): Withdrawal => ({ call: callOf(data), by: "owner or guardian" });
  if (step === "scheduled") {
    switch (role) {
      case "owner": {
        const data = encodeFunctionData({
          abi,
          functionName: "transferOwnership",
          args: [NATIVE_TOKEN],
        });
        return { call: callOf(data), by: "owner" };
      }
      case "daily_cap":
        return byBoth(
          encodeFunctionData({ abi: deliveryAbi, functionName: "cancelCapRaise", args: [who] }),
        );
      case "direction":
        return byBoth(encodeOfDirection("cancelDirection", { token, to: who }));
      case "withdrawal":
        return byBoth(
          encodeFunctionData({ abi: treasuryAbi, functionName: "cancelWithdrawal", args: [who] }),
        );
      default:
        return byBoth(
          encodeFunctionData({ abi, functionName: "cancel", args: [hashOfRole(role), who] }),
        );
    }
  }
  if (step !== "in_force") return null;
  switch (role) {
    case "route":
    case "attestor":
    case "settler":
    case "mover":
      return byBoth(
        encodeFunctionData({ abi, functionName: "remove", args: [hashOfRole(role), who] }),
      );
    case "relayer":
      return byBoth(encodeFunctionData({ abi, functionName: "setRelayer", args: [who, false] }));
    case "direction":
      return byBoth(encodeOfDirection("lowerDirection", { token, to: who }));
    default:
      return null;
  }
}

/** Encodes the owner's call that sets the contact for reports of vulnerabilities. */
export function encodeSecurityContact(contact: string): Hex {
  return encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: "setSecurityContact",
    args: [contact],
  });
}

/** Encodes the call that withdraws a direction of a treasury: one that is scheduled, or one that is in force. */
function encodeOfDirection(
  functionName: "cancelDirection" | "lowerDirection",
  { token, to }: { readonly token: string | null; readonly to: EvmAddress },
): Hex {
  assert(token !== null, "a direction names its token");
  const direction = [toEvmAddress(token), to] as const;
  return functionName === "cancelDirection"
    ? encodeFunctionData({ abi: treasuryAbi, functionName, args: direction })
    : encodeFunctionData({ abi: treasuryAbi, functionName, args: [...direction, 0n] });
}
