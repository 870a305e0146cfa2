/** Arguments and output of `sluice addresses refund`; its effects are tested elsewhere. */
import { describe, expect, test } from "vitest";
import { CHAIN, createDoctorDeps, SOLANA_CHAIN } from "../../../test/support/doctor-doubles.ts";
import { formatAddressRefund, refundAddressCommand, type ShownRefund } from "./refund.ts";

const ADDRESS = "ALaVUuQzVcS7MMTkqas9ZW8MymnEphYF2CC6PaeeMRS9";
const AUTHORITY = "7h6kcCCYnD44Rhjryob1uWcxDXXrV8jYDLPvSxi5BzBe";
const EVM = `0x${"ab".repeat(20)}`;
const { config } = createDoctorDeps({ config: { chains: [CHAIN, SOLANA_CHAIN] } });
const ASKED = { address: ADDRESS, token: "USDC", to: AUTHORITY, reason: "ticket 7", waitMs: 0 };

describe("sluice addresses refund", () => {
  test.each([
    [{ address: EVM }, "--to: expected"],
    [{ address: EVM, chain: 30 }, "--chain: expected one of the address's chains (ethereum)"],
    [{ address: "no address" }, 'address: expected 32 bytes in base58, got "no address"'],
    [{ to: EVM }, "--to: expected 32 bytes in base58"],
    [{ token: "DOGE" }, "token: expected a token of the chain in the configuration (SOLANA, USDC)"],
    [{ reason: "  " }, "--reason: expected a text of 1 to 500 characters"],
  ])("refuses %j: %s", async (change, message) => {
    await expect(refundAddressCommand(config, { ...ASKED, ...change })).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining(message),
    });
  });

  test("refuses a configuration without Solana", async () => {
    const without = createDoctorDeps({}).config;
    await expect(refundAddressCommand(without, ASKED)).rejects.toThrow("Solana is not configured");
  });
});

describe("a refund formatted for people", () => {
  const shown: ShownRefund = {
    refundId: "1",
    chainId: 1,
    address: ADDRESS,
    token: "mint",
    symbol: "USDC",
    amount: "500000",
    amountUnits: "0.5",
    refundTo: AUTHORITY,
    intent: "refund:1:1",
    policyReason: null,
    outcome: "pending",
    refusal: null,
    txHash: null,
    changed: true,
  };

  test("names the transaction once it exists, the recipient and the amount", () => {
    expect(formatAddressRefund(shown)).toBe(
      `0.5 USDC of ${ADDRESS} will be refunded to ${AUTHORITY}, and to nobody else.\n` +
        "The settler has not signed refund:1:1 yet; does it run?\n" +
        "Run the same command again to see its progress; it requests no second refund meanwhile.",
    );
    expect(formatAddressRefund({ ...shown, txHash: "5x" })).toContain(
      "It was sent as 5x, and is not final yet.",
    );
    expect(formatAddressRefund({ ...shown, txHash: "5x", outcome: "refunded" })).toBe(
      `0.5 USDC of ${ADDRESS} were refunded to ${AUTHORITY} in 5x, which is final.`,
    );
    expect(formatAddressRefund({ ...shown, changed: false, outcome: "failed" })).toBe(
      `The refund of 0.5 USDC of ${ADDRESS} failed (it was requested before): nothing was paid. Remove the cause, then run this command again.`,
    );
  });
});
