/** Orders with one wrong field, each refused before a message is built. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BASE,
  OFF_CURVE,
  SOL,
  startCustody,
  type TestCustody,
  towardsBase,
  towardsSolana,
  walletOf,
} from "../../../test/support/solana-custody.ts";
import type { LockOrder, Order } from "../../chains/solana/orders.ts";
import { type Address, NATIVE_SOL, padAddress, toHex32 } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";

let custody: TestCustody;
beforeAll(async () => {
  custody = await startCustody();
});
afterAll(() => custody.close());

const ATTACKER = walletOf(666);

const sign = (order: Order, lane: "settle" | "deliver" = "settle") =>
  custody.laneOf(lane).sign(custody.intentOf([order]));

async function refuse(order: Order, reason: string, lane?: "settle" | "deliver"): Promise<void> {
  await expect(sign(order, lane)).rejects.toThrow(SignerRefusal);
  await expect(sign(order, lane)).rejects.toThrow(reason);
}

describe("a lock", () => {
  test.each([
    ["of zero", { amount: 0n }, "lock amount 0 is zero or above u64"],
    ["of more than u64 holds", { amount: 2n ** 64n }, "above u64"],
    ["with a minimum below the committed one", { minOut: 989_999n }, "is below 990000"],
    ["for another delivery contract", { delivery: toHex32(ATTACKER) }, "the delivery contract"],
    [
      "of a same-asset pair with a price",
      {
        price: {
          price: { rate: 1n, maxAmount: 1n, deadline: 1n },
          signature: "0x" as const,
        },
      },
      "same-asset pair has a price",
    ],
    [
      "with sources that add up to less",
      { sources: [{ account: ATTACKER, amount: 1n }] },
      "do not add up to the amount",
    ],
    ["with a sequence number out of range", { seq: 2n ** 64n }, "sequence number"],
  ] satisfies [string, Partial<LockOrder>, string][])(
    "%s is refused",
    async (_, change, reason) => {
      expect.hasAssertions();
      await refuse({ ...custody.lock(1), ...change }, reason);
    },
  );

  test("of an unlisted token is refused, like its transfer and refund [T26]", async () => {
    expect.hasAssertions();
    await refuse({ ...custody.lock(1), token: ATTACKER }, "is not configured");
    const commitment = towardsSolana(1, ATTACKER);
    await refuse({ ...custody.transfer(1, ATTACKER), commitment }, "is not configured");
    await refuse({ ...custody.refund(1), token: ATTACKER }, "is not configured");
  });

  test.each([
    ["to a chain without a route", { destChain: 2 }],
    ["to a token without a route", { destToken: padAddress(ATTACKER) }],
    ["to Solana itself", { destChain: 1 }],
  ])("%s is refused", async (_, change) => {
    expect.hasAssertions();
    await refuse(
      { ...custody.lock(1), commitment: towardsBase(1, change) },
      "no route is configured",
    );
  });

  test("of a priced pair needs a valid price for its own vault, and respects it", async () => {
    expect.hasAssertions();
    const lock = await custody.lockSol(1);
    const { commitment } = lock;
    await refuse({ ...lock, price: null }, "has no price");
    await refuse({ ...lock, minOut: lock.minOut - 1n }, "is below");
    const foreign = await custody.price(towardsBase(2));
    await refuse({ ...lock, price: foreign }, "not signed by configured attestors");
    const raised = { price: { ...foreign.price, rate: 1n }, signature: foreign.signature };
    await refuse({ ...lock, price: raised }, "not signed by configured attestors");
    const small = await custody.price(commitment, { maxAmount: SOL - 1n });
    await refuse({ ...lock, price: small }, "above the maximum of its price");
    const past = await custody.price(commitment, { deadline: custody.nowS() - 1n });
    await refuse({ ...lock, price: past }, "has passed");
    const lasting = await custody.price(commitment, { deadline: custody.nowS() + 3_600n });
    await refuse({ ...lock, price: lasting }, "too far in the future");
    const nothing = await custody.price(commitment, { rate: 0n });
    await refuse({ ...lock, price: nothing, minOut: 0n }, "price is zero");
    expect(await sign({ ...lock, minOut: lock.minOut + 1n })).toBeDefined();
  });
});

describe("an order with the attestors' signatures", () => {
  test("needs as many as the threshold, for its own cluster", async () => {
    const claim = await custody.claim(custody.lock(6));
    const two = await startCustody({ threshold: 2 });
    const elsewhere = await startCustody({ cluster: toHex32(`0x${"c2".repeat(32)}`) });
    try {
      const signOn = ({ laneOf, intentOf }: TestCustody) =>
        laneOf("settle").sign(intentOf([claim]));
      await expect(signOn(two)).rejects.toThrow("signed by 1 attestors, expected 2");
      await expect(signOn(elsewhere)).rejects.toThrow("not signed by configured attestors");
    } finally {
      two.close();
      elsewhere.close();
    }
  });

  test("is refused when another signed it or any field differs", async () => {
    expect.hasAssertions();
    const claim = await custody.claim(custody.lock(7));
    const giveBack = await custody.giveBack(custody.lock(8));
    const deliver = await custody.deliver(1);
    const none = `0x${"11".repeat(64)}1b` as const;
    for (const order of [claim, giveBack, deliver]) {
      const lane = order.kind === "deliver" ? "deliver" : "settle";
      await refuse({ ...order, signature: none }, "not signed by configured attestors", lane);
      await refuse({ ...order, signature: "0x" }, "signed by 0 attestors, expected 1", lane);
    }
    const otherId = custody.idOfLock(custody.lock(9));
    await refuse({ ...claim, deliveryId: otherId }, "not signed by configured attestors");
    await refuse(
      { ...claim, paidAmount: claim.paidAmount + 1n },
      "not signed by configured attestors",
    );
    await refuse({ ...claim, deadline: claim.deadline + 1n }, "not signed by configured attestors");
    await refuse({ ...claim, signature: giveBack.signature }, "not signed by configured attestors");
    for (const change of [
      { seq: 1n },
      { amount: giveBack.amount + 1n },
      { minOut: giveBack.minOut + 1n },
      { commitment: towardsBase(9) },
    ]) {
      await refuse({ ...giveBack, ...change }, "not signed by configured attestors");
    }
    const { order } = deliver;
    for (const change of [
      { amount: order.amount + 1n },
      { lockedAmount: order.lockedAmount + 1n },
      { minOut: order.minOut + 1n },
      { windowStart: order.windowStart + 1n },
      { seq: 1n },
      { srcChain: 2 },
      { srcToken: ATTACKER },
      { commitment: { ...order.commitment, destWallet: toHex32(ATTACKER) } },
      { commitment: { ...order.commitment, userId: toHex32(ATTACKER) } },
    ]) {
      await refuse(
        { ...deliver, order: { ...order, ...change } },
        "not signed by configured attestors",
        "deliver",
      );
    }
  });

  test("is refused after its deadline", async () => {
    expect.hasAssertions();
    const claim = await custody.claim(custody.lock(7));
    const giveBack = await custody.giveBack(custody.lock(8));
    custody.clock.advance(3_601_000);
    await refuse(claim, "has passed");
    await refuse(giveBack, "has passed");
  });

  test("is refused for a delivery after its payout window, or below its minimum", async () => {
    expect.hasAssertions();
    const { payoutWindowS } = custody.options;
    const windowStart = custody.nowS() - payoutWindowS;
    expect(
      await sign(await custody.deliver(1, custody.token, { windowStart }), "deliver"),
    ).toBeDefined();
    const late = await custody.deliver(1, custody.token, { windowStart: windowStart - 1n });
    await refuse(late, "payout window ended", "deliver");
    const little = await custody.deliver(1, custody.token, { minOut: 1_000_001n });
    await refuse(little, "is below", "deliver");
  });

  test("is refused for a lock whose time is ahead of the clock, which would delay its return", async () => {
    expect.hasAssertions();
    const ahead = { lockedAt: custody.nowS() + 301n };
    await refuse({ ...custody.lock(1), ...ahead }, "in the future");
  });

  test("is refused when it ends a lock that holds less than was locked", async () => {
    expect.hasAssertions();
    const claim = await custody.claim(custody.lock(7));
    await refuse({ ...claim, held: claim.amount - 1n }, "below the locked amount");
  });

  test("is refused when it hands over a lock of native coin", async () => {
    expect.hasAssertions();
    const claim = await custody.claim({ ...custody.lock(7), token: NATIVE_SOL });
    await refuse({ ...claim, whole: true }, "cannot change its owner");
  });
});

describe("a payment", () => {
  test.each<[string, () => Address, string]>([
    ["to the zero address", () => NATIVE_SOL, "the zero address"],
    ["to an address that is not a public key", () => OFF_CURVE, "not a public key"],
    ["to the inventory", () => custody.accounts.delivery, "an account of the service"],
    ["to the escrow", () => custody.accounts.escrow, "an account of the service"],
    ["to a fee payer", () => custody.accounts.settle, "an account of the service"],
    ["to the binding key", () => custody.accounts.binding, "an account of the service"],
  ])("%s is refused [T43]", async (_, payeeOf, reason) => {
    expect.hasAssertions();
    const payee = toHex32(payeeOf());
    const commitment = { ...towardsSolana(1, custody.token), destWallet: payee };
    await refuse({ ...custody.transfer(1), commitment }, reason);
    const deliver = await custody.deliver(1, custody.token, { commitment });
    await refuse(deliver, reason, "deliver");
    const refund = { ...custody.refund(1), commitment: { ...commitment, refundAuthority: payee } };
    await refuse(refund, reason);
  });

  test("of SOL to an address that is not a public key is signed [T43]", async () => {
    expect.hasAssertions();
    const commitment = {
      ...towardsSolana(1, NATIVE_SOL),
      destWallet: toHex32(OFF_CURVE),
    };
    expect(await sign({ ...custody.transfer(1, NATIVE_SOL), commitment })).toBeDefined();
  });
});

describe("a transfer", () => {
  test("of a commitment to another chain or token is refused", async () => {
    expect.hasAssertions();
    const transfer = custody.transfer(1);
    await refuse(
      { ...transfer, commitment: towardsBase(1) },
      "another chain or token than committed",
    );
    await refuse(
      { ...transfer, commitment: towardsSolana(1, NATIVE_SOL) },
      "another chain or token than committed",
    );
  });

  test("with a fee above the committed cap is refused", async () => {
    expect.hasAssertions();
    await refuse({ ...custody.transfer(1), fee: 10_001n }, "above the committed cap");
    expect(await sign({ ...custody.transfer(1), fee: 10_000n })).toBeDefined();
    const commitment = { ...towardsSolana(1, custody.token), maxFeeBps: 10_000 };
    await refuse(
      { ...custody.transfer(1), commitment, fee: 1_000_000n },
      "fee takes the whole transfer",
    );
  });
});

describe("a lane on Solana", () => {
  test("signs only the orders of its purpose", async () => {
    expect.hasAssertions();
    await refuse(await custody.deliver(1), "from a lane that may only settle");
    await refuse(custody.refund(1), "from a lane that may only deliver", "deliver");
    await refuse(custody.lock(1), "from a lane that may only deliver", "deliver");
  });

  test("delivers only to its own chain", async () => {
    expect.hasAssertions();
    const { order } = await custody.deliver(1);
    const elsewhere = { ...order.commitment, destChain: BASE };
    const deliver = {
      kind: "deliver" as const,
      order: { ...order, commitment: elsewhere },
      signature: "0x" as const,
    };
    await refuse(deliver, `delivery to chain ${BASE}`, "deliver");
  });

  test("signs only canonical orders with a lifetime, within its limits of units and price", async () => {
    expect.hasAssertions();
    const lane = custody.laneOf("settle");
    const intent = custody.intentOf([custody.refund(1)]);
    const withData = (text: string) => ({
      ...intent,
      call: { ...intent.call, data: `0x${Buffer.from(text).toString("hex")}` as const },
    });
    const text = Buffer.from(intent.call.data.slice(2), "hex").toString();
    for (const other of ["", "[]", "{}", `${text} `, text.replace('"amount":"', '"amount":"0')]) {
      await expect(lane.sign(withData(other))).rejects.toThrow("not an encoding of orders");
    }
    await expect(lane.sign({ ...intent, lifetime: undefined })).rejects.toThrow("has no lifetime");
    await expect(lane.sign({ ...intent, call: { ...intent.call, value: 1n } })).rejects.toThrow(
      "carries native coin",
    );
    await expect(lane.sign({ ...intent, gas: 1_400_001n })).rejects.toThrow("compute units");
    const dear = { gasPriceMax: 10_000_001n, tipMax: 1n };
    await expect(lane.sign({ ...intent, fees: dear })).rejects.toThrow("micro-lamports");
    expect(await lane.sign(intent)).toBeDefined();
  });
});
