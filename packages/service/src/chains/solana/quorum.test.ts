/** Several nodes over real HTTP, of which one lies: hidden, invented or forged blocks, and forged state. */
import { getBlockAfter, listNativeTransfers } from "../../../test/support/read-block.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Said,
  type TamperingProxy,
  startTamperingProxy,
} from "../../../test/support/tampering-proxy.ts";
import { commitmentOf } from "../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../test/support/solana-world.ts";
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { Chain } from "../port/index.ts";

const UNAVAILABLE = { code: "RPC_UNAVAILABLE" };
const SKIPPED = { error: { code: -32007, message: "Slot was skipped" } };

let world: SolanaWorld;
let liar: TamperingProxy;

beforeAll(async () => {
  world = await startSolanaWorld();
  liar = await startTamperingProxy(world.sandbox.url);
});
afterEach(() => {
  liar.tamper = (_, said) => said;
});
afterAll(async () => {
  await liar.close();
  await world.close();
});

const alone = () => world.connect([liar.url], 1);
/** Connects one liar and the honest node twice. */
const outvoted = () => world.connect([liar.url, world.sandbox.url, world.sandbox.url], 2);

/** Makes a final deposit in its own block, between skipped slots. */
async function depositBetweenSkips() {
  const { sandbox, here } = world;
  const wallet = await world.issue(commitmentOf(1));
  const before = await here.getHead();
  await sandbox.skipSlots(3);
  await world.give(NATIVE_SOL, wallet, 5_000_000n);
  await sandbox.skipSlots(100);
  await world.finalize();
  return { wallet, before };
}

/** Scans the chain from a block on and sums a wallet's deposits. */
async function scan(chain: Chain, from: { number: bigint; hash: string }, wallet: Address) {
  let tip = from;
  let sum = 0n;
  for (;;) {
    const next = await getBlockAfter(chain, tip.number);
    if (next === null) return { tip, sum };
    expect(next.parentHash).toBe(tip.hash);
    const arrived = await listNativeTransfers(chain, next, async () => new Set([wallet]));
    sum += arrived.reduce((total, { amount }) => total + amount, 0n);
    tip = next;
  }
}

