import {
  generateKeyPairSigner,
  type KeyPairSigner,
  lamports,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_CLEANED_UP,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSolanaChain, SOLANA_TOKENS, type SolanaChain } from "./index.ts";
import { codeOf, connectWallet, type TestWallet } from "./test-wallet.ts";

let chain: SolanaChain;
let wallet: TestWallet;
let payer: KeyPairSigner;
let other: KeyPairSigner;

beforeEach(async () => {
  chain = await createSolanaChain();
  wallet = connectWallet(chain.url);
  [payer, other] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await chain.airdrop({ to: payer.address, amount: 10_000_000_000n });
});

afterEach(() => chain.close());

const sendSol = (sol: bigint) =>
  wallet.send(payer, [
    getTransferSolInstruction({
      source: payer,
      destination: other.address,
      amount: lamports(sol * 1_000_000_000n),
    }),
  ]);

const block = (slot: bigint, commitment: "confirmed" | "finalized" = "finalized") =>
  wallet.rpc.getBlock(slot, { commitment, transactionDetails: "none", rewards: false }).send();

const slotAt = (commitment: "processed" | "confirmed" | "finalized") =>
  wallet.rpc.getSlot({ commitment }).send();

describe("blocks", () => {
  test("have the slot and hash of their parent, also across skipped slots", async () => {
    const before = await chain.tick();
    await chain.skipSlots(3);
    const after = await chain.tick();
    await chain.tick(32);
    expect(after - before).toBe(4n);
    const [parent, child] = [await block(before), await block(after)];
    expect(child).toMatchObject({
      parentSlot: before,
      previousBlockhash: parent?.blockhash,
      blockHeight: (parent?.blockHeight ?? 0n) + 1n,
    });
    const slots = await wallet.rpc.getBlocks(before, after).send();
    expect(slots).toEqual([before, after]);
    expect(await wallet.rpc.getBlocksWithLimit(before, 3).send()).toEqual([
      before,
      after,
      after + 1n,
    ]);
  });

  test("that do not exist have different errors for skipped, later and final slots", async () => {
    await chain.tick();
    await chain.skipSlots(1);
    const skipped = (await chain.tick()) - 1n;
    expect(await codeOf(block(skipped))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE,
    );
    await chain.tick(40);
    expect(await codeOf(block(skipped))).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED);
    const tip = await slotAt("processed");
    expect(await codeOf(block(tip))).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_NOT_AVAILABLE);
    expect(await codeOf(block(tip - 1n, "confirmed"))).toBeUndefined();
    expect(await codeOf(block(50n))).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_CLEANED_UP);
  });

  test("are confirmed with one and final with 32 blocks on top, or as set by setLags", async () => {
    const tip = await chain.tick(40);
    expect([await slotAt("confirmed"), await slotAt("finalized")]).toEqual([tip - 1n, tip - 32n]);
    await chain.setLags({ confirmed: 2, finalized: 8 });
    expect([await slotAt("confirmed"), await slotAt("finalized")]).toEqual([tip - 2n, tip - 8n]);
  });

  test("that are too old are removed and return the cleaned up error", async () => {
    await chain.close();
    chain = await createSolanaChain({ blocksMax: 50 });
    wallet = connectWallet(chain.url);
    await chain.tick(60);
    expect(await wallet.rpc.getFirstAvailableBlock().send()).toBe(111n);
    expect(await codeOf(block(110n))).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_BLOCK_CLEANED_UP);
    expect(await codeOf(block(111n))).toBeUndefined();
  });
});

