import { generateKeyPairSigner, type KeyPairSigner, lamports } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSolanaChain, type SolanaChain } from "./index.ts";
import { connectWallet, type TestWallet } from "./test-wallet.ts";

let chain: SolanaChain;
let wallet: TestWallet;
let payer: KeyPairSigner;

beforeEach(async () => {
  chain = await createSolanaChain();
  wallet = connectWallet(chain.url);
  payer = await generateKeyPairSigner();
  await chain.airdrop({ to: payer.address, amount: 10_000_000_000n });
});

afterEach(() => chain.close());

describe("SOL", () => {
  test("moves, and the block shows every balance before and after", async () => {
    const { address } = await generateKeyPairSigner();
    const amount = lamports(1_500_000_000n);
    const signature = await wallet.send(payer, [
      getTransferSolInstruction({ source: payer, destination: address, amount }),
    ]);
    const slot = await chain.tick();
    expect(await wallet.balanceOf(address)).toBe(1_500_000_000n);
    expect(await wallet.balanceOf(address, "finalized")).toBe(0n);
    await chain.tick(32);
    expect(await wallet.balanceOf(address, "finalized")).toBe(1_500_000_000n);
    const block = await wallet.rpc
      .getBlock(slot, {
        commitment: "finalized",
        transactionDetails: "accounts",
        maxSupportedTransactionVersion: 1,
        rewards: false,
      })
      .send();
    expect(block?.transactions).toHaveLength(1);
    expect(block?.transactions[0]).toMatchObject({
      transaction: {
        signatures: [signature],
        accountKeys: [
          { pubkey: payer.address, signer: true, writable: true },
          { pubkey: address, signer: false, writable: true },
          { pubkey: "11111111111111111111111111111111", signer: false, writable: false },
        ],
      },
      meta: {
        err: null,
        fee: 5_000n,
        preBalances: [10_000_000_000n, 0n, 1n],
        postBalances: [8_499_995_000n, 1_500_000_000n, 1n],
      },
    });
  });
});
