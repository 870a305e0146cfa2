/** Confirmed blocks that are not final, over real HTTP, with forks and nodes that lag, hide or lie. */
import {
  getBlockAfter,
  listNativeTransfers,
  listOutflows,
  listTransfers,
} from "../../../test/support/read-block.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  type Said,
  type Tamper,
  type TamperingProxy,
  startTamperingProxy,
} from "../../../test/support/tampering-proxy.ts";
import { commitmentOf } from "../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../test/support/solana-world.ts";
import { type Address, NATIVE_SOL, toHex32 } from "../../core/hex.ts";
import type { BlockRef, Chain } from "../port/index.ts";

const UNAVAILABLE = { code: "RPC_UNAVAILABLE" };
const SKIPPED = { error: { code: -32007, message: "Slot was skipped" } };
const AMOUNT = 5_000_000n;
const ID = toHex32(`0x${"31".repeat(32)}`);

let world: SolanaWorld;
let liar: TamperingProxy;
let count = 0;

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

const honest = () => world.connect([world.sandbox.url], 1, { seenAt: "confirmed" });
const alone = () => world.connect([liar.url], 1, { seenAt: "confirmed" });
/** Connects one liar and the honest node twice. */
const outvoted = () => {
  const { url } = world.sandbox;
  return world.connect([liar.url, url, url], 2, { seenAt: "confirmed" });
};

/** Makes a deposit in a confirmed block that is not final. */
async function depositUnfinal() {
  const commitment = commitmentOf(++count);
  const wallet = await world.issue(commitment);
  await world.finalize();
  const before = await honest().getHead();
  await world.give(NATIVE_SOL, wallet, AMOUNT);
  const newest = await world.sandbox.tick();
  return { commitment, wallet, before, newest };
}