describe("reads", () => {
  test("of accounts are exact at every commitment level", async () => {
    const read = async () => {
      const at = async (commitment: "processed" | "confirmed" | "finalized") =>
        (await wallet.rpc.getBalance(other.address, { commitment }).send()).value / 1_000_000_000n;
      return [await at("processed"), await at("confirmed"), await at("finalized")];
    };
    await sendSol(1n);
    await chain.tick();
    await sendSol(2n);
    await chain.tick();
    await sendSol(4n);
    await chain.tick();
    expect(await read()).toEqual([7n, 3n, 0n]);
    await chain.tick(30);
    expect(await read()).toEqual([7n, 7n, 1n]);
    await chain.tick(2);
    expect(await read()).toEqual([7n, 7n, 7n]);
  });

  test("of token accounts return only those that exist at the commitment level", async () => {
    const { mint } = SOLANA_TOKENS.USDC;
    await chain.mintTo({ mint, owner: other.address, amount: 9n });
    const count = async (commitment: "processed" | "finalized") => {
      const config = { encoding: "base64", commitment } as const;
      const { value } = await wallet.rpc
        .getTokenAccountsByOwner(other.address, { mint }, config)
        .send();
      return value.length;
    };
    expect([await count("processed"), await count("finalized")]).toEqual([1, 0]);
    await chain.tick(32);
    expect(await count("finalized")).toBe(1);
  });

  test("with a minContextSlot not yet reached are rejected", async () => {
    const minContextSlot = (await slotAt("finalized")) + 1n;
    expect(await codeOf(wallet.rpc.getBalance(other.address, { minContextSlot }).send())).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
    );
  });

  test("of the ledger reject the commitment level processed", async () => {
    const signature = await sendSol(1n);
    await chain.tick();
    const find = (commitment: "confirmed" | "finalized") =>
      wallet.rpc
        .getTransaction(signature, {
          commitment,
          maxSupportedTransactionVersion: 0,
          encoding: "json",
        })
        .send();
    expect(await find("confirmed")).toBeNull();
    await chain.tick();
    expect(await find("confirmed")).toMatchObject({ version: 0 });
    expect(await find("finalized")).toBeNull();
    const processed = fetchRpc("getBlock", [101, { commitment: "processed" }]);
    expect(await processed).toMatchObject({ error: { code: -32602 } });
    expect(SOLANA_ERROR__JSON_RPC__INVALID_PARAMS).toBe(-32602);
  });
});

describe("a fork", () => {
  test("removes a confirmed block with all of its transactions", async () => {
    await chain.tick(40);
    const final = await slotAt("finalized");
    const signature = await sendSol(3n);
    const slot = await chain.tick();
    await chain.tick();
    expect((await wallet.statusOf(signature))?.confirmationStatus).toBe("confirmed");

    expect(await chain.fork({ blocks: 2 })).toEqual([slot + 1n, slot]);
    expect(await wallet.statusOf(signature)).toBeNull();
    expect(await wallet.balanceOf(other.address)).toBe(0n);
    expect(await wallet.balanceOf(payer.address)).toBe(10_000_000_000n);
    expect(await slotAt("finalized")).toBe(final + 2n);
    const next = await chain.tick();
    expect(next).toBe(slot + 2n);
    expect(await wallet.rpc.getBlocks(slot, next, { commitment: "confirmed" }).send()).toEqual([]);
    await chain.tick(33);
    expect(await block(next)).toMatchObject({ parentSlot: slot - 1n });
    expect(await codeOf(block(slot))).toBe(SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SLOT_SKIPPED);
    const history = await wallet.rpc.getSignaturesForAddress(other.address).send();
    expect(history).toEqual([]);
  });

  test("with replay includes its transactions in later blocks", async () => {
    const signature = await sendSol(3n);
    const slot = await chain.tick();
    await chain.fork({ blocks: 1, replay: true });
    await chain.tick();
    expect(await wallet.statusOf(signature)).toMatchObject({ slot: slot + 1n, err: null });
    expect(await wallet.balanceOf(other.address)).toBe(3_000_000_000n);
  });

  test("drops a replayed transaction whose blockhash was removed too", async () => {
    await chain.tick();
    const { value: lifetime } = await wallet.rpc
      .getLatestBlockhash({ commitment: "processed" })
      .send();
    const signed = await wallet.sign(
      payer,
      [
        getTransferSolInstruction({
          source: payer,
          destination: other.address,
          amount: 1_000_000n,
        }),
      ],
      { lifetime },
    );
    await chain.fork({ blocks: 1 });
    await wallet.post(signed);
    await chain.tick();
    expect(await wallet.statusOf(signed.signature)).toBeNull();
  });

  test("deeper than finality replaces final blocks", async () => {
    const tip = await chain.tick(40);
    await chain.fork({ blocks: 36 });
    expect(await slotAt("finalized")).toBe(tip - 36n);
    await chain.tick(40);
    expect(await block(tip - 35n).catch(() => "gone")).toBe("gone");
  });
});

async function fetchRpc(method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(chain.url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return response.json();
}
