import { getEventListeners } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";
import { createSluiceClient, type SluiceClientOptions } from "./rest-client.ts";

const KEY = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: IncomingMessage["headers"][string];
  readonly body: string;
}

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

let server: Server | undefined;

afterEach(async () => {
  const closing = server;
  server = undefined;
  if (!closing) return;
  closing.closeAllConnections();
  await new Promise((resolve) => closing.close(resolve));
});

/** Starts a server that returns the answers in order, and a client for it under the path `/base`. */
async function serve(answers: readonly Answer[], options: Partial<SluiceClientOptions> = {}) {
  const seen: Seen[] = [];
  const left = [...answers];
  const started = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString();
    seen.push({
      method: request.method,
      url: request.url,
      key: request.headers["x-api-key"],
      body,
    });
    const answer = left.shift() ?? { status: 500, body: "no answer left" };
    response.writeHead(answer.status ?? 200, answer.headers);
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  const address = started.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  const base = `http://127.0.0.1:${address.port}/base/`;
  const client = createSluiceClient({ baseUrl: base, quoteUrl: base, apiKey: KEY, ...options });
  return { client, seen };
}

function event(id: number) {
  return {
    id: `0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c0${id}`,
    type: "deposit_detected",
    data: { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2", queued: true },
    timestamp: stamp(id),
  };
}

function stamp(second: number): string {
  return `2026-01-31T12:00:0${second}.000Z`;
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("requests", () => {
  test("send the key as a header and the query as given", async () => {
    const { client, seen } = await serve([{ body: { items: [], nextCursor: null } }]);
    const page = await client.listSwaps({ limit: 5, cursor: stamp(1) });
    expect(page).toEqual({ items: [], nextCursor: null });
    expect(seen).toEqual([
      {
        method: "GET",
        url: "/base/swaps?limit=5&cursor=2026-01-31T12%3A00%3A01.000Z",
        key: KEY,
        body: "",
      },
    ]);
  });

  test("for a quote send the key in the query and a JSON body", async () => {
    const { client, seen } = await serve([
      { status: 201, body: { quotes: [], minimumSdkVersion: [7, 0, 0] } },
    ]);
    const request = { fromChain: "base", fromToken: "a", toChain: "base", toToken: "b" };
    expect((await client.quote(request)).minimumSdkVersion).toEqual([7, 0, 0]);
    expect(seen).toMatchObject([
      { method: "POST", url: `/base/v3/quote?apiKey=${KEY}`, body: JSON.stringify(request) },
    ]);
  });

  test("for one deposit address put its id, encoded, in the path", async () => {
    const word = `0x${"1".repeat(64)}`;
    const address = `0x${"1".repeat(40)}`;
    const answer = {
      id: KEY,
      walletAddress: address,
      userId: address,
      destChain: "30",
      destWallet: address,
      destToken: address,
      chainType: "evm",
      createdAt: stamp(1),
      label: null,
      metadata: {},
      payDepositCommitment: {
        version: 1,
        walletKind: 1,
        integrator: word,
        userId: word,
        destChain: 30,
        destWallet: word,
        destToken: word,
        refundAuthority: word,
        maxFeeBps: 50,
        maxSlippageBps: 100,
        factory: address,
        implementation: address,
        commitment: word,
      },
    };
    const { client, seen } = await serve([{ body: answer }, { body: { ...answer, id: "x" } }]);
    expect(await client.getDepositAddress(KEY)).toEqual(answer);
    expect(await failureOf(client.getDepositAddress("a/b"))).toBeInstanceOf(SluiceResponseError);
    expect(seen.map(({ url }) => url)).toEqual([
      `/base/deposit-addresses/${KEY}`,
      "/base/deposit-addresses/a%2Fb",
    ]);
  });

  test("that queue a settlement use POST", async () => {
    const body = { walletAddress: "0x1", tokenAddress: "native", chain: 30 };
    const answer = {
      chainId: 30,
      walletAddress: "0x1",
      tokenAddress: "native",
      queued: false,
      queueItemId: null,
      reason: "below_min",
    };
    const { client, seen } = await serve([{ body: answer }]);
    expect(await client.requestIndex(body)).toEqual(answer);
    expect(seen).toMatchObject([{ method: "POST", url: "/base/request-index" }]);
  });

  test("read the public lists", async () => {
    const chain = { chainId: 30, name: "base", explorerTxUrl: "https://x/tx/", kind: "evm" };
    const { client, seen } = await serve([{ body: [chain] }, { body: { chains: [] } }]);
    expect(await client.chains()).toEqual([chain]);
    expect(await client.sourceConfig()).toEqual({ chains: [] });
    expect(seen.map((one) => one.url)).toEqual(["/base/chains", "/base/source-config"]);
  });
});

describe("pages", () => {
  test("are read until the cursor is null, oldest event first", async () => {
    const { client, seen } = await serve([
      { body: { items: [event(1), event(2)], nextCursor: stamp(2) } },
      { body: { items: [event(3)], nextCursor: null } },
    ]);
    const stamps: string[] = [];
    for await (const item of client.iterateEvents({ limit: 2 })) stamps.push(item.timestamp);
    expect(stamps).toEqual([stamp(1), stamp(2), stamp(3)]);
    expect(seen.map((one) => one.url)).toEqual([
      "/base/events?limit=2",
      `/base/events?limit=2&since=${encodeURIComponent(stamp(2))}`,
    ]);
  });

  test("of lists pass nextCursor as cursor", async () => {
    const { client, seen } = await serve([
      { body: { items: [], nextCursor: stamp(2) } },
      { body: { items: [], nextCursor: null } },
    ]);
    for await (const item of client.iterateDepositAddresses()) expect(item).toBeUndefined();
    expect(seen[1]?.url).toBe(`/base/deposit-addresses?cursor=${encodeURIComponent(stamp(2))}`);
  });

  test("throw SluiceResponseError when the cursor does not advance", async () => {
    const page = { body: { items: [event(1)], nextCursor: stamp(1) } };
    const { client, seen } = await serve([page, page, page]);
    const walk = async () => {
      for await (const item of client.iterateEvents()) expect(item.timestamp).toBe(stamp(1));
    };
    expect(await failureOf(walk())).toBeInstanceOf(SluiceResponseError);
    expect(seen).toHaveLength(2);
  });
});

describe("failed requests", () => {
  test("with an error object throw SluiceApiError with all of its fields", async () => {
    const error = {
      code: "RPC_UNAVAILABLE",
      message: "Too many requests.",
      retryable: true,
      details: { reason: "rate_limited" },
    };
    const { client } = await serve([{ status: 429, body: { error } }]);
    const failure = await failureOf(client.listSwaps());
    expect(failure).toBeInstanceOf(SluiceApiError);
    expect(failure).toMatchObject({ ...error, status: 429 });
  });

  describe("with Retry-After", () => {
    const error = { code: "RPC_UNAVAILABLE", message: "Too many requests.", retryable: true };
    const refused = (seconds: string, retryable = true): Answer => ({
      status: 429,
      headers: { "retry-after": seconds },
      body: { error: { ...error, retryable } },
    });

    test("are repeated with the same body until they are served", async () => {
      const body = { walletAddress: "0x1", chain: 30, tokenAddress: "0x2" };
      const echo = { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2" };
      const { client, seen } = await serve([
        refused("0"),
        refused("0"),
        { body: { ...echo, queued: true, queueItemId: KEY, reason: null } },
      ]);
      await client.requestIndex(body);
      const sent = { method: "POST", body: JSON.stringify(body) };
      expect(seen).toMatchObject([sent, sent, sent]);
    });

    test("are repeated no sooner than asked", async () => {
      const { client } = await serve([refused("1"), { body: { items: [], nextCursor: null } }]);
      const startedMs = Date.now();
      await client.listSwaps();
      expect(Date.now() - startedMs).toBeGreaterThanOrEqual(1_000);
    });

    test.each([
      ["it is after the timeout", refused("60")],
      ["it is a date", refused("Wed, 21 Oct 2026 07:28:00 GMT")],
      ["the error is not retryable", refused("0", false)],
    ])("throw SluiceApiError if %s", async (_case, answer) => {
      const { client, seen } = await serve([answer], { timeoutMs: 59_000 });
      const failure = await failureOf(client.listSwaps());
      expect(failure).toBeInstanceOf(SluiceApiError);
      expect(failure).toMatchObject({ code: "RPC_UNAVAILABLE", status: 429 });
      expect(seen).toHaveLength(1);
    });

    test("throw the reason of a signal that aborts while they wait", async () => {
      const controller = new AbortController();
      const { client, seen } = await serve([refused("20")]);
      const failing = failureOf(client.listSwaps({}, { signal: controller.signal }));
      while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const reason = new Error("enough");
      setTimeout(() => controller.abort(reason), 50);
      expect(await failing).toBe(reason);
      expect(seen).toHaveLength(1);
      expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    });
  });

  test.each([
    [502, "<html>bad gateway</html>", true],
    [404, "{}", false],
  ])(
    "without an error object throw SluiceResponseError with status %d",
    async (status, body, retryable) => {
      const { client } = await serve([{ status, body }]);
      const failure = await failureOf(client.listSwaps());
      expect(failure).toBeInstanceOf(SluiceResponseError);
      expect(failure).toMatchObject({ source: "GET /swaps", status, retryable });
    },
  );

  test.each([
    ["text that is not JSON", "hello"],
    ["a missing field", { items: [] }],
    ["an invalid item", { items: [{ id: 1 }], nextCursor: null }],
  ])("throw SluiceResponseError for %s", async (_case, body) => {
    const { client } = await serve([{ body }]);
    const failure = await failureOf(client.listSwaps());
    expect(failure).toBeInstanceOf(SluiceResponseError);
    expect(failure).toMatchObject({ status: 200, retryable: false });
  });

  test("never contain the key in the error", async () => {
    const { client } = await serve([{ status: 500, body: "" }]);
    const request = { fromChain: "base", fromToken: "a", toChain: "base", toToken: "b" };
    expect(String(await failureOf(client.quote(request)))).not.toContain(KEY);
  });

  test("include redirects, which would send the key to another host", async () => {
    const { client, seen } = await serve([
      { status: 302, headers: { location: "/elsewhere" }, body: "" },
    ]);
    expect(await failureOf(client.listSwaps())).toBeInstanceOf(TypeError);
    expect(seen).toHaveLength(1);
  });

  test("throw the reason of an aborted signal, also between two pages", async () => {
    const controller = new AbortController();
    const { client, seen } = await serve([
      { body: { items: [event(1)], nextCursor: stamp(1) } },
      { body: { items: [event(2)], nextCursor: null } },
    ]);
    const walk = async () => {
      for await (const item of client.iterateEvents({}, { signal: controller.signal })) {
        expect(item.timestamp).toBe(stamp(1));
        controller.abort(new Error("enough"));
      }
    };
    expect(await failureOf(walk())).toEqual(new Error("enough"));
    expect(seen).toHaveLength(1);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("throw TimeoutError when the server does not respond in time", async () => {
    const stalling: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        const signal = init?.signal;
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    const { client } = await serve([], { fetch: stalling, timeoutMs: 5 });
    expect(await failureOf(client.listSwaps())).toMatchObject({ name: "TimeoutError" });
  });
});
