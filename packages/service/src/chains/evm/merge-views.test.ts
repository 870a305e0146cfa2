/** Views that are merged into one call, on a real node and on ones that refuse it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestClient, http } from "viem";
import { type Anvil, startAnvil } from "../../../test/evm/anvil.ts";
import { type MalformedNode, startMalformedNode } from "../../../test/evm/malformed-node.ts";
import { UNLIMITED } from "../rpc/traffic.ts";
import { createViewMerge } from "./merge-views.ts";
import { revertReasonOf } from "./revert.ts";
import { createRpc, type Rpc } from "./rpc.ts";

/** The precompile that returns its input. */
const ECHO = `0x${"04".padStart(40, "0")}` as const;
const REVERTING = `0x${"aa".repeat(20)}` as const;
const BURNING = `0x${"bb".repeat(20)}` as const;
const EMPTY = `0x${"cc".repeat(20)}` as const;

/** Returns the parameters of a view, as `callView` gives them. */
function view(to: string, data: string, { gas = 2_000_000, tag = "latest" } = {}) {
  return [{ to, data, gas: `0x${gas.toString(16)}` }, tag] as const;
}

describe("on a real node", () => {
  let anvil: Anvil;
  let rpc: Rpc;
  let sent: string[] = [];

  beforeAll(async () => {
    anvil = await startAnvil(900_002);
    const client = createTestClient({ mode: "anvil", transport: http(anvil.rpcUrl) });
    // Reverts with its input, and loops until its gas is used.
    await client.setCode({ address: REVERTING, bytecode: "0x366000600037366000fd" });
    await client.setCode({ address: BURNING, bytecode: "0x5b600056" });
  });
  beforeEach(() => {
    sent = [];
    const traffic = {
      ...UNLIMITED,
      observe: ({ requests }: { requests: readonly { method: string }[] }) =>
        void sent.push(...requests.map(({ method }) => method)),
    };
    rpc = createRpc({ chainId: 2, rpcUrl: anvil.rpcUrl, timeoutMs: 5_000, traffic });
  });
  afterAll(() => anvil.stop());

  test("each is answered as by itself, in one request [T306]", async () => {
    const views = [
      view(ECHO, "0x"),
      view(REVERTING, `0x${"d1".repeat(36)}`),
      view(ECHO, `0x${"ef".repeat(33)}`),
      view(EMPTY, "0x01"),
      view(BURNING, "0x", { gas: 30_000 }),
      view(REVERTING, "0x"),
      view(ECHO, `0x${"07".repeat(4_000)}`),
    ];
    const alone = await Promise.all(views.map((params) => rpc.call("eth_call", params)));
    sent = [];
    const together = await Promise.all(views.map((params) => rpc.share("eth_call", params)));
    expect(sent).toEqual(["eth_call"]);
    const summary = (answers: typeof alone) =>
      answers.map((answer) => (answer.ok ? answer.result : revertReasonOf(answer)));
    expect(summary(together)).toEqual(summary(alone));
    expect(summary(together)[1]).toBe("reverted");
    expect(together[1]).toMatchObject({ code: 3, data: `0x${"d1".repeat(36)}` });
  });

  test("tags are not mixed, and calls of another form are left alone [T306]", async () => {
    const requests = [
      view(ECHO, "0x01"),
      view(ECHO, "0x02"),
      view(ECHO, "0x03", { tag: "finalized" }),
      view(ECHO, "0x04", { tag: "finalized" }),
      [{ to: ECHO, data: "0x05", from: EMPTY }, "latest"],
      [{ to: ECHO, data: "0x06", gas: "0xffff" }, { blockHash: EMPTY }],
    ];
    const answers = await Promise.all(requests.map((params) => rpc.share("eth_call", params)));
    expect(answers.slice(0, 5)).toEqual(
      [1, 2, 3, 4, 5].map((digit) => ({ ok: true, result: `0x0${digit}` })),
    );
    expect(answers[5]).toMatchObject({ ok: false });
    expect(sent).toHaveLength(4);
  });

  test("many need as many requests as their size demands [T306]", async () => {
    const data = (index: number) => `0x${index.toString(16).padStart(64, "0")}`;
    const asked = Array.from({ length: 100 }, (_, index) => view(ECHO, data(index)));
    const answers = await Promise.all(asked.map((params) => rpc.share("eth_call", params)));
    expect(answers).toEqual(asked.map(([{ data: result }]) => ({ ok: true, result })));
    expect(sent).toHaveLength(3);
    sent = [];
    const long = Array.from({ length: 4 }, (_, index) =>
      view(ECHO, `0x${`0${index}`.repeat(20_000)}`),
    );
    expect(await Promise.all(long.map((params) => rpc.share("eth_call", params)))).toMatchObject(
      long.map(([{ data: result }]) => ({ ok: true, result })),
    );
  });

  test("the call fails as a whole where a view could lack gas that it has alone [T306]", async () => {
    const requests = [view(BURNING, "0x"), view(ECHO, "0x01")].map((params) => ({
      method: "eth_call",
      params,
    }));
    const [merged] = createViewMerge()(requests);
    const [call, tag] = merged?.request.params ?? [];
    const answer = await rpc.call("eth_call", [{ ...Object(call), gas: "0x2f0000" }, tag]);
    expect(answer.ok).toBe(false);
    expect(merged?.separate(answer)).toBe(null);
  });
});

