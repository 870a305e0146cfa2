import {
  deliveryAbi,
  depositFactoryAbi,
  escrowAbi,
  sandboxMessageTransmitterV2Abi,
  treasuryAbi,
} from "@sluice/contracts/abi";
import { encodeFunctionData } from "viem";
import { describe, expect, test } from "vitest";
import { GOVERNED } from "../../core/commitment.ts";
import { LANE_PURPOSES } from "../../config/index.ts";
import {
  type Hex,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
  toHex32,
  unpadAddress,
} from "../../core/hex.ts";
import { deliveryIdOf, deliveryIdOfPayout } from "../../chains/evm/commitment.ts";
import { createLanePolicy, listPayouts } from "./lane-policy.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const WORD = toHex32(`0x${"01".repeat(32)}`);
const contracts = {
  factory: address("f0"),
  escrow: address("e0"),
  delivery: address("d0"),
  treasury: address("7e"),
};
const cctp = { messenger: address("3e"), transmitter: address("7a") };
const ROUTE = address("2a");
const THIEF = address("bd");
const commitment = {
  integrator: WORD,
  userId: WORD,
  destChain: 2,
  destWallet: WORD,
  destToken: WORD,
  refundAuthority: WORD,
  maxFeeBps: 50,
  maxSlippageBps: 100,
  ...GOVERNED,
};
const job = {
  c: commitment,
  token: NATIVE_TOKEN,
  maxAmount: 0n,
  route: ROUTE,
  data: "0x",
  proof: [],
} as const;
const order = {
  c: commitment,
  srcChain: 30,
  escrow: padAddress(contracts.escrow),
  srcToken: WORD,
  lockedAmount: 3n,
  minOut: 1n,
  seq: 0n,
  windowStart: 1n,
  amount: 1n,
};
const lock = {
  commitment: WORD,
  delivery: WORD,
  token: NATIVE_TOKEN,
  amount: 3n,
  minOut: 1n,
  seq: 0n,
};

const factory = (data: Hex) => ({ to: contracts.factory, data, value: 0n });
const escrow = (data: Hex) => ({ to: contracts.escrow, data, value: 0n });
const delivery = (data: Hex) => ({ to: contracts.delivery, data, value: 0n });
const treasury = (data: Hex) => ({ to: contracts.treasury, data, value: 0n });
const settleBy = (route: Hex) =>
  factory(
    encodeFunctionData({
      abi: depositFactoryAbi,
      functionName: "settle",
      args: [{ ...job, route }],
    }),
  );

/** Returns a bridge message with its recipient contract at byte 76. */
const messageFor = (recipient: Hex): Hex =>
  `0x${"00".repeat(76)}${padAddress(toEvmAddress(recipient)).slice(2)}${"00".repeat(40)}`;
const relay = (message: Hex) => ({
  to: cctp.transmitter,
  data: encodeFunctionData({
    abi: sandboxMessageTransmitterV2Abi,
    functionName: "receiveMessage",
    args: [message, "0x5160"],
  }),
  value: 0n,
});

/** The calls of lanes that claim; a lane to settle does too. */
const CLAIMS = {
  claim: escrow(
    encodeFunctionData({ abi: escrowAbi, functionName: "claim", args: [lock, 1n, 1n, "0x"] }),
  ),
  claimMany: escrow(
    encodeFunctionData({
      abi: escrowAbi,
      functionName: "claimMany",
      args: [[{ held: lock, paidAmount: 1n, deadline: 1n, signatures: "0x" }], 300_000n],
    }),
  ),
} as const;

/** The calls that each purpose allows. */
const ALLOWED = {
  deploy: {
    deploy: factory(
      encodeFunctionData({ abi: depositFactoryAbi, functionName: "deploy", args: [commitment] }),
    ),
    deployMany: factory(
      encodeFunctionData({
        abi: depositFactoryAbi,
        functionName: "deployMany",
        args: [[commitment, commitment]],
      }),
    ),
  },
  settle: {
    settle: settleBy(ROUTE),
    settleMany: factory(
      encodeFunctionData({
        abi: depositFactoryAbi,
        functionName: "settleMany",
        args: [[job], 300_000n],
      }),
    ),
    ...CLAIMS,
    returnToWallet: escrow(
      encodeFunctionData({
        abi: escrowAbi,
        functionName: "returnToWallet",
        args: [lock, 1n, "0x"],
      }),
    ),
    move: treasury(
      encodeFunctionData({
        abi: treasuryAbi,
        functionName: "move",
        args: [NATIVE_TOKEN, contracts.delivery, 1n],
      }),
    ),
  },
  deliver: {
    deliver: delivery(
      encodeFunctionData({ abi: deliveryAbi, functionName: "deliver", args: [order, "0x"] }),
    ),
    deliverMany: delivery(
      encodeFunctionData({
        abi: deliveryAbi,
        functionName: "deliverMany",
        args: [
          [
            { order, signatures: "0x" },
            { order: { ...order, seq: 9n }, signatures: "0x" },
          ],
          1n,
        ],
      }),
    ),
    receiveMessage: relay(messageFor(cctp.messenger)),
  },
  claim: CLAIMS,
} as const;

