/** A real node behind a proxy that can lag, lie, hang and die. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

/**
 * `behind` lacks the newest blocks, and answers with no logs where it lacks a block, as real nodes do; `inflating` raises
 * heads, finality, transfers and balances, and inverts the status of each transaction; `hiding` answers without logs, and
 * with headers that hide them; `hung` never answers; `dead` closes every connection.
 */
export type Mood = "honest" | "behind" | "inflating" | "hiding" | "hung" | "dead";

export interface FaultyNode {
  /** URL with a credential, which must not appear in any output. */
  readonly rpcUrl: string;
  mood: Mood;
  /** Returns the requests answered since the last call. */
  takeAnswered(): number;
  close(): void;
}

/** A credential in the URL of every faulty node. */
export const NODE_SECRET = "canary-of-a-node-key";

const BEHIND_BLOCKS = 3n;
const BALANCE_OF = "0x70a08231";
const PLENTY = `0x${(10n ** 24n).toString(16).padStart(64, "0")}`;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Listens on 127.0.0.1 in front of a node. */
export async function startFaultyNode(target: string): Promise<FaultyNode> {
  let answered = 0;
  const node = { mood: "honest" as Mood };

  async function forward(method: string, params: readonly unknown[]): Promise<Answer> {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    // CAST: the form of the node's answer.
    const { result, error } = (await response.json()) as Answer;
    return error === undefined ? { result } : { error };
  }

  const asks: Readonly<Record<Exclude<Mood, "hung" | "dead">, Ask>> = {
    honest: ({ method, params }) => forward(method, params),
    behind: (request) => answerBehind(request, forward),
    inflating: (request) => inflate(request, forward),
    hiding: (request) => hide(request, forward),
  };

  async function respond(text: string, response: ServerResponse): Promise<void> {
    const { mood } = node;
    if (mood === "hung") return;
    if (mood === "dead") {
      response.destroy();
      return;
    }
    // CAST: the form of the service's requests.
    const request = JSON.parse(text) as Request;
    const answer = await asks[mood](request).catch(() => null);
    if (answer === null) {
      // The node behind the proxy is gone.
      response.destroy();
      return;
    }
    answered += 1;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: request.id, ...answer }));
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void respond(Buffer.concat(chunks).toString("utf8"), response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return Object.assign(node, {
    rpcUrl: `http://127.0.0.1:${address.port}/v2/${NODE_SECRET}`,
    takeAnswered() {
      const count = answered;
      answered = 0;
      return count;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
}

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}

type Forward = (method: string, params: readonly unknown[]) => Promise<Answer>;
type Ask = (request: Request) => Promise<Answer>;
type Fields = Readonly<Record<string, unknown>>;

/** Returns the fields of an answer or a parameter; none if it is no object. */
const fieldsOf = (value: unknown): Fields => Object(value);
const toHex = (value: bigint) => `0x${(value > 0n ? value : 0n).toString(16)}`;

async function answerBehind({ method, params }: Request, forward: Forward): Promise<Answer> {
  const head = BigInt(String((await forward("eth_blockNumber", [])).result));
  const newest = head - BEHIND_BLOCKS;
  const heightOf = async (point: unknown): Promise<bigint> => {
    if (point === "latest" || point === undefined) return newest;
    if (point === "finalized") {
      const { result } = await forward("eth_getBlockByNumber", ["finalized", false]);
      return BigInt(String(fieldsOf(result).number)) - BEHIND_BLOCKS;
    }
    const { blockHash } = fieldsOf(point);
    if (blockHash === undefined) return BigInt(String(point));
    const { result } = await forward("eth_getBlockByHash", [blockHash, false]);
    // An unknown block is above all known ones.
    return BigInt(String(fieldsOf(result).number ?? head + 1n));
  };
  const unlessNewer = (answer: Answer, name: string): Answer =>
    BigInt(String(fieldsOf(answer.result)[name] ?? 0n)) > newest ? { result: null } : answer;

  switch (method) {
    case "eth_getBlockByNumber": {
      const height = await heightOf(params[0]);
      if (height > newest) return { result: null };
      return forward(method, [toHex(height), params[1]]);
    }
    case "eth_getBlockByHash":
      return unlessNewer(await forward(method, params), "number");
    case "eth_getTransactionReceipt":
      return unlessNewer(await forward(method, params), "blockNumber");
    case "eth_getLogs":
      if ((await heightOf(params[0])) > newest) return { result: [] };
      return forward(method, params);
    case "eth_call":
    case "eth_getBalance":
    case "eth_getCode":
    case "eth_getTransactionCount":
    case "eth_estimateGas": {
      const height = await heightOf(params[1]);
      if (height > newest) return { error: { code: -32001, message: "header not found" } };
      const named = typeof params[1] === "object" ? params[1] : toHex(height);
      return forward(method, [params[0], named]);
    }
    default:
      return forward(method, params);
  }
}

async function inflate({ method, params }: Request, forward: Forward): Promise<Answer> {
  // Reports the newest block as the final one.
  const isFinal = method === "eth_getBlockByNumber" && params[0] === "finalized";
  const truth = await forward(method, isFinal ? ["latest", params[1]] : params);
  const { result } = truth;
  if (result === null || result === undefined) return truth;
  if (method === "eth_getBlockByNumber" && params[0] === "latest") {
    const number = toHex(BigInt(String(fieldsOf(result).number)) + 1_000n);
    return { result: { ...fieldsOf(result), number, hash: `0x${"66".repeat(32)}` } };
  }
  if (method === "eth_getLogs" && Array.isArray(result)) {
    const isAmount = (data: unknown) => String(data).length === 66;
    return {
      result: result.map((log: Fields) => (isAmount(log.data) ? { ...log, data: PLENTY } : log)),
    };
  }
  if (method === "eth_getBalance") return { result: PLENTY.replace(/^0x0+/, "0x") };
  if (method === "eth_call" && String(fieldsOf(params[0]).data).startsWith(BALANCE_OF)) {
    return { result: PLENTY };
  }
  if (method === "eth_getTransactionReceipt") {
    const { status } = fieldsOf(result);
    return { result: { ...fieldsOf(result), status: status === "0x1" ? "0x0" : "0x1" } };
  }
  return truth;
}

async function hide({ method, params }: Request, forward: Forward): Promise<Answer> {
  const truth = await forward(method, params);
  if (method === "eth_getLogs") return { result: [] };
  const { result } = truth;
  if (!method.startsWith("eth_getBlockBy") || result === null || result === undefined) return truth;
  return { result: { ...fieldsOf(result), logsBloom: `0x${"00".repeat(256)}` } };
}
