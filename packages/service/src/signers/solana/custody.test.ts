/** The signer's transactions, executed by the SVM with the real token programs. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  SOL,
  startCustody,
  type TestCustody,
  towardsBase,
  walletOf,
} from "../../../test/support/solana-custody.ts";
import { decodeTransaction } from "../../chains/solana/transaction.ts";
import { NATIVE_SOL } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";

let custody: TestCustody;
beforeEach(async () => {
  custody = await startCustody();
});
afterEach(() => custody.close());

const DEPOSIT = 1_000_000n;

describe("the signer signs, and the chain executes,", () => {
  test("a lock, and its claim to the treasury", async () => {
    const { world, token, treasury } = custody;
    const lock = custody.lock(1);
    await custody.fund(lock.commitment, token, DEPOSIT);
    expect(await custody.execute(lock)).toBeNull();
    expect(await world.tokensOf(custody.vaultOf(lock.commitment), token)).toBe(0n);
    expect(await custody.execute(await custody.claim(lock))).toBeNull();
    expect(await world.tokensOf(treasury, token)).toBe(DEPOSIT);
  });

  test("a lock, and its return to the vault", async () => {
    const { world, token } = custody;
    const lock = custody.lock(1);
    await custody.fund(lock.commitment, token, DEPOSIT);
    expect(await custody.execute(lock)).toBeNull();
    expect(await custody.execute(await custody.giveBack(lock))).toBeNull();
    expect(await world.tokensOf(custody.vaultOf(lock.commitment), token)).toBe(DEPOSIT);
  });

  test("a lock of SOL at an attested price, and its claim", async () => {
    const { world, treasury } = custody;
    const lock = await custody.lockSol(1);
    await custody.fund(lock.commitment, NATIVE_SOL, SOL);
    expect(await custody.execute(lock)).toBeNull();
    expect(world.solOf(custody.vaultOf(lock.commitment))).toBe(0n);
    expect(await custody.execute(await custody.claim(lock))).toBeNull();
    expect(world.solOf(treasury)).toBe(SOL);
  });

  test("deliveries of a token and of SOL, each once", async () => {
    const { world, token } = custody;
    expect(await custody.execute(await custody.deliver(1))).toBeNull();
    expect(await world.tokensOf(walletOf(1_001), token)).toBe(DEPOSIT);
    const order = await custody.deliver(2, NATIVE_SOL);
    expect(await custody.execute(order)).toBeNull();
    expect(world.solOf(walletOf(1_002))).toBe(SOL);
    custody.grow(200n);
    expect(await custody.execute(order)).not.toBeNull();
    expect(world.solOf(walletOf(1_002))).toBe(SOL);
  });

  test("a refund for a reason that its readers show; refuses one that they contradict [T203]", async () => {
    custody.close();
    const asked: unknown[] = [];
    custody = await startCustody({
      async checkRefund(refund) {
        asked.push(refund);
        if (refund.reason !== "below_minimum") throw new SignerRefusal("above_minimum");
      },
    });
    const { world, token } = custody;
    const refund = custody.refund(2);
    await custody.fund(towardsBase(2), token, 2n * refund.amount);
    await expect(custody.execute({ ...refund, reason: "dead" })).rejects.toThrow("above_minimum");
    expect(await world.tokensOf(walletOf(2_002), token)).toBeNull();
    expect(await custody.execute({ ...refund, reason: "below_minimum" })).toBeNull();
    expect(await world.tokensOf(walletOf(2_002), token)).toBe(refund.amount);
    const { commitment, amount } = refund;
    const wallet = custody.vaultOf(commitment);
    const judged = { chainId: 1, wallet, commitment, token, amount };
    expect(asked).toEqual([
      { ...judged, reason: "dead" },
      { ...judged, reason: "below_minimum" },
    ]);
    // The authority's own request states none.
    expect(await custody.execute({ ...refund, reason: null })).toBeNull();
    expect(asked).toHaveLength(2);
  });

  test("a transfer less its fee, and refunds", async () => {
    const { world, token, treasury } = custody;
    const transfer = custody.transfer(1);
    await custody.fund(transfer.commitment, token, DEPOSIT);
    expect(await custody.execute(transfer)).toBeNull();
    expect(await world.tokensOf(walletOf(1_001), token)).toBe(DEPOSIT - 1_000n);
    expect(await world.tokensOf(treasury, token)).toBe(1_000n);
    const ofSol = custody.transfer(3, NATIVE_SOL, 0n);
    await custody.fund(ofSol.commitment, NATIVE_SOL, SOL);
    expect(await custody.execute(ofSol)).toBeNull();
    expect(world.solOf(walletOf(1_003))).toBe(SOL);
    for (const asset of [token, NATIVE_SOL]) {
      const refund = custody.refund(2, asset);
      await custody.fund(towardsBase(2), asset, refund.amount);
      expect(await custody.execute(refund)).toBeNull();
    }
    expect(await world.tokensOf(walletOf(2_002), token)).toBe(DEPOSIT);
    expect(world.solOf(walletOf(2_002))).toBe(SOL);
  });

  test("a delivery that reduces the rest of the daily cap, also after a restart", async () => {
    const left = async () => custody.laneOf("deliver").getCapLeft?.(custody.token);
    const before = await left();
    const deliver = await custody.deliver(1);
    await custody.laneOf("deliver").sign(custody.intentOf([deliver]));
    expect(await left()).toBe((before ?? 0n) - deliver.order.amount);
    custody.restart();
    expect(await left()).toBe((before ?? 0n) - deliver.order.amount);
  });

  test("the same orders of one lifetime to the same bytes, with one journal entry", async () => {
    const { readFileSync } = await import("node:fs");
    const intent = custody.intentOf([custody.lock(1)]);
    const one = await custody.laneOf("settle").sign(intent);
    expect(await custody.laneOf("settle").sign(intent)).toEqual(one);
    custody.restart();
    expect(await custody.laneOf("settle").sign(intent)).toEqual(one);
    expect(readFileSync(custody.journal, "utf8").trim().split("\n")).toHaveLength(1);
    expect(decodeTransaction(one.raw)).toMatchObject({
      txHash: one.hash,
      blockhash: intent.lifetime?.blockhash,
    });
  });
});
