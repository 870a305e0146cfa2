/** Log lines of several nodes as one chain about a node that differs or is silent. */
import { describe, expect, test } from "vitest";
import { createKeepingLog } from "../../test/support/doubles.ts";
import {
  blockAt,
  createDeadNode,
  createHonestNode,
  createLiar,
  createQuickClock,
  FINAL,
  HEAD,
  MINED,
  quorumOf,
} from "../../test/support/quorum-doubles.ts";

describe("the log", () => {
  test("names a node that differs by its position, once a minute [T48]", async () => {
    const clock = createQuickClock();
    const { log, lines } = createKeepingLog();
    const liar = createLiar((answer, method) => (method === "getReceipt" ? { wrong: 1 } : answer));
    const chain = quorumOf([createHonestNode(), createHonestNode(), liar], { clock, log });
    const expected = {
      msg: "a node answers otherwise than the others",
      node: 2,
      chainId: 2,
      said: '{"wrong":1}',
      others: expect.stringContaining('"succeeded":true'),
    };
    for (let round = 0; round < 3; round++) await chain.getReceipt(MINED);
    await clock.sleep();
    expect(lines).toMatchObject([expected]);
    clock.advance(60_000);
    await chain.getReceipt(MINED);
    await clock.sleep();
    expect(lines).toMatchObject([expected, expected]);
  });

  test("does not name the only node that has an answer where enough have none", async () => {
    const { log, lines } = createKeepingLog();
    const behind = () => createLiar((answer, method) => (method === "getReceipt" ? null : answer));
    const chain = quorumOf([behind(), behind(), createHonestNode()], { log });
    expect(await chain.getReceipt(MINED)).toBeNull();
    await createQuickClock().sleep();
    expect(lines).toEqual([]);
  });

  test("names a dead node although the others answer, but not one that is behind [T49]", async () => {
    const { log, lines } = createKeepingLog();
    const behind = createHonestNode({ head: HEAD - 1n, final: FINAL });
    const [one, two, three] = [createHonestNode(), createHonestNode(), createHonestNode()];
    const chain = quorumOf([createDeadNode(), one, two, three, behind], { required: 3, log });
    expect(await chain.getBlock(HEAD)).toEqual(blockAt(HEAD));
    await createQuickClock().sleep();
    expect(lines).toMatchObject([
      {
        msg: "a node gave no answer",
        node: 0,
        level: 40,
        err: { code: "RPC_UNAVAILABLE", details: { reason: "unreachable" } },
      },
    ]);
  });
});