describe("a node that refuses the call", () => {
  let node: MalformedNode;
  let rpc: Rpc;

  beforeEach(async () => {
    node = await startMalformedNode();
    rpc = createRpc({ chainId: 2, rpcUrl: node.rpcUrl, timeoutMs: 2_000 });
  });
  afterEach(() => node.stop());

  const word = (value: number) => value.toString(16).padStart(64, "0");

  test.each([
    ["an error", { error: { code: -32000, message: "contract code size exceeds the limit" } }],
    ["nothing", { result: "0x" }],
    ["another type", { result: 7 }],
    ["an answer less", { result: `0x${word(1)}${word(1)}07` }],
    ["an answer more", { result: `0x${`${word(1)}${word(1)}07`.repeat(3)}` }],
    ["a length beyond its end", { result: `0x${word(1)}${word(0)}${word(1)}${word(9)}07` }],
    ["an absurd length", { result: `0x${word(1)}${"f".repeat(64)}${word(1)}${word(0)}` }],
  ])("with %s is asked each view by itself [T306]", async (_, reply) => {
    node.answer(({ params }) => {
      const { to, data } = Object(params[0]);
      return to === undefined ? reply : { result: data };
    });
    const ask = () =>
      Promise.all(["0x01", "0x02"].map((data) => rpc.share("eth_call", view(ECHO, data))));
    const expected = ["0x01", "0x02"].map((result) => ({ ok: true, result }));
    expect(await ask()).toEqual(expected);
    expect(node.asked).toHaveLength(3);
    // And not again merged.
    expect(await ask()).toEqual(expected);
    expect(node.asked).toHaveLength(5);
  });

  test("once is asked again as before, after a thousand turns [T306]", async () => {
    const word2 = `${word(1)}${word(1)}07`;
    node.answer(({ params }) => {
      const { to } = Object(params[0]);
      return to === undefined ? { error: { code: -32603, message: "internal" } } : { result: "0x" };
    });
    const ask = () =>
      Promise.all(["0x01", "0x02"].map((data) => rpc.share("eth_call", view(ECHO, data))));
    for (let turn = 0; turn <= 1_000; turn += 1) await ask();
    expect(node.asked).toHaveLength(3 + 1_000 * 2);
    node.answer(() => ({ result: `0x${word2.repeat(2)}` }));
    await ask();
    expect(node.asked).toHaveLength(1);
  });

  test.each([500, 413])(
    "with HTTP status %d is asked each view by itself [T306, T313]",
    async (status) => {
      node.answer(({ params }) => {
        const { to, data } = Object(params[0]);
        if (to !== undefined) return { result: data };
        return (response) => {
          response.statusCode = status;
          response.end();
        };
      });
      const asked = ["0x01", "0x02"].map((data) => rpc.share("eth_call", view(ECHO, data)));
      expect(await Promise.all(asked)).toEqual(
        ["0x01", "0x02"].map((result) => ({ ok: true, result })),
      );
    },
  );

  test("for its rate fails all views at once, and is asked as many together later [T306]", async () => {
    node.answer(() => (response) => {
      response.statusCode = 429;
      response.end();
    });
    const ask = () =>
      Promise.allSettled(["0x01", "0x02"].map((data) => rpc.share("eth_call", view(ECHO, data))));
    expect((await ask()).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(node.asked).toHaveLength(1);
    node.answer(() => ({ result: `0x${`${word(1)}${word(1)}07`.repeat(2)}` }));
    expect((await ask()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect(node.asked).toHaveLength(1);
  });
});