describe("blocks", () => {
  test("follow each other across skipped slots", async () => {
    const { wallet, before } = await depositBetweenSkips();
    const { sum, tip } = await scan(world.here, before, wallet);
    expect(sum).toBe(5_000_000n);
    expect(tip.number).toBe(await world.here.getFinalNumber());
    // A slot that is not final has no block yet.
    expect(await getBlockAfter(world.here, tip.number)).toBeNull();
    expect(await world.here.getBlock(tip.number + 1n)).toBeNull();
    expect(await world.here.getBlock(before.number + 1n)).toBeTruthy();
  });

  test("count as skipped by the parent of the next block, not by a node's word", async () => {
    const { sandbox, here } = world;
    const slot = await sandbox.tick();
    await sandbox.skipSlots(2);
    await world.finalize();
    expect(await here.getBlock(slot + 1n)).toBeNull();
    liar.tamper = ({ method, params }, said) =>
      method === "getBlock" && params[0] === Number(slot) ? SKIPPED : said;
    await expect(alone().getBlock(slot)).rejects.toMatchObject(UNAVAILABLE);
    expect(await outvoted().getBlock(slot)).toMatchObject({ number: slot });
  });

  test("missing from a list are found through the next block's parent", async () => {
    const { wallet, before } = await depositBetweenSkips();
    liar.tamper = ({ method }, said) =>
      method === "getBlocksWithLimit" && Array.isArray(said.result)
        ? { result: said.result.filter((slot) => slot % 5 === 0) }
        : said;
    expect((await scan(alone(), before, wallet)).sum).toBe(5_000_000n);
  });

  test("hidden by every node stop the scan and are never passed over", async () => {
    const { wallet, before } = await depositBetweenSkips();
    const next = await getBlockAfter(world.here, before.number);
    liar.tamper = ({ method, params }, said) => {
      if (method === "getBlock" && params[0] === Number(next?.number)) return SKIPPED;
      if (method === "getBlocksWithLimit" && Array.isArray(said.result)) {
        return { result: said.result.filter((slot) => slot !== Number(next?.number)) };
      }
      return said;
    };
    await expect(scan(alone(), before, wallet)).rejects.toMatchObject(UNAVAILABLE);
    expect((await scan(outvoted(), before, wallet)).sum).toBe(5_000_000n);
  });

  test("invented by one node in a list do not delay the scan", async () => {
    const { wallet, before } = await depositBetweenSkips();
    liar.tamper = ({ method }, said) =>
      method === "getBlocksWithLimit" && Array.isArray(said.result)
        ? { result: [Number(before.number) + 1, Number(before.number) + 2, ...said.result] }
        : said;
    expect((await scan(outvoted(), before, wallet)).sum).toBe(5_000_000n);
  });

  test.each([
    ["another amount", "postBalances"],
    ["no transactions", "transactions"],
    ["another time", "blockTime"],
    ["another hash", "blockhash"],
  ])(
    "forged with %s are outvoted by two nodes, and stop the scan with only one other",
    async (_, field) => {
      const { wallet, before } = await depositBetweenSkips();
      liar.tamper = ({ method }, said) => (method === "getBlock" ? forge(said, field) : said);
      expect((await scan(outvoted(), before, wallet)).sum).toBe(5_000_000n);
      const two = world.connect([liar.url, world.sandbox.url], 2);
      await expect(scan(two, before, wallet)).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  test("credit nothing from a failed transaction, whatever balances it shows [T34]", async () => {
    const { wallet, before } = await depositBetweenSkips();
    expect((await scan(alone(), before, wallet)).sum).toBe(5_000_000n);
    const failed = (key: string, value: unknown) => (key === "err" ? "AccountInUse" : value);
    liar.tamper = ({ method }, said) =>
      method === "getBlock" ? JSON.parse(JSON.stringify(said, failed)) : said;
    expect((await scan(alone(), before, wallet)).sum).toBe(0n);
  });

  test("with an unsupported transaction version are a configuration error [T35]", async () => {
    const { before } = await depositBetweenSkips();
    liar.tamper = ({ method }, said) =>
      method === "getBlock"
        ? { error: { code: -32015, message: "Transaction version (2) is not supported" } }
        : said;
    await expect(getBlockAfter(alone(), before.number)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      details: { reason: "transaction version" },
    });
  });

  test("that no list names are found back from the newest final block", async () => {
    const { wallet, before } = await depositBetweenSkips();
    liar.tamper = ({ method }, said) => (method === "getBlocksWithLimit" ? { result: [] } : said);
    expect((await scan(alone(), before, wallet)).sum).toBe(5_000_000n);
    // Too far behind the newest block, this fails instead of reporting the end of the chain.
    await world.sandbox.tick(100);
    const chain = alone();
    await expect(getBlockAfter(chain, before.number)).rejects.toMatchObject(UNAVAILABLE);
    liar.tamper = (_, said) => said;
    expect((await scan(chain, before, wallet)).sum).toBe(5_000_000n);
  });

  test("that fail once each are read once each, although no list names them", async () => {
    const { here, sandbox } = world;
    const from = (await here.getHead()).number;
    await sandbox.tick(40);
    const { number: newest } = await here.getHead();
    const asked = new Map<unknown, number>();
    let answered = 0;
    liar.tamper = ({ method, params }, said) => {
      if (method === "getBlocksWithLimit") return { result: [] };
      if (method !== "getBlock") return said;
      const [slot] = params;
      asked.set(slot, (asked.get(slot) ?? 0) + 1);
      if (asked.get(slot) === 1) return 500;
      answered += 1;
      return said;
    };
    const chain = alone();
    let tip = from;
    for (let reads = 0; tip < newest; reads += 1) {
      expect(reads).toBeLessThan(100);
      tip = (await getBlockAfter(chain, tip).catch(() => null))?.number ?? tip;
    }
    expect(answered).toBe(Number(newest - from));
  });

  test("far behind are found, also right after newer ones were read", async () => {
    const { wallet, before } = await depositBetweenSkips();
    await world.sandbox.tick(100);
    const skipped = (await world.sandbox.tick()) + 1n;
    await world.sandbox.skipSlots(1);
    await world.finalize();
    const chain = alone();
    expect(await chain.getBlock(skipped)).toBeNull();
    expect((await scan(chain, before, wallet)).sum).toBe(5_000_000n);
  });
});

describe("state", () => {
  test("forged by one node is outvoted [T40]", async () => {
    const { wallet } = await depositBetweenSkips();
    const truth = await world.here.getBalance(NATIVE_SOL, wallet);
    liar.tamper = ({ method }, said) =>
      method === "getMultipleAccounts"
        ? { result: { context: { slot: 9_000_000 }, value: [null] } }
        : said;
    expect(await alone().getBalance(NATIVE_SOL, wallet)).toBe(0n);
    expect(await outvoted().getBalance(NATIVE_SOL, wallet)).toBe(truth);
    // The slot of one node does not count either.
    const { asOf } = await outvoted().readHolding(NATIVE_SOL, wallet);
    expect(asOf).toBeLessThan(9_000_000n);
  });

  test("of a slot before the final one is rejected [T40]", async () => {
    const { wallet } = await depositBetweenSkips();
    liar.tamper = ({ method }, said) =>
      method === "getMultipleAccounts"
        ? { result: { context: { slot: 100 }, value: [null] } }
        : said;
    await expect(alone().getBalance(NATIVE_SOL, wallet)).rejects.toMatchObject(UNAVAILABLE);
  });

  test("without its slot or malformed is rejected [T40]", async () => {
    const { wallet } = await depositBetweenSkips();
    for (const result of [
      null,
      [],
      { value: [null] },
      { context: {}, value: [null] },
      { context: { slot: "5" }, value: [null] },
      { context: { slot: 9_000_000 }, value: [] },
      { context: { slot: 9_000_000 }, value: [{ lamports: -1, owner: "x", data: ["", "base64"] }] },
    ]) {
      liar.tamper = ({ method }, said) => (method === "getMultipleAccounts" ? { result } : said);
      await expect(alone().getBalance(NATIVE_SOL, wallet)).rejects.toMatchObject(UNAVAILABLE);
    }
  });

  test.each(["simulateTransaction", "getTokenAccountsByOwner"])(
    "from %s is rejected without its slot or from before the final one [T40]",
    async (dropped) => {
      const { usdc, here } = world;
      const commitment = commitmentOf(3);
      const wallet = await world.issue(commitment);
      await world.give(usdc, wallet, 5n);
      await world.finalize();
      const ask = async (chain: Chain) => {
        await chain.readHolding(usdc, wallet);
        const call = chain.wallets.buildRefund(commitment, usdc, { amount: 5n, reason: null });
        expect(await chain.simulate(world.deployment.facts.feePayer, call)).toMatchObject({
          ok: true,
        });
      };
      const final = await here.getFinalNumber();
      for (const context of [{}, { slot: null }, { slot: Number(final) - 1 }]) {
        liar.tamper = ({ method }, said) =>
          // CAST: an answer that has a context.
          method === dropped ? { result: { ...(said.result as object), context } } : said;
        await expect(ask(alone())).rejects.toMatchObject(UNAVAILABLE);
        await ask(outvoted());
      }
    },
  );

  test("is read with the final slot as minimum, and sending skips the node's preflight [T40]", async () => {
    const { usdc } = world;
    const commitment = commitmentOf(4);
    const wallet = await world.issue(commitment);
    await world.give(usdc, wallet, 5n);
    await world.finalize();
    const final = await world.here.getFinalNumber();
    const asked = new Map<string, unknown>();
    liar.tamper = ({ method, params }, said) => {
      asked.set(method, params.at(-1));
      return said;
    };
    const here = alone();
    await here.readHolding(NATIVE_SOL, wallet);
    const held = await here.readHolding(usdc, wallet);
    const call = here.wallets.buildRefund(commitment, usdc, { ...held, reason: null });
    expect(await here.simulate(world.deployment.facts.feePayer, call)).toMatchObject({ ok: true });
    await here.send((await world.sign(call)).raw);
    await world.finalize();
    const found = { wallet, token: usdc, fromBlock: final };
    expect(await here.findRefund(found)).toMatchObject({ amount: 5n });
    for (const method of [
      "getMultipleAccounts",
      "getTokenAccountsByOwner",
      "simulateTransaction",
    ]) {
      expect([method, asked.get(method)]).toMatchObject([
        method,
        { minContextSlot: Number(final) },
      ]);
    }
    expect(asked.get("getSignaturesForAddress")).toMatchObject({
      minContextSlot: Number(await world.here.getFinalNumber()),
    });
    expect(asked.get("sendTransaction")).toMatchObject({ skipPreflight: true });
  });

  test("is read from enough nodes while another limits the rate", async () => {
    const { wallet } = await depositBetweenSkips();
    const truth = await world.here.getBalance(NATIVE_SOL, wallet);
    liar.tamper = () => 429;
    expect(await outvoted().getBalance(NATIVE_SOL, wallet)).toBe(truth);
    await expect(alone().getBalance(NATIVE_SOL, wallet)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("lifetimes", () => {
  test("are computed from a block that enough nodes have, not from one node's answer", async () => {
    const truth = await world.here.sequencing.getLifetime();
    liar.tamper = ({ method }, said) => (method === "getBlock" ? forge(said, "blockHeight") : said);
    expect(await outvoted().sequencing.getLifetime()).toEqual(truth);
    liar.tamper = ({ method }, said) => (method === "getBlockHeight" ? { result: 9e9 } : said);
    expect(await outvoted().sequencing.isExpired(truth)).toBe(false);
  });

  test("follow the quorum when one node denies that a transaction was mined", async () => {
    const commitment = commitmentOf(2);
    const wallet = await world.issue(commitment);
    await world.give(NATIVE_SOL, wallet, 5_000_000n);
    await world.finalize();
    const call = world.here.wallets.buildRefund(commitment, NATIVE_SOL, {
      amount: 5_000_000n,
      reason: null,
    });
    const { txHash } = await world.execute(call);
    liar.tamper = ({ method }, said) => (method === "getTransaction" ? { result: null } : said);
    expect(await outvoted().getReceipt(txHash)).toMatchObject({ succeeded: true });
  });
});

/** Changes every value with a field's name in a result. */
function forge(said: Said, field: string): Said {
  if (said.error) return said;
  const text = JSON.stringify(said.result, (key, value: unknown) => {
    if (key !== field) return value;
    if (typeof value === "number") return value + 1;
    if (typeof value === "string") return `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}`;
    if (field === "transactions") return [];
    return Array.isArray(value) ? value.map((one) => Number(one) + 1) : value;
  });
  return { result: JSON.parse(text) };
}
