/** The objects of the example against those that the x402 specification publishes, and a purchase over loopback. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { buy, openSeller } from "./seller.ts";
import {
  decodeHeader,
  encodeHeader,
  findFault,
  PaymentPayload,
  PaymentRequired,
  requirePayment,
  SettlementResponse,
  signPayment,
} from "./x402.ts";

/** The examples of x402-specification-v2.md, sections 5.1, 5.2 and 5.3 (Apache-2.0). */
const ACCEPTED = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};
const RESOURCE = {
  url: "https://api.example.com/premium-data",
  description: "Access to premium market data",
  mimeType: "application/json",
};
const PUBLISHED = {
  required: {
    x402Version: 2,
    error: "PAYMENT-SIGNATURE header is required",
    resource: RESOURCE,
    accepts: [ACCEPTED],
    extensions: {},
  },
  payload: {
    x402Version: 2,
    resource: RESOURCE,
    accepted: ACCEPTED,
    payload: {
      signature:
        "0x2d6a7588d6acca505cbf0d9a4a227e0c52c6c34008c8e8986a1283259764173608a2ce6496642e377d6da8dbbf5836e9bd15092f9ecab05ded3d6293af148b571c",
      authorization: {
        from: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
        to: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
        value: "10000",
        validAfter: "1740672089",
        validBefore: "1740672154",
        nonce: "0xf3746613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480",
      },
    },
    extensions: {},
  },
  settlement: {
    success: true,
    transaction: "0x1234567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef",
    network: "eip155:84532",
    payer: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  },
};

const agent = privateKeyToAccount(generatePrivateKey());
const ORDER = {
  evmChainId: 900_002,
  depositAddress: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  token: { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", name: "USDC", version: "2" },
  amount: 5_000_000n,
} as const;
const LIMITS = { network: "eip155:900002", asset: ORDER.token.address, amountMax: 5_000_000n };
const required = requirePayment({ ...ORDER, url: "https://shop.example/report" });
const [asked] = required.accepts;
if (!asked) throw new Error("there is one accepted payment");

describe("x402", () => {
  test("reads the published examples, and writes the same shapes", async () => {
    const read = <T extends object>(schema: Parameters<typeof decodeHeader>[0], value: T) =>
      decodeHeader(schema, encodeHeader(value));
    expect(read(PaymentRequired, PUBLISHED.required)).toEqual(PUBLISHED.required);
    expect(read(PaymentPayload, PUBLISHED.payload)).toEqual(PUBLISHED.payload);
    expect(read(SettlementResponse, PUBLISHED.settlement)).toEqual(PUBLISHED.settlement);
    const keysOf = (value: object): unknown =>
      Object.fromEntries(
        Object.entries(value).map(([name, one]) => [
          name,
          typeof one === "object" ? keysOf(one) : typeof one,
        ]),
      );
    const { description: _, mimeType: __, ...resource } = RESOURCE;
    const { extensions: ___, ...published } = { ...PUBLISHED.required, resource };
    expect(keysOf(required)).toEqual(keysOf(published));
    const { extensions: ____, ...payload } = { ...PUBLISHED.payload, resource };
    expect(keysOf(await signPayment(agent, required, LIMITS))).toEqual(keysOf(payload));
  });

  test("the payer's signature is over the transfer to the deposit address", async () => {
    const payment = await signPayment(agent, required, LIMITS);
    expect(await findFault(asked, payment)).toBeNull();
    expect(payment.payload.authorization.to).toBe(ORDER.depositAddress);
  });

  test.each([
    ["another recipient", { to: agent.address }, "invalid_exact_evm_payload_recipient_mismatch"],
    ["a smaller value", { value: "1" }, "invalid_exact_evm_payload_authorization_value_mismatch"],
    ["another payer", { from: ORDER.depositAddress }, "invalid_exact_evm_payload_signature"],
    [
      "a time to come",
      { validAfter: "99999999999" },
      "invalid_exact_evm_payload_authorization_valid_after",
    ],
    [
      "an end in the past",
      { validBefore: "1" },
      "invalid_exact_evm_payload_authorization_valid_before",
    ],
  ])("refuses a payment with %s", async (_, change, fault) => {
    const { payload, ...rest } = await signPayment(agent, required, LIMITS);
    const authorization = { ...payload.authorization, ...change };
    expect(await findFault(asked, { ...rest, payload: { ...payload, authorization } })).toBe(fault);
  });

  test("an agent pays no more than its limit", async () => {
    await expect(
      signPayment(agent, required, { ...LIMITS, amountMax: 4_999_999n }),
    ).rejects.toThrow("no accepted payment is within the agent's limits");
  });

  test("an agent buys a resource once, for one transfer to the deposit address", async () => {
    const transfers: PaymentPayload[] = [];
    const seller = await openSeller({
      content: { report: "all is well" },
      order: ORDER,
      settle: async (payment) => {
        transfers.push(payment);
        const { network } = payment.accepted;
        const payer = payment.payload.authorization.from;
        return { success: true, transaction: `0x${"1".repeat(64)}`, network, payer };
      },
    });
    const bought = await buy(seller.url, agent, LIMITS);
    expect(bought).toMatchObject({ status: 200, content: { report: "all is well" } });
    expect(bought.settlement).toMatchObject({ success: true, payer: agent.address });
    expect(await buy(seller.url, agent, LIMITS)).toMatchObject({ status: 402, settlement: null });
    expect(transfers.map(({ payload }) => payload.authorization.to)).toEqual([
      ORDER.depositAddress,
    ]);
    const broken = await fetch(seller.url, { headers: { "PAYMENT-SIGNATURE": "e30=" } });
    expect([broken.status, await broken.json()]).toEqual([400, { error: "invalid_payload" }]);
    await seller.close();
  });
});
