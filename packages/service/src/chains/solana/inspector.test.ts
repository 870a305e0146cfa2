/** The inspector against a sandbox node with the real programs; a proxy removes or changes answers. */
import { GENESIS_HASH } from "@sluice/sandbox/solana";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type TamperingProxy, startTamperingProxy } from "../../../test/support/tampering-proxy.ts";
import { commitmentOf } from "../../../test/support/solana-svm.ts";
import { startSolanaWorld, type SolanaWorld } from "../../../test/support/solana-world.ts";
import { NATIVE_SOL, toAddress, toHex32 } from "../../core/hex.ts";
import type { SolanaInspector } from "../inspector.ts";
import { fromBase58 } from "./base58.ts";
import { createSolanaInspector } from "./inspector.ts";

const NOBODY = toAddress(`0x${"77".repeat(32)}`);
const USDC_FACTS = { program: "token", decimals: 6, hasTransferFee: false } as const;

let world: SolanaWorld;
let proxy: TamperingProxy;
let inspector: SolanaInspector;
beforeAll(async () => {
  world = await startSolanaWorld();
  proxy = await startTamperingProxy(world.sandbox.url);
  inspector = createSolanaInspector({
    chainId: 1,
    rpcUrl: proxy.url,
    timeoutMs: 5_000,
    genesisHash: toHex32(fromBase58(GENESIS_HASH)),
    pricedBy: [world.deployment.facts.escrow],
    unitPriceMax: 100_000n,
    rentPerByte: 6_960n,
  });
}, 60_000);
afterEach(() => {
  proxy.tamper = (_, said) => said;
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

test("reads heads, blocks, version and earliest block of a node", async () => {
  const [head, final] = [await inspector.getHead("latest"), await inspector.getHead("final")];
  expect(head.number).toBeGreaterThan(final.number);
  expect(head.timestamp).toBeGreaterThanOrEqual(final.timestamp);
  expect(await inspector.getGenesisHash()).toBe(fromBase58(GENESIS_HASH));
  expect(await inspector.getVersion()).toMatch(/^solana-core \d/);
  expect(await inspector.getFirstSlot()).toBeLessThan(final.number);
  expect(await inspector.countTransactions()).toBeGreaterThanOrEqual(0);
});

test("the hash of a block changes with its content, and a skipped slot has none", async () => {
  await world.give(NATIVE_SOL, NOBODY, 5_000_000n);
  const number = (await world.sandbox.tick()) - 1n;
  await world.finalize();
  const before = await inspector.getBlockHash(number);
  expect(before).toMatch(/^0x[0-9a-f]{64}$/);
  proxy.tamper = ({ method }, said) =>
    method === "getBlock" && "result" in said
      ? { result: JSON.parse(JSON.stringify(said.result).replaceAll("5000000", "5000001")) }
      : said;
  expect(await inspector.getBlockHash(number)).not.toBe(before);

  proxy.tamper = (_, said) => said;
  const skipped = (await world.sandbox.tick()) + 1n;
  await world.sandbox.skipSlots(1);
  await world.finalize();
  expect(await inspector.getBlockHash(skipped)).toBeNull();
});

test("an unsupported transaction version is not reported as a fault of the node", async () => {
  proxy.tamper = ({ method }, said) =>
    method === "getBlock" ? { error: { code: -32_015, message: "version" } } : said;
  await expect(inspector.countTransactions()).rejects.toMatchObject({ code: "CONFIG_MISSING" });
});

test("tells whether a node keeps memos, has lost them, or none was written", async () => {
  const { facts } = world.deployment;
  const accounts = [facts.feePayer, facts.escrow];
  expect(await inspector.findMemos(accounts)).toEqual({ kind: "none" });
  const commitment = commitmentOf(1);
  const wallet = await world.issue(commitment);
  await world.give(world.usdc, wallet, 1_000_000n);
  await world.finalize();
  const held = await world.here.readHolding(world.usdc, wallet);
  const { txHash } = await world.execute(
    world.here.wallets.buildRefund(commitment, world.usdc, { ...held, reason: null }),
  );
  expect(await inspector.findMemos(accounts)).toEqual({ kind: "kept", txHash });
  // Found in the history of the memo program.
  expect(await inspector.findMemos([])).toEqual({ kind: "kept", txHash });
  expect(await inspector.hasTransaction(txHash)).toBe(true);

  proxy.tamper = ({ method }, said) => {
    if (method === "getTransaction") return { result: null };
    if (method !== "getSignaturesForAddress") return said;
    // CAST: as the sandbox answers.
    const entries = said.result as readonly object[];
    return { result: entries.map((entry) => ({ ...entry, memo: null })) };
  };
  expect(await inspector.findMemos(accounts)).toEqual({ kind: "lost" });
  expect(await inspector.hasTransaction(txHash)).toBe(false);
});

test("reports the fault of a mint that differs from its configuration", async () => {
  expect(await inspector.findMintFault(world.usdc, USDC_FACTS)).toBeNull();
  expect(await inspector.findMintFault(world.usdc, { ...USDC_FACTS, decimals: 9 })).toBe(
    "decimals differ",
  );
  expect(await inspector.findMintFault(world.usdc, { ...USDC_FACTS, program: "token-2022" })).toBe(
    "token program differs",
  );
  expect(await inspector.findMintFault(NOBODY, USDC_FACTS)).toBe("token program differs");
  expect(await inspector.findMintFault(toAddress(`0x${"78".repeat(32)}`), USDC_FACTS)).toBe(
    "no account",
  );
  const facts = { program: "token-2022", decimals: 6, hasTransferFee: false } as const;
  const pausable = await world.createMint(facts, {
    decimals: 6,
    program: "token-2022",
    pausable: true,
  });
  expect(await inspector.findMintFault(pausable, facts)).toBe("extension PausableConfig");
});

test("tells apart wallets, token accounts and missing accounts", async () => {
  const { delivery, treasury } = world.deployment.facts;
  expect(await inspector.isWallet(treasury)).toBe(true);
  expect(await inspector.isWallet(world.usdc)).toBe(false);
  expect(await inspector.isWallet(toAddress(`0x${"79".repeat(32)}`))).toBeNull();
  expect(await inspector.findTokenAccount(delivery, world.usdc, "token")).toMatchObject({
    owner: delivery,
    isFrozen: false,
  });
  expect(await inspector.findTokenAccount(treasury, world.usdc, "token")).toBeNull();
  expect(await inspector.getCoinBalance(treasury)).toBeGreaterThan(0n);
});

test("a payment to a recipient needs the rent of two more accounts", async () => {
  const without = await inspector.getTransactionCost(false);
  expect(without).toBeGreaterThanOrEqual(15_000n);
  expect((await inspector.getTransactionCost(true)) - without).toBe(
    (165n + 128n + 1n + 128n) * 6_960n,
  );
});
