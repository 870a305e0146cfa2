/** Which calls a lane may sign: those of its purpose, to the contracts of its chain, and nothing beside them. */
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type Abi, decodeFunctionData, encodeFunctionData, pad, parseAbi, slice } from "viem";
import type { Call } from "../../chains/port/index.ts";
import type { LanePurpose } from "../../config/index.ts";
import type { EvmAddress } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";

/** What the policy knows of a lane's chain. */
export interface LaneSurroundings {
  /** Bridge chain id. */
  readonly chainId: number;
  readonly contracts: {
    readonly factory: EvmAddress;
    readonly escrow: EvmAddress;
    readonly delivery: EvmAddress;
  };
  /** Circle's contracts, where the chain has them. */
  readonly cctp?: { readonly messenger: EvmAddress; readonly transmitter: EvmAddress } | undefined;
  /** Contracts of the routes that start there, in lower case. */
  readonly routes: ReadonlySet<string>;
}

type Target = "factory" | "escrow" | "delivery" | "transmitter";

/** Methods per purpose. Whatever moves money to a place of the caller's choice does not exist in these contracts. */
const METHODS: Readonly<Record<LanePurpose, Readonly<Partial<Record<Target, readonly string[]>>>>> =
  {
    deploy: { factory: ["deploy", "deployMany"] },
    settle: {
      factory: ["settle", "settleMany", "refundBySignature"],
      escrow: ["claim", "returnToWallet"],
    },
    // Handing a message in moves nothing that its attesters did not already send.
    deliver: { delivery: ["deliver"], transmitter: ["receiveMessage"] },
  };

/** Circle's MessageTransmitterV2 (circlefin/evm-cctp-contracts), as much of it as is called. */
const transmitterAbi = parseAbi([
  "function receiveMessage(bytes message, bytes attestation) returns (bool success)",
]);

/** Where a message names the contract that it is for (MessageV2.sol), in bytes. */
const RECIPIENT = [76, 108] as const;

const ABIS: Readonly<Record<Target, Abi>> = {
  factory: depositFactoryAbi,
  escrow: escrowAbi,
  delivery: deliveryAbi,
  transmitter: transmitterAbi,
};

/**
 * The method that a call invokes. Its data must be exactly what the contract's interface encodes to: no other selector,
 * no bytes behind, no values out of range. Throws `SignerRefusal`.
 */
export function createLanePolicy(
  purpose: LanePurpose,
  surroundings: LaneSurroundings,
): (call: Call) => string {
  const { chainId, contracts, cctp, routes } = surroundings;
  const targets: Readonly<Partial<Record<Target, EvmAddress>>> = {
    ...contracts,
    ...(cctp && { transmitter: cctp.transmitter }),
  };

  function checkRoutes(jobs: readonly { readonly route: string }[]): void {
    for (const { route } of jobs) {
      if (!routes.has(route.toLowerCase())) {
        throw new SignerRefusal(`the route ${route}, which is not configured for chain ${chainId}`);
      }
    }
  }

  return ({ to, data }) => {
    const target = (["factory", "escrow", "delivery", "transmitter"] as const).find(
      (name) => targets[name] === to,
    );
    const allowed = target && METHODS[purpose][target];
    if (!allowed) throw new SignerRefusal(`a call to ${to} from a lane that may only ${purpose}`);
    const abi = ABIS[target];
    const method = readMethod(abi, data);
    if (!allowed.includes(method)) {
      throw new SignerRefusal(
        `the method ${method} of ${target} from a lane that may only ${purpose}`,
      );
    }
    if (target === "factory") {
      const call = decodeFunctionData({ abi: depositFactoryAbi, data });
      if (call.functionName === "settle") checkRoutes([call.args[0]]);
      if (call.functionName === "settleMany") checkRoutes(call.args[0]);
    }
    if (target === "delivery") {
      const call = decodeFunctionData({ abi: deliveryAbi, data });
      if (call.functionName === "deliver" && call.args[0].c.destChain !== chainId) {
        throw new SignerRefusal(`a delivery to chain ${call.args[0].c.destChain} on ${chainId}`);
      }
    }
    if (target === "transmitter") {
      const { args } = decodeFunctionData({ abi: transmitterAbi, data });
      const recipient =
        args[0].length >= 2 + 2 * RECIPIENT[1] ? slice(args[0], ...RECIPIENT) : "0x";
      if (!cctp || recipient !== pad(cctp.messenger)) {
        throw new SignerRefusal(`a message for ${recipient}, which is not the messenger`);
      }
    }
    return method;
  };
}

/** The name of the method whose encoding the data are, to the byte. */
function readMethod(abi: Abi, data: Call["data"]): string {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data });
    if (encodeFunctionData({ abi, functionName, args }) === data.toLowerCase()) return functionName;
  } catch {
    // Not of this interface: refused below, without repeating its bytes.
  }
  throw new SignerRefusal("data that no method of the contract encodes to");
}
