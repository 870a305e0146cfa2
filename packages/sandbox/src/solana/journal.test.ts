import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyPairSigner, type KeyPairSigner, lamports } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSolanaChain, SOLANA_TOKENS, type SolanaChain } from "./index.ts";
import { connectWallet, type TestWallet } from "./test-wallet.ts";

let dir: string;
let path: string;
let chain: SolanaChain;
let wallet: TestWallet;
let payer: KeyPairSigner;
let other: KeyPairSigner;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "sluice-solana-"));
  path = join(dir, "solana.chain");
  await open();
  [payer, other] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await chain.airdrop({ to: payer.address, amount: 10_000_000_000n });
});

afterEach(async () => {
  await chain.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(): Promise<void> {
  chain = await createSolanaChain({ path });
  wallet = connectWallet(chain.url);
}

async function reopen(): Promise<void> {
  await chain.close();
  await open();
}

const sendSol = (amount: bigint) =>
  wallet.send(payer, [
    getTransferSolInstruction({
      source: payer,
      destination: other.address,
      amount: lamports(amount),
    }),
  ]);

/** Returns everything that is visible to a reader of the chain. */
async function picture() {
  const { ledger } = chain.chain;
  const { mint } = SOLANA_TOKENS.USDC;
  const balances = await Promise.all(
    (["processed", "finalized"] as const).flatMap((commitment) => [
      wallet.balanceOf(payer.address, commitment),
      wallet.balanceOf(other.address, commitment),
      wallet.rpc.getTokenSupply(mint, { commitment }).send(),
    ]),
  );
  return {
    balances,
    blocks: ledger
      .all()
      .map(({ slot, blockhash, height, transactions }) => [
        slot,
        blockhash,
        height,
        transactions.map(({ decoded, meta }) => [decoded.signature, meta]),
      ]),
    open: chain.chain.openSlot(),
    final: ledger.tip("finalized").slot,
    rent: await wallet.rpc.getMinimumBalanceForRentExemption(0n).send(),
  };
}

describe("chain in a file", () => {
  test("is resumed with its blocks, balances at each commitment level, rent and forks", async () => {
    await sendSol(1_000_000_000n);
    await chain.tick(40);
    await sendSol(2_000_000_000n);
    await chain.tick();
    await chain.mintTo({ mint: SOLANA_TOKENS.USDC.mint, owner: other.address, amount: 5n });
    await chain.fork({ blocks: 1 });
    await chain.skipSlots(3);
    await chain.setRent(696n);
    const mint = await chain.createMint({ decimals: 2 });
    const before = await picture();
    await reopen();
    expect(await picture()).toEqual(before);
    // Twice, because the second start reads the file that the first has rewritten.
    await reopen();
    expect(await picture()).toEqual(before);
    expect((await wallet.rpc.getTokenSupply(mint).send()).value.decimals).toBe(2);
  });

  test("accepts transactions that were signed before the restart", async () => {
    const signed = await wallet.sign(payer, [
      getTransferSolInstruction({ source: payer, destination: other.address, amount: 3_000_000n }),
    ]);
    await reopen();
    await wallet.post(signed);
    await chain.tick();
    expect(await wallet.statusOf(signed.signature)).toMatchObject({ err: null });
    expect(await wallet.balanceOf(other.address)).toBe(3_000_000n);
  });

  test("does not include a transaction twice", async () => {
    const signature = await sendSol(1_000_000_000n);
    await chain.tick();
    const landed = await wallet.statusOf(signature);
    const bytes = chain.chain.ledger.transaction(signature)?.decoded.bytes;
    await reopen();
    const { wire } = { wire: Buffer.from(bytes ?? []).toString("base64") };
    await fetch(chain.url, {
      method: "POST",
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "sendTransaction",
        params: [wire, { encoding: "base64", skipPreflight: true }],
      }),
    });
    await chain.tick();
    expect((await wallet.statusOf(signature))?.slot).toBe(landed?.slot);
    expect(await wallet.balanceOf(other.address)).toBe(1_000_000_000n);
  });

  test("loses only a truncated last record", async () => {
    await sendSol(1_000_000_000n);
    await chain.tick();
    const before = await picture();
    const size = statSync(path).size;
    await chain.tick();
    await chain.close();
    truncateSync(path, size + 9);
    await open();
    expect(await picture()).toEqual(before);
  });

  test("of another format is rejected", async () => {
    await chain.close();
    truncateSync(path, 0);
    appendFileSync(path, "no chain");
    await expect(open()).rejects.toThrow("start again with --fresh");
    rmSync(path);
    await open();
  });
});
