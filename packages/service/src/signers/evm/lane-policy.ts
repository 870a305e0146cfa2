/** Which calls a lane may sign: those of its purpose, to the contracts of its chain, and nothing beside them. */
import { deliveryAbi, depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { type Abi, decodeFunctionData, encodeFunctionData } from "viem";
import type { Call } from "../../chains/port.ts";
import type { LanePurpose } from "../../config/load.ts";
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
  /** Contracts of the routes that start there, in lower case. */
  readonly routes: ReadonlySet<string>;
}

/** Methods per purpose. Whatever moves money to a place of the caller's choice does not exist in these contracts. */
const METHODS: Readonly<
  Record<
    LanePurpose,
    Readonly<Partial<Record<"factory" | "escrow" | "delivery", readonly string[]>>>
  >
> = {
  deploy: { factory: ["deploy", "deployMany"] },
  settle: {
    factory: ["settle", "settleMany", "refundBySignature"],
    escrow: ["claim", "returnToWallet"],
  },
  deliver: { delivery: ["deliver"] },
};

const ABIS: Readonly<Record<"factory" | "escrow" | "delivery", Abi>> = {
  factory: depositFactoryAbi,
  escrow: escrowAbi,
  delivery: deliveryAbi,
};

/**
 * The method that a call invokes. Its data must be exactly what the contract's interface encodes to: no other selector,
 * no bytes behind, no values out of range. Throws `SignerRefusal`.
 */
export function createLanePolicy(
  purpose: LanePurpose,
  surroundings: LaneSurroundings,
): (call: Call) => string {
  const { chainId, contracts, routes } = surroundings;

  function checkRoutes(jobs: readonly { readonly route: string }[]): void {
    for (const { route } of jobs) {
      if (!routes.has(route.toLowerCase())) {
        throw new SignerRefusal(`the route ${route}, which is not configured for chain ${chainId}`);
      }
    }
  }

  return ({ to, data }) => {
    const target = (["factory", "escrow", "delivery"] as const).find(
      (name) => contracts[name] === to,
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
