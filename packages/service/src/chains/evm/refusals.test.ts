import { describe, expect, test } from "vitest";
import { classifyRefusal } from "./refusals.ts";

describe("a node's refusal of a transaction", () => {
  test.each([
    ["already known", "known"],
    ["ALREADY_EXISTS: already known", "known"],
    ["transaction already imported", "known"],
    ["AlreadyKnown", "known"],
    ["Known transaction", "known"],
    ["known transaction: 0xabc", "known"],
    ["existing tx with same hash", "known"],
    ["nonce too low", "nonce_too_low"],
    ["nonce too low: next nonce 5, tx nonce 4", "nonce_too_low"],
    ["Transaction nonce is too low. Try incrementing the nonce.", "nonce_too_low"],
    ["OldNonce", "nonce_too_low"],
    ["transaction underpriced", "underpriced"],
    ["replacement transaction underpriced", "underpriced"],
    ["transaction underpriced: tip needed 1, tip permitted 0", "underpriced"],
    ["could not replace existing tx", "underpriced"],
    ["ReplacementNotAllowed", "underpriced"],
    ["FeeTooLow, EffectiveGasPrice too low", "underpriced"],
    ["FeeTooLowToCompete", "underpriced"],
    ["max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1", "underpriced"],
    ["feecap less than block base fee", "underpriced"],
    ["fee cap less than block base fee", "underpriced"],
    ["Gas price below configured minimum gas price", "underpriced"],
    ["insufficient funds for gas * price + value", "insufficient_funds"],
    ["Insufficient funds for gas * price + value", "insufficient_funds"],
    ["InsufficientFunds, Account balance: 0", "insufficient_funds"],
    ["Upfront cost exceeds account balance", "insufficient_funds"],
    ["Sender doesn't have enough funds to send tx", "insufficient_funds"],
    ["intrinsic gas too low", "unknown"],
    ["nonce too high", "unknown"],
    ["unknown transaction type", "unknown"],
    ["txpool is full", "unknown"],
    ["tx fee (2.00 ether) exceeds the configured cap (1.00 ether)", "unknown"],
    ["rate limit exceeded", "unknown"],
    ["", "unknown"],
  ])("%j is read as %s", (message, outcome) => {
    expect(classifyRefusal(message)).toBe(outcome);
  });
});
