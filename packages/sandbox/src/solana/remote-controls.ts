/** Calls the controls of a chain in another process. */
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
    const body = asRecord(await response.json());
    const error = asRecord(body?.["error"]);
    if (error) throw new Error(`${name}: ${String(error["message"])}`);
    return body?.["result"];
  };
  const run = async (name: keyof SolanaControls, argument?: unknown): Promise<void> => {
    await call(name, argument);
  };
  return {
    tick: async (blocks = 1) => toSlot(await call("tick", blocks)),
    skipSlots: (slots) => run("skipSlots", slots),
    fork: async (request) => toSlots(await call("fork", request)),
    dropNextSends: (count) => run("dropNextSends", count),
    rateLimitNext: (count) => run("rateLimitNext", count),
    failNext: (request) => run("failNext", request),
    clearFaults: () => run("clearFaults"),
    pause: () => run("pause"),
    resume: () => run("resume"),
    setLags: (lags) => run("setLags", lags),
    setRent: (lamportsPerByte) => run("setRent", lamportsPerByte),
    airdrop: async (request) => toText(await call("airdrop", request)),
    mintTo: async (request) => toText(await call("mintTo", request)),
    createMint: async (request): Promise<Address> =>
      address(toText(await call("createMint", request))),
  };
}

function toSlot(value: unknown): bigint {
  if (typeof value !== "number") throw new Error(`expected a slot, got ${JSON.stringify(value)}`);
  return BigInt(value);
}

function toSlots(value: unknown): readonly bigint[] {
  if (!Array.isArray(value))
    throw new Error(`expected a list of slots, got ${JSON.stringify(value)}`);
  return value.map(toSlot);
}

function toText(value: unknown): string {
  if (typeof value !== "string") throw new Error(`expected a string, got ${JSON.stringify(value)}`);
  return value;
}
