import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyPairSignerFromBytes, getBase58Encoder, type KeyPairSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRunning, waitForEnd } from "../processes.ts";
import { SOLANA_TOKENS } from "./genesis.ts";
import { openSolanaNode, type SolanaNode, type SolanaNodeOptions } from "./node.ts";
import { fundSolanaPayers, loadSolanaPayers } from "./payers.ts";
import { codeOf, connectWallet } from "./test-wallet.ts";

let dir: string;
let node: SolanaNode;

const open = async (options: Partial<SolanaNodeOptions> = {}) => {
  node = await openSolanaNode({ dir, port: 0, ...options });
  return node;
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-solana-node-"));
});

afterEach(async () => {
  await node.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function openWithPayer() {
  await open();
  const payers = await loadSolanaPayers(join(dir, "keys"));
  await fundSolanaPayers(node, payers);
  return { payers, signer: await signerOf(payers[0]?.secretKey) };
}

function signerOf(secretKey = ""): Promise<KeyPairSigner> {
  return createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
}

describe("node", () => {
  test("is adopted while it is running, and resumed from its file after it was stopped", async () => {
    const first = await open();
    expect(first.origin).toBe("new");
    const slot = await first.controls.tick(5);
    const adopted = await open();
    expect([adopted.origin, adopted.process]).toEqual(["adopted", first.process]);
    await adopted.stop();
    const restarted = await open();
    expect(restarted.origin).toBe("loaded");
    expect(await restarted.controls.tick()).toBeGreaterThan(slot);
  });

  test("names port and option when the port is in use", async () => {
    const { rpcUrl } = await open();
    const port = Number(new URL(rpcUrl).port);
    const elsewhere = join(dir, "elsewhere");
    await expect(openSolanaNode({ dir: elsewhere, port })).rejects.toThrow(
      `port ${port} (the node of solana) is in use: stop the process that uses it, or choose another port with --solana-port`,
    );
  });

  test("loses nothing when it is killed", async () => {
    const { signer, payers } = await openWithPayer();
    const wallet = connectWallet(node.rpcUrl);
    const signature = await wallet.send(signer, [
      getTransferSolInstruction({
        source: signer,
        destination: (payers[1] ?? signer).address,
        amount: 7_000_000n,
      }),
    ]);
    await node.controls.tick();
    const landed = await wallet.statusOf(signature);
    process.kill(node.process.pid, "SIGKILL");
    await waitForEnd(node.process, 5_000);
    expect(isRunning(node.process)).toBe(false);
    await open();
    const restarted = connectWallet(node.rpcUrl);
    expect(await restarted.statusOf(signature)).toMatchObject({ slot: landed?.slot, err: null });
    const balances = await Promise.all(payers.map(({ address }) => restarted.balanceOf(address)));
    expect(balances).toEqual([999_992_995_000n, 1_000_007_000_000n, 1_000_000_000_000n]);
  });

  test("funds its accounts with lamports and every token, once", async () => {
    const { payers } = await openWithPayer();
    await fundSolanaPayers(node, payers);
    const wallet = connectWallet(node.rpcUrl);
    const { mint } = SOLANA_TOKENS.WETH;
    const supply = await wallet.rpc.getTokenSupply(mint, { commitment: "processed" }).send();
    expect(supply.value).toMatchObject({ amount: "30000000000000", decimals: 8 });
  });

  test("produces slots by the clock, more slowly while idle", async () => {
    await open({ slotMs: 10, idleSlotMs: 60_000 });
    const wallet = connectWallet(node.rpcUrl);
    const slotOf = (commitment: "processed" | "finalized") =>
      wallet.rpc.getSlot({ commitment }).send();
    const idle = await slotOf("processed");
    const { address } = await wallet.newSigner();
    await node.controls.airdrop({ to: address, amount: 1_000_000n });
    expect(await slotOf("processed")).toBeGreaterThan(idle);
    await expect
      .poll(() => wallet.balanceOf(address, "finalized"), { timeout: 10_000, interval: 20 })
      .toBe(1_000_000n);
    // One block more than finality needs, then none for a minute.
    await expect
      .poll(async () => (await slotOf("processed")) - (await slotOf("finalized")), {
        timeout: 10_000,
      })
      .toBe(32n);
    await node.controls.pause();
    const still = await slotOf("processed");
    await node.controls.skipSlots(2);
    expect(await node.controls.tick()).toBe(still + 3n);
    await node.controls.resume();
  });

  test("has the same controls as a chain in process", async () => {
    await open({ slotMs: 0 });
    const { controls } = node;
    const wallet = connectWallet(node.rpcUrl);
    const { address } = await wallet.newSigner();
    await controls.setLags({ confirmed: 1, finalized: 3 });
    await controls.setRent(696n);
    expect(await wallet.rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(89_088n);
    const mint = await controls.createMint({
      decimals: 6,
      transferFee: { basisPoints: 50, maximum: 18_446_744_073_709_551_615n },
    });
    await controls.mintTo({ mint, owner: address, amount: 18_446_744_073_709_551_615n });
    const supply = await wallet.rpc.getTokenSupply(mint, { commitment: "processed" }).send();
    expect(supply.value.amount).toBe("18446744073709551615");
    const tip = await controls.tick(4);
    expect(await controls.fork({ blocks: 2 })).toEqual([tip, tip - 1n]);
    await controls.rateLimitNext(1);
    await expect(wallet.rpc.getSlot().send()).rejects.toThrow("429");
    await controls.failNext({ method: "getSlot", code: -32009, message: "a lie" });
    await expect(codeOf(wallet.rpc.getSlot().send())).resolves.toBe(-32009);
    await controls.dropNextSends(1);
    await controls.clearFaults();
    await expect(controls.mintTo({ mint: address, owner: address, amount: 1n })).rejects.toThrow(
      `mintTo: ${address} is not a mint`,
    );
  });
});
