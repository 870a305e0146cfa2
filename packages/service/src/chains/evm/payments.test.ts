/** Simulations of payments, whose outcome must be the recipient's doing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectChain } from "../../../test/evm/connect-chain.ts";
import {
  type MalformedNode,
  type Reply,
  startMalformedNode,
} from "../../../test/evm/malformed-node.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress } from "../../core/hex.ts";
import type { Payment } from "../port/index.ts";

const of = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const [DELIVERY, TOKEN, RECIPIENT, MESSENGER, MINTER] = ["de", "70", "1e", "3e", "31"].map(of) as [
  ReturnType<typeof of>,
  ReturnType<typeof of>,
  ReturnType<typeof of>,
  ReturnType<typeof of>,
  ReturnType<typeof of>,
];
const YES: Reply = { result: `0x${"1".padStart(64, "0")}` };
const NO: Reply = { result: `0x${"0".repeat(64)}` };
const NOTHING: Reply = { result: "0x" };
const REVERT: Reply = { error: { code: 3, message: "execution reverted", data: "0x" } };
const POOR: Reply = {
  error: { code: -32000, message: "insufficient funds for gas * price + value" },
};
const BROKEN: Reply = { error: { code: -32603, message: "internal error" } };
const LOCAL_MINTER = "0xcb75c11c";

let node: MalformedNode;
beforeAll(async () => {
  node = await startMalformedNode();
});
afterAll(() => node.stop());

interface Called {
  readonly from?: string;
  readonly to: string;
  readonly data: string;
  readonly gas?: string;
}

function open() {
  return connectChain(node, DELIVERY, {
    cctp: { domain: 6, messenger: MESSENGER, transmitter: of("f0") },
  });
}

/** Answers payments to the recipient and to anybody else. */
function answerWith(toRecipient: Reply, toOthers: Reply, minter: Reply = REVERT): void {
  node.answer(({ params }) => {
    const [{ to, data }] = params as readonly [Called];
    if (data.startsWith(LOCAL_MINTER)) return minter;
    const isRecipient = to === RECIPIENT || data.includes(RECIPIENT.slice(2));
    return isRecipient ? toRecipient : toOthers;
  });
}

const simulate = (change: Partial<Payment> = {}) =>
  open().simulatePayment({ payer: "delivery", token: TOKEN, to: RECIPIENT, amount: 7n, ...change });
const calls = () => node.asked.map(({ params: [call] }) => call as Called);

describe("a payment of a token", () => {
  test.each([
    ["returns true", YES],
    ["returns nothing", NOTHING],
  ])("that %s is accepted, at the cost of one request", async (_what, reply) => {
    answerWith(reply, REVERT);
    expect(await simulate()).toBe("accepted");
    expect(calls()).toMatchObject([{ from: DELIVERY, to: TOKEN }]);
  });

  test.each([
    ["reverts", REVERT],
    ["returns false", NO],
  ])("that %s for this recipient alone is refused [T150]", async (_what, reply) => {
    answerWith(reply, YES);
    expect(await simulate()).toBe("refused");
  });

  test("that would fail for anybody is not the recipient's doing", async () => {
    answerWith(REVERT, REVERT);
    expect(await simulate()).toBe("accepted");
  });

  test("without an answer about it is an error", async () => {
    answerWith(BROKEN, YES);
    await expect(simulate()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });
});

describe("a payment of native coin", () => {
  test("has the gas that `Delivery` gives, and is refused where the recipient reverts [T150]", async () => {
    answerWith(REVERT, NOTHING);
    expect(await simulate({ token: NATIVE_TOKEN })).toBe("refused");
    expect(calls()[0]).toMatchObject({ from: DELIVERY, to: RECIPIENT, gas: "0x1e1a4" });
  });

  test("above the balance of `Delivery` is not the recipient's doing", async () => {
    answerWith(POOR, POOR);
    expect(await simulate({ token: NATIVE_TOKEN })).toBe("accepted");
  });
});

describe("a mint of the bridge", () => {
  test("is simulated from Circle's minter and refused for a blocked recipient [T150]", async () => {
    answerWith(REVERT, NOTHING, { result: padAddress(MINTER) });
    expect(await simulate({ payer: "bridge" })).toBe("refused");
    expect(calls()[1]).toMatchObject({ from: MINTER, to: TOKEN });
  });

  test("comes from the messenger where that is its own minter", async () => {
    answerWith(NOTHING, NOTHING);
    expect(await simulate({ payer: "bridge" })).toBe("accepted");
    expect(calls()[1]).toMatchObject({ from: MESSENGER, to: TOKEN });
  });
});
