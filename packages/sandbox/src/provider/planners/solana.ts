/** Calls of Solana as answered by a replica that is some slots behind. */
import { asRecord } from "../../json-file.ts";
import type { Call } from "../json-rpc.ts";
import { type Plan, type Planner, refuse } from "./plan.ts";
import { profileOf } from "../profiles.ts";
import type { ProviderSettings } from "../settings.ts";
import type { Upstream } from "../upstream.ts";

export function createSolanaPlanner(upstream: Upstream, settings: () => ProviderSettings): Planner {
  /** Returns the replica's newest slot at the commitment level of a call. */
  async function headOf(call: Call, lag: number): Promise<number> {
    const config = call.params.map(asRecord).find((param) => param !== undefined);
    const commitment = config?.["commitment"];
    const slot = await upstream.ask("getSlot", commitment === undefined ? [] : [{ commitment }]);
    return (typeof slot === "number" ? slot : 0) - lag;
  }

  async function planBlock(call: Call, lag: number): Promise<Plan> {
    const [slot] = call.params;
    if (typeof slot !== "number" || slot <= (await headOf(call, lag))) {
      return { kind: "forward", call };
    }
    return refuse(profileOf(settings().profile).words.unknownBlock, { slot });
  }

  return {
    plan: async (call, lag) => {
      if (lag === 0) return { kind: "forward", call };
      switch (call.method) {
        case "getBlock":
        case "getBlockTime":
          return planBlock(call, lag);
        case "getSlot":
        case "getBlockHeight":
          return { kind: "forward", call, check: (body) => subtract(body, lag) };
        case "getBlocks":
        case "getBlocksWithLimit": {
          const head = await headOf(call, lag);
          return { kind: "forward", call, check: (body) => keepUpTo(body, head) };
        }
        default:
          return { kind: "forward", call };
      }
    },
  };
}

function resultOf(body: Buffer): unknown {
  return asRecord(JSON.parse(body.toString("utf8")))?.["result"];
}

function subtract(body: Buffer, lag: number) {
  const result = resultOf(body);
  if (typeof result !== "number") return undefined;
  return { kind: "answer", result: Math.max(0, result - lag) } as const;
}

function keepUpTo(body: Buffer, head: number) {
  const result = resultOf(body);
  if (!Array.isArray(result)) return undefined;
  return { kind: "answer", result: result.filter((slot) => slot <= head) } as const;
}
