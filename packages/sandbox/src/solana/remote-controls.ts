/** The controls of a chain that runs in a process of its own. */
import { type Address, address } from "@solana/kit";
import { asRecord } from "../json-file.ts";
import { CONTROL_PREFIX, type SolanaControls } from "./controls.ts";

/** Connects to the controls of a chain. */
export function connectSolanaControls(rpcUrl: string): SolanaControls {
  const call = async (name: keyof SolanaControls, argument?: unknown): Promise<unknown> => {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(
        { jsonrpc: "2.0", id: 1, method: `${CONTROL_PREFIX}${name}`, params: [argument] },
        (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part),
      ),
    });
    const answer = asRecord(await response.json());
    const error = asRecord(answer?.["error"]);
    if (error) throw new Error(`${name}: ${String(error["message"])}`);
    return answer?.["result"];
  };
  const order = async (name: keyof SolanaControls, argument?: unknown): Promise<void> => {
    await call(name, argument);
  };
  return {
    tick: async (blocks = 1) => toSlot(await call("tick", blocks)),
    skipSlots: (slots) => order("skipSlots", slots),
    fork: async (request) => toSlots(await call("fork", request)),
    dropNextSends: (count) => order("dropNextSends", count),
    rateLimitNext: (count) => order("rateLimitNext", count),
    failNext: (request) => order("failNext", request),
    clearFaults: () => order("clearFaults"),
    pause: () => order("pause"),
    resume: () => order("resume"),
    setLags: (lags) => order("setLags", lags),
    setRent: (lamportsPerByte) => order("setRent", lamportsPerByte),
    airdrop: async (request) => toText(await call("airdrop", request)),
    mintTo: async (request) => toText(await call("mintTo", request)),
    createMint: async (request): Promise<Address> =>
      address(toText(await call("createMint", request))),
  };
}

function toSlot(value: unknown): bigint {
  if (typeof value !== "number") throw new Error("the chain did not answer with a slot");
  return BigInt(value);
}

function toSlots(value: unknown): readonly bigint[] {
  if (!Array.isArray(value)) throw new Error("the chain did not answer with slots");
  return value.map(toSlot);
}

function toText(value: unknown): string {
  if (typeof value !== "string") throw new Error("the chain did not answer with a text");
  return value;
}
