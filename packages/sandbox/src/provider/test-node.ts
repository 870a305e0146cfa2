/** A node and a client for the provider's tests. */
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach } from "vitest";
import { asRecord } from "../json-file.ts";
import { type Provider, startProvider } from "./provider.ts";
import type { ProviderOptions } from "./settings.ts";

/** Returns a quantity. */
export const hex = (value: number) => `0x${value.toString(16)}`;
/** Returns the hash of a block of the test node. */
export const hashOf = (number: number) => `0x${number.toString(16).padStart(64, "a")}`;

/** A call as the node sees it. */
export interface TestCall {
  readonly id?: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Starts a node with 100 blocks; a range has one log per block. */
export async function startTestNode() {
  const seen: TestCall[] = [];
  const node = { head: 100, final: 90, seen };
  const blockOf = (number: number) => ({
    number: hex(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: hex(number),
    transactions: [],
  });
  const numberOf = (tag: unknown) =>
    tag === "latest" ? node.head : tag === "finalized" ? node.final : Number(tag);
  const answer = ({ method, params = [] }: TestCall): unknown => {
    const [first] = params;
    if (method === "eth_blockNumber") return hex(node.head);
    if (method === "eth_getBlockByNumber") {
      const number = numberOf(first);
      return number > node.head ? null : blockOf(number);
    }
    if (method === "eth_getBlockByHash") {
      const number = Number.parseInt(String(first).replace(/^0xa+/, ""), 16);
      return hashOf(number) === first && number <= node.head ? blockOf(number) : null;
    }
    if (method === "eth_getLogs") {
      const { fromBlock, toBlock, blockHash } = asRecord(first) ?? {};
      if (blockHash !== undefined) return [{ logIndex: "0x0", blockHash }];
      const from = numberOf(fromBlock);
      return Array.from({ length: numberOf(toBlock) - from + 1 }, (_, index) => ({
        logIndex: "0x0",
        blockNumber: hex(from + index),
      }));
    }
    return { method, params };
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const call: TestCall & { id: number } = JSON.parse(body);
      node.seen.push(call);
      response.end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result: answer(call) }));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { node, close, url: `http://127.0.0.1:${port}` };
}

/** Returns the list of functions that are called after each test, the last one first. */
export function useClosing(): (() => Promise<unknown>)[] {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  return closing;
}

/** Returns `start`, for a node with a provider in front of it, both closed after each test. */
export function useProviders() {
  const closing = useClosing();
  const start = async (options: Omit<ProviderOptions, "upstream"> = {}) => {
    const started = await startBehindProvider(options);
    closing.push(started.close);
    return started;
  };
  return { start, closing };
}

async function startBehindProvider(options: Omit<ProviderOptions, "upstream">) {
  const { url, node, close } = await startTestNode();
  const provider = await startProvider({ upstream: url, ...options });
  return {
    provider,
    node,
    close: async () => {
      await provider.close();
      close();
    },
  };
}

/** Sends a body and returns the response. */
export async function post(
  provider: Provider,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const response = await fetch(provider.url, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** Sends one call and returns its result or error. */
export async function ask(provider: Provider, method: string, params: readonly unknown[] = []) {
  const { status, text } = await post(provider, { jsonrpc: "2.0", id: 7, method, params });
  const { result, error } = JSON.parse(text);
  return { status, result, error };
}