describe("a payout", () => {
  test("is read from its call, with the lock that the contract hashes", () => {
    const payouts = listPayouts(ALLOWED.deliver.deliver, contracts);
    const { amount, windowStart } = order;
    expect(payouts).toMatchObject([{ commitment, amount, windowStart }]);
    const payout = {
      ...order,
      commitment,
      escrow: unpadAddress(toHex32(order.escrow)),
      srcToken: unpadAddress(toHex32(order.srcToken), "svm"),
    };
    const id = deliveryIdOfPayout(contracts.delivery, payout);
    expect(payouts.map((one) => deliveryIdOf(one.lock))).toEqual([id]);
  });

  test("is each member of a batch", () => {
    const payouts = listPayouts(ALLOWED.deliver.deliverMany, contracts);
    expect(payouts.map(({ lock: { seq } }) => seq)).toEqual([order.seq, 9n]);
  });

  test("is no other call of the lane", () => {
    expect(listPayouts(ALLOWED.deliver.receiveMessage, contracts)).toEqual([]);
    expect(listPayouts(ALLOWED.settle.claim, contracts)).toEqual([]);
  });
});

const policyOf = (purpose: (typeof LANE_PURPOSES)[number]) =>
  createLanePolicy(purpose, { chainId: 2, contracts, cctp, routes: new Set([ROUTE]) });

describe.each(LANE_PURPOSES)("a lane to %s", (purpose) => {
  const check = policyOf(purpose);

  test("allows the calls of its purpose", () => {
    for (const [method, call] of Object.entries(ALLOWED[purpose])) {
      expect(check(call)).toBe(method);
    }
  });

  test("refuses the calls of another purpose [X8]", () => {
    for (const other of LANE_PURPOSES.filter((name) => name !== purpose)) {
      for (const [method, call] of Object.entries(ALLOWED[other])) {
        if (method in ALLOWED[purpose]) continue;
        expect(() => check(call)).toThrow(`may only ${purpose}`);
      }
    }
  });

  test("refuses a call to a contract that is not ours [X8]", () => {
    for (const call of Object.values(ALLOWED[purpose])) {
      expect(() => check({ ...call, to: THIEF })).toThrow(`call to ${THIEF}`);
    }
  });

  test("refuses calldata that is not the method's exact encoding [X8]", () => {
    for (const call of Object.values(ALLOWED[purpose])) {
      for (const data of [`${call.data}00`, call.data.slice(0, -2), "0x", "0xdeadbeef"] as Hex[]) {
        expect(() => check({ ...call, data })).toThrow("not the encoding of any method");
      }
    }
  });

  test("refuses governance calls [X8]", () => {
    const calls = [
      factory(
        encodeFunctionData({
          abi: depositFactoryAbi,
          functionName: "setRelayer",
          args: [THIEF, true],
        }),
      ),
      factory(
        encodeFunctionData({
          abi: depositFactoryAbi,
          functionName: "transferOwnership",
          args: [THIEF],
        }),
      ),
      delivery(
        encodeFunctionData({
          abi: deliveryAbi,
          functionName: "withdraw",
          args: [NATIVE_TOKEN, 1n],
        }),
      ),
      treasury(
        encodeFunctionData({
          abi: treasuryAbi,
          functionName: "scheduleDirection",
          args: [NATIVE_TOKEN, THIEF, 1n],
        }),
      ),
      treasury(
        encodeFunctionData({
          abi: treasuryAbi,
          functionName: "executeWithdrawal",
          args: [NATIVE_TOKEN],
        }),
      ),
    ];
    for (const call of calls) expect(() => check(call)).toThrow(`may only ${purpose}`);
  });
});

describe("the arguments of a lane's call", () => {
  test("must name a configured route in a settlement, alone or in a batch", () => {
    expect(() => policyOf("settle")(settleBy(THIEF))).toThrow("not configured for chain 2");
    const batch = encodeFunctionData({
      abi: depositFactoryAbi,
      functionName: "settleMany",
      args: [[job, { ...job, route: THIEF }], 300_000n],
    });
    expect(() => policyOf("settle")(factory(batch))).toThrow("not configured for chain 2");
  });

  test("must name the lane's own chain in a delivery", () => {
    const elsewhere = { ...order, c: { ...commitment, destChain: 30 } };
    const data = encodeFunctionData({
      abi: deliveryAbi,
      functionName: "deliver",
      args: [elsewhere, "0x"],
    });
    expect(() => policyOf("deliver")(delivery(data))).toThrow("delivery to chain 30 on chain 2");
    const batch = encodeFunctionData({
      abi: deliveryAbi,
      functionName: "deliverMany",
      args: [[order, elsewhere].map((one) => ({ order: one, signatures: "0x" }) as const), 1n],
    });
    expect(() => policyOf("deliver")(delivery(batch))).toThrow("delivery to chain 30 on chain 2");
  });

  test("must name the configured messenger and transmitter in a bridge message", () => {
    const policy = policyOf("deliver");
    expect(() => policy(relay(messageFor(THIEF)))).toThrow("which is not the configured messenger");
    expect(() => policy(relay("0x"))).toThrow("which is not the configured messenger");
    const { data } = relay(messageFor(cctp.messenger));
    expect(() => policy({ to: THIEF, data, value: 0n })).toThrow(`call to ${THIEF}`);
    const without = createLanePolicy("deliver", { chainId: 2, contracts, routes: new Set() });
    expect(() => without(relay(messageFor(cctp.messenger)))).toThrow("may only deliver");
  });

  test("must be those of receiveMessage on the transmitter", () => {
    const data = encodeFunctionData({
      abi: sandboxMessageTransmitterV2Abi,
      functionName: "sendMessage",
      args: [0, WORD, WORD, 1000, "0x"],
    });
    expect(() => policyOf("deliver")({ to: cctp.transmitter, data, value: 0n })).toThrow(
      "not the encoding of any method",
    );
  });
});