/** Scans the chain from a block on and sums a wallet's deposits. */
async function scan(chain: Chain, from: BlockRef, wallet: Address) {
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

/** Answers like a node that has not passed a slot. */
const behind =
  (slot: bigint): Tamper =>
  ({ method, params }, said) => {
    if (method === "getSlot") return { result: Math.min(Number(said.result), Number(slot)) };
    if (method === "getBlock" && Number(params[0]) > slot) {
      return { error: { code: -32004, message: "Block not available for slot" } };
    }
    if (method === "getBlocksWithLimit" && Array.isArray(said.result)) {
      return { result: said.result.filter((one) => Number(one) <= slot) };
    }
    // CAST: sent by our own adapter.
    const { minContextSlot = 0 } = (params.at(-1) ?? {}) as { minContextSlot?: number };
    if (minContextSlot > slot) {
      return { error: { code: -32016, message: "Minimum context slot has not been reached" } };
    }
    return said;
  };

describe("a confirmed block", () => {
  test("is scanned, while balances are read only from final state", async () => {
    const { wallet, before, newest } = await depositUnfinal();
    const seen = honest();
    const { tip, sum } = await scan(seen, before, wallet);
    expect(sum).toBe(AMOUNT);
    // The newest block is confirmed once another follows it.
    expect(tip.number).toBe(newest - 1n);
    expect(await seen.getHead()).toEqual(tip);
    expect(await seen.getBlock(newest)).toBeNull();
    expect(await seen.findBalance(NATIVE_SOL, wallet)).toBe(AMOUNT);

    const final = await world.here.getFinalNumber();
    expect(final).toBeLessThan(tip.number - 20n);
    for (const chain of [seen, world.here]) {
      expect(await chain.getFinalNumber()).toBe(final);
      expect(await chain.getBalance(NATIVE_SOL, wallet)).toBe(0n);
      expect(await chain.readHolding(NATIVE_SOL, wallet)).toMatchObject({
        amount: 0n,
        asOf: final,
      });
      expect(await chain.balances.listHoldings([{ wallet, token: NATIVE_SOL }])).toEqual([
        { wallet, token: NATIVE_SOL, amount: 0n, at: final },
      ]);
    }
    expect(await world.here.findBalance(NATIVE_SOL, wallet)).toBe(0n);
    expect((await world.here.getHead()).number).toBe(final);
  });

  test("is null once its fork is dropped, after it was read [T41]", async () => {
    const { wallet, before } = await depositUnfinal();
    const seen = honest();
    const { tip } = await scan(seen, before, wallet);
    expect(await seen.getBlock(tip.number)).toEqual(tip);
    await world.sandbox.fork({ blocks: 3 });
    // The slot may still get another block.
    const shortened = await seen.getHead();
    expect(shortened.number).toBeLessThan(tip.number);
    expect(await seen.getBlock(tip.number)).toBeNull();
    await world.sandbox.tick(3);
    expect(await seen.getBlock(tip.number)).toBeNull();
    const after = await scan(seen, shortened, wallet);
    expect(after.tip.number).toBeGreaterThan(tip.number);
    expect(after.sum).toBe(0n);
    expect(await seen.findBalance(NATIVE_SOL, wallet)).toBe(0n);
  });

  test("listed ahead and then dropped does not hide the block that replaced it [T41]", async () => {
    const { wallet } = await depositUnfinal();
    await world.finalize();
    const seen = honest();
    const start = await seen.getHead();
    await world.sandbox.tick(25);
    // This read caches the list of the slots ahead.
    const first = await getBlockAfter(seen, start.number);
    await world.sandbox.fork({ blocks: 24 });
    await world.give(NATIVE_SOL, wallet, AMOUNT);
    await world.sandbox.tick(100);
    const tip = (await seen.getBlock(first?.number ?? 0n)) ?? start;
    let found: { readonly sum: bigint } | undefined;
    for (let looks = 0; found === undefined && looks < 10; looks += 1) {
      found = await scan(seen, tip, wallet).catch(() => undefined);
    }
    expect(found).toMatchObject({ sum: AMOUNT });
  });

  test("of a dropped fork that was not read before cannot be listed", async () => {
    const { wallet, before } = await depositUnfinal();
    const { tip } = await scan(honest(), before, wallet);
    // Fork after the block that the transaction names as its blockhash.
    await world.sandbox.fork({ blocks: 2, replay: true });
    await world.sandbox.tick(3);
    const late = honest();
    await expect(listTransfers(late, tip, [])).rejects.toMatchObject(UNAVAILABLE);
    await expect(listOutflows(late, tip)).rejects.toMatchObject(UNAVAILABLE);
    expect((await scan(late, before, wallet)).sum).toBe(AMOUNT);
  });

  test("contains an outflow only while the sweep is in that block", async () => {
    const { commitment, wallet } = await depositUnfinal();
    await world.finalize();
    const seen = honest();
    const before = await seen.getHead();
    const call = world.here.wallets.buildRefund(commitment, NATIVE_SOL, {
      amount: AMOUNT,
      reason: null,
    });
    const { raw } = await world.sign(call);
    await world.here.send(raw);
    await world.sandbox.tick(2);
    const listFrom = async (from: BlockRef) => {
      const found = [];
      for (let tip = from; ;) {
        const next = await getBlockAfter(seen, tip.number);
        if (next === null) return found;
        for (const outflow of await listOutflows(seen, next)) found.push({ block: next, outflow });
        tip = next;
      }
    };
    const outflow = { kind: "refunded", wallet, amount: AMOUNT, txHash: world.txHashOf(raw) };
    const [first, ...more] = await listFrom(before);
    expect(first).toMatchObject({ outflow });
    expect(more).toEqual([]);
    await world.sandbox.fork({ blocks: 2, replay: true });
    await world.sandbox.tick(3);
    const [again, ...others] = await listFrom(before);
    expect(again).toMatchObject({ outflow });
    expect(again?.block.number).toBeGreaterThan(first?.block.number ?? 0n);
    expect(others).toEqual([]);
    // The transaction is in another block now, so this block cannot be listed.
    if (!first) throw new Error("it was just found");
    await expect(listOutflows(seen, first.block)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("nodes that are partly behind", () => {
  test.each([
    ["one of three", 2, [null, null]],
    ["one of two that must agree", 2, [null]],
  ] as const)("do not stop the scan or turn it back: %s", async (_, required, others) => {
    const { wallet, before, newest } = await depositUnfinal();
    const { sandbox } = world;
    const urls = [liar.url, ...others.map(() => sandbox.url)];
    const chain = world.connect(urls, required, { seenAt: "confirmed" });
    const all = await scan(chain, before, wallet);
    expect(all).toMatchObject({ sum: AMOUNT, tip: { number: newest - 1n } });
    const slowest = newest - 1n;
    await sandbox.tick(10);
    liar.tamper = behind(slowest);
    const further = await scan(chain, all.tip, wallet);
    expect(further.tip.number).toBe(others.length === 2 ? newest + 9n : slowest);
    // The tip exists or is above the head; it is never reported as orphaned.
    liar.tamper = behind(slowest - 5n);
    const tip = await chain.getBlock(further.tip.number);
    const head = await chain.getHead();
    expect([tip, head.number]).toEqual(
      others.length === 2 ? [further.tip, further.tip.number] : [null, slowest - 5n],
    );
    expect(await honest().getBlock(head.number)).toEqual(head);
  });

  test("behind one address are retried until all of them have the block", async () => {
    const { before } = await depositUnfinal();
    const [chain, newest] = [alone(), await honest().getHead()];
    let left = 3;
    liar.tamper = ({ method, params }, said) => {
      if (method !== "getBlock" || params[0] !== Number(newest.number) || left === 0) return said;
      left -= 1;
      return { error: { code: -32004, message: "Block not available for slot" } };
    };
    expect(await chain.getBlock(newest.number)).toEqual(newest);
    expect(left).toBe(0);
    left = 3;
    expect(await getBlockAfter(alone(), newest.number - 1n)).toEqual(newest);
    expect(newest.number).toBeGreaterThan(before.number);
  });

  test("are not asked for a wallet's latest balance", async () => {
    const { wallet, before } = await depositUnfinal();
    const { url } = world.sandbox;
    const chain = world.connect([liar.url, url], 2, { seenAt: "confirmed" });
    const { tip } = await scan(chain, before, wallet);
    liar.tamper = (asked, said) => {
      const answer = behind(before.number)(asked, said);
      return asked.method === "getSlot" ? { result: Number(before.number) } : answer;
    };
    expect((await chain.getHead()).number).toBeLessThan(tip.number);
    // The node that is behind would report an empty wallet.
    await expect(chain.findBalance(NATIVE_SOL, wallet)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("a single node's answer", () => {
  test("that a confirmed slot has no block is not believed", async () => {
    const { wallet, before } = await depositUnfinal();
    const chain = alone();
    const first = await getBlockAfter(chain, before.number);
    liar.tamper = ({ method, params }, said) => {
      if (method === "getBlock" && params[0] === Number(first?.number)) return SKIPPED;
      if (method === "getBlocksWithLimit" && Array.isArray(said.result)) {
        return { result: said.result.filter((slot) => slot !== Number(first?.number)) };
      }
      return said;
    };
    await expect(getBlockAfter(alone(), before.number)).rejects.toMatchObject(UNAVAILABLE);
    await expect(alone().getBlock(first?.number ?? 0n)).rejects.toMatchObject(UNAVAILABLE);
    // The next block confirms one that was read before.
    expect(await chain.getBlock(first?.number ?? 0n)).toEqual(first);
    expect((await scan(outvoted(), before, wallet)).sum).toBe(AMOUNT);
  });

  test("about whether a block that was read still exists is outvoted", async () => {
    const { wallet, before } = await depositUnfinal();
    const chain = outvoted();
    const { tip } = await scan(chain, before, wallet);
    liar.tamper = ({ method }, said) => (method === "getBlock" ? SKIPPED : said);
    expect(await chain.getBlock(tip.number)).toEqual(tip);
    const answers = new Map<unknown, unknown>();
    liar.tamper = ({ method, params }, said) => {
      if (method !== "getBlock") return said;
      if ("result" in said) answers.set(params[0], said.result);
      return { result: answers.get(params[0]) ?? said.result };
    };
    await chain.getBlock(tip.number);
    await world.sandbox.fork({ blocks: 3 });
    await world.sandbox.tick(5);
    expect(await chain.getBlock(tip.number)).toBeNull();
  });

  test.each(["postBalances", "transactions", "blockhash", "parentSlot"])(
    "with another %s of a block is outvoted",
    async (field) => {
      const { wallet, before } = await depositUnfinal();
      liar.tamper = ({ method }, said) => (method === "getBlock" ? forge(said, field) : said);
      expect((await scan(outvoted(), before, wallet)).sum).toBe(AMOUNT);
      const two = world.connect([liar.url, world.sandbox.url], 2, { seenAt: "confirmed" });
      await expect(scan(two, before, wallet)).rejects.toMatchObject(UNAVAILABLE);
    },
  );
});

test("a chain that settles, attests or audits reads everything at the finalized level", async () => {
  const { commitment, wallet, before } = await depositUnfinal();
  await world.finalize();
  const asked = new Set<string>();
  liar.tamper = ({ method, params }, said) => {
    // CAST: sent by our own adapter.
    const { commitment: level } = (params.at(-1) ?? {}) as { commitment?: string };
    if (level) asked.add(`${method} ${level}`);
    return said;
  };
  // Connected as in the settler, attestor and auditor.
  const chain = world.connect([liar.url], 1);
  await chain.getHead();
  await scan(chain, before, wallet);
  await chain.readHolding(NATIVE_SOL, wallet);
  await chain.readHolding(world.usdc, wallet);
  await chain.findBalance(NATIVE_SOL, wallet);
  await chain.getTime("final");
  await chain.getTime(before);
  await chain.findRefund({ wallet, token: NATIVE_SOL, fromBlock: 0n });
  const numbers = { amount: 1n, minOut: 1n, seq: 0n };
  const lock = { commitment: ID, delivery: ID, token: NATIVE_SOL, ...numbers };
  await chain.getLock(lock, "final");
  const paid = { deliveryId: ID, srcChain: 2, escrow: wallet, seq: 0n };
  await chain.findDelivery(paid);
  await chain.isDelivered(paid, "final");
  await chain.balances.listHoldings([{ wallet, token: world.usdc }]);
  expect(chain.hashCommitment(commitment)).toMatch(/^0x/);
  expect([...asked].filter((one) => !one.endsWith(" finalized"))).toEqual([]);
  expect(asked.size).toBeGreaterThan(5);
});

/** Changes every value with a field's name in a result. */
function forge(said: Said, field: string): Said {
  if (said.error) return said;
  const text = JSON.stringify(said.result, (key, value: unknown) => {
    if (key !== field) return value;
    if (typeof value === "number") return value - 1;
    if (typeof value === "string") return `${value.slice(0, -1)}${value.endsWith("1") ? "2" : "1"}`;
    if (field === "transactions") return [];
    return Array.isArray(value) ? value.map((one) => Number(one) + 1) : value;
  });
  return { result: JSON.parse(text) };
}
