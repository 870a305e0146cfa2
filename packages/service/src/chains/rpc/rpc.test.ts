/** The client of a node over real HTTP: connections, compression, batches, and answers in every wrong form. */
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  type Answer,
  answerTo,
  echo,
  errorTo,
  type HttpNode,
  startHttpNode,
} from "../../../test/rpc/http-node.ts";
import { createRpc } from "./rpc.ts";
import { type NodeTraffic, UNLIMITED } from "./traffic.ts";

const nodes: HttpNode[] = [];
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()));
});

async function open(answer: Answer, traffic?: NodeTraffic) {
  const node = await startHttpNode(answer);
  nodes.push(node);
  const rpc = createRpc({ chainId: 2, rpcUrl: node.url, timeoutMs: 10_000, traffic });
  return { node, rpc };
}

const ask = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "m", params: [index] }));
const answered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ok: true, result: ["m", index] }));
const unavailable = (reason: string) => ({
  code: "RPC_UNAVAILABLE",
  details: { chainId: 2, reason },
});

describe("a request", () => {
  test("reuses the connections of those before", async () => {
    const { node, rpc } = await open(echo);
    for (let index = 0; index < 20; index++) await rpc.call("m", [index]);
    expect(new Set(node.received.map(({ port }) => port)).size).toBeLessThan(4);
  });

  test("is sent again when the server closed a connection that it had kept alive", async () => {
    let count = 0;
    const { node, rpc } = await open((received) => {
      count += 1;
      return count === 2 ? { body: null, closes: true } : echo(received);
    });
    expect(await rpc.call("m", [1])).toEqual({ ok: true, result: ["m", 1] });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await rpc.call("m", [2])).toEqual({ ok: true, result: ["m", 2] });
    expect(node.received).toHaveLength(3);
  });

  test("is not sent again when the server closes each connection", async () => {
    const { node, rpc } = await open(() => ({ body: null, closes: true }));
    await expect(rpc.call("m", [])).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    expect(node.received).toHaveLength(1);
  });

  test("accepts a compressed answer", async () => {
    const { node, rpc } = await open(({ requests: [sent] }) => ({
      headers: { "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify(sent && answerTo(sent))),
    }));
    expect(await rpc.call("m", [7])).toEqual({ ok: true, result: ["m", 7] });
    expect(node.received[0]?.headers["accept-encoding"]).toContain("gzip");
  });

  test.each([
    ["ends too early", "gzip", gzipSync("{}").subarray(0, -4)],
    ["is not compressed", "gzip", Buffer.from("{}")],
    ["has an encoding that was not asked for", "br", Buffer.from("{}")],
  ])("rejects a compressed answer that %s", async (_, encoding, body) => {
    const { rpc } = await open(() => ({ headers: { "content-encoding": encoding }, body }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable("malformed answer"));
  });

  test("rejects a small answer that unpacks to more than 64 MiB", async () => {
    const { rpc } = await open(() => ({
      headers: { "content-encoding": "gzip" },
      body: gzipSync(Buffer.alloc(65 * 1024 * 1024, " ")),
    }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable("answer too large"));
  });

  test("sends the credentials of the URL as a header", async () => {
    const { node } = await open(echo);
    const rpcUrl = node.url.replace("http://", "http://user:p%40ss@");
    const rpc = createRpc({ chainId: 2, rpcUrl, timeoutMs: 10_000 });
    await rpc.call("m", []);
    const { authorization } = node.received[0]?.headers ?? {};
    expect(authorization).toBe(`Basic ${Buffer.from("user:p@ss").toString("base64")}`);
  });

  test("does not follow a redirect, which could take the URL's key elsewhere", async () => {
    const other = await open(echo);
    const { rpc } = await open(() => ({
      status: 307,
      headers: { location: other.node.url },
      body: "",
    }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable("http 307"));
    expect(other.node.received).toEqual([]);
  });

  test.each([400, 403, 500])("takes the node's own error under HTTP status %d", async (status) => {
    const { rpc } = await open(({ requests: [sent] }) => ({
      status,
      body: errorTo(sent?.id ?? 0, -32602, "too wide", { limit: 1 }),
    }));
    const error = { ok: false, code: -32602, message: "too wide", data: { limit: 1 } };
    expect(await rpc.call("m", [])).toEqual(error);
  });

  test.each([
    [502, "http 502"],
    [404, "http 404"],
    [200, "malformed answer"],
  ])("names the failure of HTML under HTTP status %d", async (status, reason) => {
    const body = "<html><body>Bad gateway</body></html>";
    const { rpc } = await open(() => ({ status, headers: { "content-type": "text/html" }, body }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable(reason));
  });

  test("rejects the result of another request", async () => {
    const { rpc } = await open(({ requests: [sent] }) => ({
      body: { jsonrpc: "2.0", id: (sent?.id ?? 0) + 1, result: "0x1" },
    }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable("malformed answer"));
  });

  test.each([
    [429, "<html>Too many requests</html>"],
    [429, errorTo(1, -32005, "daily request count exceeded, request rate limited")],
    [200, errorTo(1, -32007, "50/second request limit reached - reduce calls per second")],
  ])("reports a refusal for the rate under HTTP status %d", async (status, body) => {
    const { rpc } = await open(() => ({ status, body }));
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable("rate limited"));
  });

  test("does not take a contract's revert text for a refusal of the node", async () => {
    const message = "execution reverted: rate limit exceeded";
    const { rpc } = await open(({ requests: [sent] }) => ({
      body: errorTo(sent?.id ?? 0, 3, message),
    }));
    expect(await rpc.call("eth_call", [])).toMatchObject({ ok: false, code: 3 });
  });
});

describe("a batch", () => {
  test("is one HTTP request, answered in any order", async () => {
    const { node, rpc } = await open(({ requests }) => ({
      body: requests.map(answerTo).toReversed(),
    }));
    expect(await rpc.batch(ask(20))).toEqual(answered(20));
    expect(node.received).toHaveLength(1);
  });

  test("has at most a hundred requests", async () => {
    const { node, rpc } = await open(echo);
    expect(await rpc.batch(ask(250))).toEqual(answered(250));
    expect(node.received.map(({ requests }) => requests.length)).toEqual([100, 100, 50]);
  });

  test("without requests sends nothing", async () => {
    const { node, rpc } = await open(echo);
    expect(await rpc.batch([])).toEqual([]);
    expect(node.received).toEqual([]);
  });

  test("keeps errors of single requests as values", async () => {
    const { rpc } = await open(({ requests }) => ({
      body: requests.map((sent, index) =>
        index === 1 ? errorTo(sent.id, -32000, "header not found") : answerTo(sent),
      ),
    }));
    const [first, second, third] = answered(3);
    const error = { ok: false, code: -32000, message: "header not found", data: undefined };
    expect(await rpc.batch(ask(3))).toEqual([
      first,
      { ...second, ...error, result: undefined },
      third,
    ]);
  });

  test.each<[string, (answers: object[]) => object[]]>([
    ["lacks", (answers) => answers.slice(0, -1)],
    ["doubles", (answers) => [...answers, { ...answers.at(-1), result: "another" }]],
    ["garbles", (answers) => [...answers.slice(0, -1), { ...answers.at(-1), result: undefined }]],
    ["misnumbers", (answers) => [...answers.slice(0, -1), { ...answers.at(-1), id: 99_999 }]],
  ])("that %s an answer asks for it again, alone", async (_what, spoil) => {
    const { node, rpc } = await open(({ isBatch, requests }) => {
      const answers = requests.map(answerTo);
      return { body: isBatch ? spoil(answers) : answers[0] };
    });
    expect(await rpc.batch(ask(4))).toEqual(answered(4));
    expect(node.received.map(({ requests }) => requests.length)).toEqual([4, 1]);
  });

  test("that lacks an answer for good is unavailable", async () => {
    const { rpc } = await open(({ isBatch, requests }) => ({
      body: isBatch ? requests.slice(1).map(answerTo) : "",
    }));
    await expect(rpc.batch(ask(4))).rejects.toMatchObject(unavailable("malformed answer"));
  });

  test.each<[string, (first: number) => ReturnType<typeof errorTo>[] | object, number]>([
    ["one error", () => errorTo(null, -32600, "batch requests are not supported"), 200],
    ["one error under 400", () => errorTo(null, -32600, "invalid request"), 400],
    ["a list of one error", () => [errorTo(null, 31, "batch too large")], 500],
    ["an error to its first request", (first) => [errorTo(first, -32600, "batch too large")], 200],
    ["an empty list", () => [], 200],
    ["HTML", () => "<html>" as never, 413],
  ])(
    "that is refused with %s is sent as parallel requests from then on",
    async (_what, refuse, status) => {
      const { node, rpc } = await open(async (received) => {
        if (received.isBatch) return { status, body: refuse(received.requests[0]?.id ?? 0) };
        await new Promise((resolve) => setTimeout(resolve, 5));
        return echo(received);
      });
      expect(await rpc.batch(ask(40))).toEqual(answered(40));
      const batches = node.received.filter(({ isBatch }) => isBatch).length;
      expect(batches).toBeLessThanOrEqual(6);
      expect(node.atOnceMax).toBeGreaterThan(4);
      expect(node.atOnceMax).toBeLessThanOrEqual(16);
      await rpc.batch(ask(40));
      expect(node.received.filter(({ isBatch }) => isBatch)).toHaveLength(batches);
    },
  );

  test("of a provider that takes three requests has three from then on", async () => {
    const { node, rpc } = await open((received) => {
      const { isBatch, requests } = received;
      if (!isBatch || requests.length <= 3) return echo(received);
      const message = "Batch of more than 3 requests are not allowed on free tier";
      return { status: 500, body: requests.map(({ id }) => errorTo(id, 31, message)) };
    });
    expect(await rpc.batch(ask(12))).toEqual(answered(12));
    const before = node.received.length;
    expect(await rpc.batch(ask(12))).toEqual(answered(12));
    expect(node.received.slice(before).every(({ requests }) => requests.length === 3)).toBe(true);
  });

  test("fails as a whole when the server does", async () => {
    const { node, rpc } = await open(() => ({ status: 503, body: "<html>" }));
    await expect(rpc.batch(ask(4))).rejects.toMatchObject(unavailable("http 503"));
    expect(node.received).toHaveLength(1);
  });
});

describe("a request that may share", () => {
  const share = (rpc: { share: (method: string, params: readonly unknown[]) => unknown }) =>
    Promise.all([1, 2, 1].map((index) => rpc.share("m", [index])));

  test("is sent with those of its turn, and once if they are the same [T313]", async () => {
    const { node, rpc } = await open(echo);
    expect(await share(rpc)).toEqual([
      { ok: true, result: ["m", 1] },
      { ok: true, result: ["m", 2] },
      { ok: true, result: ["m", 1] },
    ]);
    expect(node.received.map(({ requests }) => requests.map(({ params }) => params))).toEqual([
      [[1], [2]],
    ]);
  });

  test("is sent once also where its turn needs several HTTP requests [T313]", async () => {
    const { node, rpc } = await open(echo);
    const asked = Array.from({ length: 100 }, (_, index) => index % 30);
    const answers = await Promise.all(asked.map((index) => rpc.share("m", [index])));
    expect(answers).toEqual(asked.map((index) => ({ ok: true, result: ["m", index] })));
    expect(node.received.map(({ requests }) => requests.length).toSorted()).toEqual([10, 20]);
  });

  test("is sent again at the next turn", async () => {
    const { node, rpc } = await open(echo);
    await rpc.share("m", [1]);
    await rpc.share("m", [1]);
    expect(node.received).toHaveLength(2);
  });

  test("is sent with those that are asked while another is under way, or after some milliseconds", async () => {
    const [first, pause] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const paused: number[] = [];
    const { node, rpc } = await open(
      async (received) => {
        if (received.requests[0]?.params[0] === 1) await first.promise;
        return echo(received);
      },
      {
        ...UNLIMITED,
        pause(ms) {
          paused.push(ms);
          return paused.length === 1 ? new Promise(() => undefined) : pause.promise;
        },
      },
    );
    const listSent = () =>
      node.received.map(({ requests }) => requests.map(({ params }) => params[0]));
    const answers = [rpc.share("m", [1])];
    await expect.poll(listSent).toEqual([[1]]);
    answers.push(rpc.share("m", [2]));
    await new Promise((resolve) => setTimeout(resolve, 20));
    answers.push(rpc.share("m", [3]));
    expect(listSent()).toEqual([[1]]);
    first.resolve();
    await Promise.all(answers);
    expect(listSent()).toEqual([[1], [2, 3]]);

    const stuck = Promise.withResolvers<void>();
    first.promise = stuck.promise;
    const others = [rpc.share("m", [1])];
    await expect.poll(listSent).toHaveLength(3);
    others.push(rpc.share("m", [4]));
    pause.resolve();
    await others[1];
    expect(listSent()).toEqual([[1], [2, 3], [1], [4]]);
    expect(paused).toEqual([8, 8]);
    stuck.resolve();
    await others[0];
  });

  test.each([
    ["closes its connection", { body: null, closes: true }],
    ["fails", { status: 500, body: "out of memory" }],
    ["is too large for the server", { status: 413, body: "too large" }],
  ])("is sent alone when the shared one %s [T313]", async (_, reply) => {
    const { node, rpc } = await open((received) => (received.isBatch ? reply : echo(received)));
    expect(await share(rpc)).toEqual(
      [1, 2, 1].map((index) => ({ ok: true, result: ["m", index] })),
    );
    expect(node.received.filter(({ isBatch }) => !isBatch)).toHaveLength(2);
  });

  test("fails alone when only its own answer is missing", async () => {
    const { rpc } = await open((received) =>
      received.isBatch || received.requests[0]?.params[0] === 2
        ? { status: 500, body: "out of memory" }
        : echo(received),
    );
    const results = await Promise.allSettled([1, 2].map((index) => rpc.share("m", [index])));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("has its own error", async () => {
    const { rpc } = await open(({ requests }) => ({
      body: requests.map((request) =>
        request.params[0] === 2 ? errorTo(request.id, -32_000, "no") : answerTo(request),
      ),
    }));
    expect(await share(rpc)).toEqual([
      { ok: true, result: ["m", 1] },
      { ok: false, code: -32_000, message: "no" },
      { ok: true, result: ["m", 1] },
    ]);
  });
});
