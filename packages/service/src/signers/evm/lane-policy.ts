/** The calls that a lane may sign: methods of its purpose, on the contracts of its chain, and no others. */
import { deliveryAbi, depositFactoryAbi, escrowAbi, treasuryAbi } from "@sluice/contracts/abi";
import { type Abi, decodeFunctionData, pad, parseAbi, slice } from "viem";
import { encodeFunctionData } from "../../chains/evm/abi.ts";
import type { Call, Payout } from "../../chains/port/index.ts";
import type { LanePurpose } from "../../config/index.ts";
import { listOrders, toPayout } from "../../chains/evm/calldata.ts";
import { lockOfPayout } from "../../chains/evm/commitment.ts";
import type { EvmAddress } from "../../core/hex.ts";
import type { OrderedPayout } from "../payout-policy.ts";
import { SignerRefusal } from "../refusal.ts";

/** The policy's facts about a lane's chain. */
export interface LaneSurroundings {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly contracts: {
    readonly factory: EvmAddress;
    readonly escrow: EvmAddress;
    readonly delivery: EvmAddress;
    readonly treasury?: EvmAddress | undefined;
  };
  /** Circle's CCTP contracts; undefined where the chain has none. */
  readonly cctp?: { readonly messenger: EvmAddress; readonly transmitter: EvmAddress } | undefined;
  /** Contracts of the routes that start on the chain, in lower case. */
  readonly routes: ReadonlySet<string>;
}

const TARGETS = ["factory", "escrow", "delivery", "treasury", "transmitter"] as const;
type Target = (typeof TARGETS)[number];

/** Methods per purpose. None of them lets the caller choose where money goes. */
const METHODS: Readonly<Record<LanePurpose, Readonly<Partial<Record<Target, readonly string[]>>>>> =
  {
    deploy: { factory: ["deploy", "deployMany"] },
    settle: {
      factory: ["settle", "settleMany", "refundBySignature"],
      escrow: ["claim", "claimMany", "returnToWallet"],
      // The owner listed the accounts that may receive, all of them the operator's.
      treasury: ["move"],
    },
    // Submitting a bridge message mints only to the recipient that Circle's attesters signed.
    deliver: { delivery: ["deliver", "deliverMany"], transmitter: ["receiveMessage"] },
    claim: { escrow: ["claim", "claimMany"] },
  };

/** The called part of Circle's MessageTransmitterV2 (circlefin/evm-cctp-contracts). */
const transmitterAbi = parseAbi([
  "function receiveMessage(bytes message, bytes attestation) returns (bool success)",
]);

/** Byte range of a bridge message's recipient contract (MessageV2.sol). */
const RECIPIENT = [76, 108] as const;

const ABIS: Readonly<Record<Target, Abi>> = {
  factory: depositFactoryAbi,
  escrow: escrowAbi,
  delivery: deliveryAbi,
  treasury: treasuryAbi,
  transmitter: transmitterAbi,
};

/**
 * Creates the check of a lane's calls, which returns the method. Calldata must equal the ABI encoding byte for byte: no
 * other selector, no trailing bytes, no values out of range. Throws `SignerRefusal`.
 */
export function createLanePolicy(
  purpose: LanePurpose,
  surroundings: LaneSurroundings,
): (call: Call) => string {
  const { chainId, contracts, cctp, routes } = surroundings;
  const targets: Readonly<Record<Target, EvmAddress | undefined>> = {
    ...contracts,
    treasury: contracts.treasury,
    transmitter: cctp?.transmitter,
  };

  function checkRoutes(jobs: readonly { readonly route: string }[]): void {
    for (const { route } of jobs) {
      if (!routes.has(route.toLowerCase())) {
        throw new SignerRefusal(`route ${route} is not configured for chain ${chainId}`);
      }
    }
  }

  return ({ to, data }) => {
    const target = TARGETS.find((name) => targets[name] === to);
    const allowed = target && METHODS[purpose][target];
    if (!allowed) throw new SignerRefusal(`call to ${to} from a lane that may only ${purpose}`);
    const abi = ABIS[target];
    const method = readMethod(abi, data);
    if (!allowed.includes(method)) {
      throw new SignerRefusal(`method ${method} of ${target} from a lane that may only ${purpose}`);
    }
    if (target === "factory") {
      const call = decodeFunctionData({ abi: depositFactoryAbi, data });
      if (call.functionName === "settle") checkRoutes([call.args[0]]);
      if (call.functionName === "settleMany") checkRoutes(call.args[0]);
    }
    if (target === "delivery") {
      for (const { c } of listOrders(data)) {
        if (c.destChain === chainId) continue;
        throw new SignerRefusal(`delivery to chain ${c.destChain} on chain ${chainId}`);
      }
    }
    if (target === "transmitter") {
      const { args } = decodeFunctionData({ abi: transmitterAbi, data });
      const recipient =
        args[0].length >= 2 + 2 * RECIPIENT[1] ? slice(args[0], ...RECIPIENT) : "0x";
      if (!cctp || recipient !== pad(cctp.messenger)) {
        throw new SignerRefusal(
          `bridge message for ${recipient}, which is not the configured messenger`,
        );
      }
    }
    return method;
  };
}

/** Returns the payouts that a call to `Delivery` orders; none for any other call that the policy allows. */
export function listPayouts(
  { to, data }: Call,
  { delivery }: Pick<LaneSurroundings["contracts"], "delivery">,
): readonly OrderedPayout[] {
  if (to !== delivery) return [];
  return listOrders(data).map((order) => toOrderedPayout(delivery, toPayout(order)));
}

/** Returns a payout as the policy checks it. */
function toOrderedPayout(delivery: EvmAddress, payout: Payout): OrderedPayout {
  const { commitment, windowStart, amount } = payout;
  return { commitment, windowStart, amount, lock: lockOfPayout(delivery, payout) };
}

/** Returns the name of the method whose encoding equals the calldata. */
function readMethod(abi: Abi, data: Call["data"]): string {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data });
    if (encodeFunctionData({ abi, functionName, args }) === data.toLowerCase()) return functionName;
  } catch {
    // Not in the ABI: refused below, without repeating the bytes in the message.
  }
  throw new SignerRefusal("calldata is not the encoding of any method of the contract");
}
