/** The inspector against a node of the sandbox, with the real programs; what it lacks or changes is meddled in. */
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

test("a node shows its chain: heads, blocks, version, and how far back it reaches", async () => {
  const [head, final] = [await inspector.getHead("latest"), await inspector.getHead("final")];
  expect(head.number).toBeGreaterThan(final.number);
  expect(head.timestamp).toBeGreaterThanOrEqual(final.timestamp);
  expect(await inspector.getGenesisHash()).toBe(fromBase58(GENESIS_HASH));
  expect(await inspector.getVersion()).toMatch(/^solana-core \d/);
  expect(await inspector.getFirstSlot()).toBeLessThan(final.number);
  expect(await inspector.countTransactions()).toBeGreaterThanOrEqual(0);
});

test("a block's hash changes with what the node shows in it, and a skipped slot has none", async () => {
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

test("transactions of a version that is not understood are no trouble of the node's", async () => {
  proxy.tamper = ({ method }, said) =>
    method === "getBlock" ? { error: { code: -32_015, message: "version" } } : said;
  await expect(inspector.countTransactions()).rejects.toMatchObject({ code: "CONFIG_MISSING" });
});

test("memos are kept, lost, or nobody wrote one", async () => {
  const { facts } = world.deployment;
  const accounts = [facts.feePayer, facts.escrow];
  expect(await inspector.findMemos(accounts)).toEqual({ kind: "none" });
  const commitment = commitmentOf(1);
  const wallet = await world.issue(commitment);
  await world.give(world.usdc, wallet, 1_000_000n);
  await world.finalize();
  const held = await world.here.readHolding(world.usdc, wallet);
  const { txHash } = await world.execute(world.here.buildRefund(commitment, world.usdc, held));
  expect(await inspector.findMemos(accounts)).toEqual({ kind: "kept", txHash });
  // Not ours, but of the program that wrote it.
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

test("a mint is what it is configured as, or has a fault", async () => {
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

test("accounts are seen as they are: wallets, tokens, and what is not there", async () => {
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

test("what pays a recipient takes the rent of two accounts more", async () => {
  const without = await inspector.getTransactionCost(false);
  expect(without).toBeGreaterThanOrEqual(15_000n);
  expect((await inspector.getTransactionCost(true)) - without).toBe(
    (165n + 128n + 1n + 128n) * 6_960n,
  );
});
