/**
 * The sandbox's chain through its node and a stand-in of the published protocol: blocks come from the stream, and from
 * `getBlock` where the stream is silent, has a gap, breaks, or is wrong.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { type UpdateMessage, startYellowstoneStandIn } from "@sluice/sandbox/yellowstone";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  createSkewedClock,
  type SkewedClock,
  startWatchedStream,
  type WatchedStream,
} from "../../../../test/support/block-streams.ts";
import { getBlockAfter, listNativeTransfers } from "../../../../test/support/read-block.ts";
import { commitmentOf } from "../../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../../test/support/solana-world.ts";
import {
  startTamperingProxy,
  type TamperingProxy,
} from "../../../../test/support/tampering-proxy.ts";
import { type Address, NATIVE_SOL } from "../../../core/hex.ts";
import type { BlockRef } from "../../port/index.ts";
import type { ChainOfVaults } from "../solana-chain.ts";
import type { CommitmentLevel } from "../node.ts";

const AMOUNT = 5_000_000n;

let world: SolanaWorld;
/** The node, which counts the blocks that it sends. */
let proxy: TamperingProxy;
let blocksRequested = 0;
let clock: SkewedClock;
let issued = 0;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  world = await startSolanaWorld();
  proxy = await startTamperingProxy(world.sandbox.url, ({ method, params }, said) => {
    const isWhole = JSON.stringify(params[1] ?? {}).includes('"accounts"');
    if (method === "getBlock" && isWhole) blocksRequested += 1;
    return said;
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await proxy.close();
  await world.close();
});

type Server = Awaited<ReturnType<typeof startYellowstoneStandIn>>;

/** Starts a stand-in with a stream of it, and the chain over both; nothing was requested yet. */
async function open(
  given: Partial<Parameters<typeof startYellowstoneStandIn>[0]> & {
    readonly commitment?: CommitmentLevel;
    readonly others?: number;
  } = {},
): Promise<{ server: Server; stream: WatchedStream; chain: ChainOfVaults }> {
  const { commitment = "finalized", others = 0, ...options } = given;
  const server = await startYellowstoneStandIn({ upstream: world.sandbox.url, ...options });
  clock = createSkewedClock();
  const stream = startWatchedStream({ url: server.url, token: options.token, commitment, clock });
  closing.push(server.close, stream.stop);
  await server.subscribed();
  // Their blocks are not counted.
  const plain = Array.from({ length: others }, () => world.sandbox.url);
  const chain = world.connect([proxy.url, ...plain], Math.floor(others / 2) + 1, {
    seenAt: commitment,
    clock,
    streams: [stream],
  });
  blocksRequested = 0;
  return { server, stream, chain };
}

async function issue(): Promise<Address> {
  issued += 1;
  return world.issue(commitmentOf(issued));
}

/** Sums a wallet's deposits in the blocks after a slot. Throws if they are not linked. */
async function scan(chain: ChainOfVaults, after: bigint, wallet: Address) {
  let sum = 0n;
  let count = 0;
  let before: BlockRef | undefined;
  for (;;) {
    const block = await getBlockAfter(chain, before?.number ?? after);
    if (!block) return { sum, count };
    if (before && block.parentHash !== before.hash) throw new Error("blocks are not linked");
    const arrived = await listNativeTransfers(chain, block, async () => new Set([wallet]));
    sum += arrived.reduce((total, { amount }) => total + amount, 0n);
    count += 1;
    before = block;
  }
}

const finalSlot = async () => (await world.here.getHead()).number;

/** Makes a deposit and mines until it is final. Returns the newest final slot before. */
async function deposit(wallet: Address): Promise<bigint> {
  const before = await finalSlot();
  await world.give(NATIVE_SOL, wallet, AMOUNT);
  await world.finalize();
  return before;
}

describe("a stream without faults", () => {
  test.each([1, 3])("replaces every getBlock of its node, of %i nodes", async (nodes) => {
    const { stream, chain } = await open({ others: nodes - 1 });
    const wallet = await issue();
    const before = await finalSlot();
    await world.sandbox.skipSlots(3);
    await deposit(wallet);
    await stream.reached(await finalSlot());
    const { sum, count } = await scan(chain, before, wallet);
    expect(sum).toBe(AMOUNT);
    expect(count).toBeGreaterThan(30);
    expect(blocksRequested).toBe(0);
  });

  test("compresses, wants its token, and asks for signs of life", async () => {
    const { server, stream, chain } = await open({ token: "canary", compress: true });
    const wallet = await issue();
    const before = await deposit(wallet);
    await stream.reached(await finalSlot());
    server.ping();
    await expect.poll(server.pings).toBe(1);
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested).toBe(0);
  });

  test("gives each of its newest 64 blocks twice", async () => {
    const { stream } = await open();
    const before = await finalSlot();
    await world.sandbox.tick(65);
    await stream.reached(before + 65n);
    expect(await stream.find(before + 1n, 0)).toEqual({ kind: "unknown" });
    for (const kind of ["block", "block", "unknown"]) {
      expect(await stream.find(before + 2n, 0)).toMatchObject({ kind });
    }
    expect(await stream.find(before + 66n, 0)).toEqual({ kind: "ahead" });
  });

  test("sends messages in any order", async () => {
    const { server, stream, chain } = await open();
    const held: UpdateMessage[] = [];
    // Heads come before their transactions.
    server.faults.alter = (message) => {
      if (message.block_meta) return message;
      held.push(message);
      return null;
    };
    const wallet = await issue();
    const before = await deposit(wallet);
    const count = Number((await finalSlot()) - before);
    const slotsHeld = () => new Set(held.map(slotOf)).size;
    await expect.poll(() => stream.slots.length + slotsHeld()).toBe(count);
    expect(slotsHeld()).toBeGreaterThan(0);
    server.faults.alter = (message) => message;
    for (const message of held.toReversed()) server.send(message);
    await expect.poll(() => stream.slots.length).toBe(count);
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested).toBe(0);
  });
});

describe("a stream with a fault", () => {
  test("that leaves out a transaction brings no block of that slot", async () => {
    const { server, stream, chain } = await open();
    server.faults.alter = (message) => (message.transaction ? null : message);
    const wallet = await issue();
    const before = await deposit(wallet);
    await stream.reached(await finalSlot());
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested).toBe(1);
  });

  test("that leaves out a block is read over", async () => {
    const { server, stream, chain } = await open();
    let left = 3;
    server.faults.alter = (message) => (message.block_meta && left-- > 0 ? null : message);
    const wallet = await issue();
    const before = await deposit(wallet);
    await stream.reached(await finalSlot());
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested).toBe(3);
  });

  test("that sends a place twice brings no block of that slot", async () => {
    const { server, stream, chain } = await open();
    server.faults.alter = (message) => {
      if (message.transaction) server.send(message);
      return message;
    };
    const wallet = await issue();
    const before = await deposit(wallet);
    await stream.reached(await finalSlot());
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested).toBe(1);
  });

  test("that is silent is left alone after five seconds", async () => {
    const { server, stream, chain } = await open();
    await world.sandbox.tick();
    await stream.reached(await finalSlot());
    server.faults.isSilent = true;
    const wallet = await issue();
    const before = await deposit(wallet);
    clock.advance(5_001);
    const { sum, count } = await scan(chain, before, wallet);
    expect(sum).toBe(AMOUNT);
    expect(blocksRequested).toBeGreaterThanOrEqual(count);
    expect(stream.ends).toEqual([]);
  });

  test("that is behind is waited for, and not for long", async () => {
    const { server, stream, chain } = await open();
    await world.sandbox.tick();
    await stream.reached(await finalSlot());
    server.faults.isSilent = true;
    const before = await finalSlot();
    await world.sandbox.tick();
    expect(await getBlockAfter(chain, before)).toMatchObject({ number: before + 1n });
    expect(blocksRequested).toBe(1);
  });

  test("that says that a deposit is larger is outvoted", async () => {
    const { server, stream, chain } = await open({ others: 2 });
    server.faults.alter = raise;
    const wallet = await issue();
    const before = await deposit(wallet);
    await stream.reached(await finalSlot());
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
  });

  test.each<[string, (message: UpdateMessage) => UpdateMessage]>([
    ["names another hash", (message) => withMeta(message, { blockhash: OTHER_HASH })],
    ["names no height", (message) => withMeta(message, { block_height: null })],
    ["names a parent above", (message) => withMeta(message, { parent_slot: "99999999" })],
  ])("that %s is dropped, and its node asked", async (_, alter) => {
    const { server, stream, chain } = await open();
    server.faults.alter = alter;
    const wallet = await issue();
    const before = await deposit(wallet);
    const { sum, count } = await scan(chain, before, wallet);
    expect(sum).toBe(AMOUNT);
    expect(blocksRequested).toBeGreaterThanOrEqual(count);
    await stream.ended(1);
    expect(stream.ends[0]).toMatch(/^(malformed message|another block than the node's)$/);
  });
});

const OTHER_HASH = "5p8qKVyKthA9DUb1rwQDzjcmTkaZdwN97J3LiaEywUjd";

function withMeta(message: UpdateMessage, change: object): UpdateMessage {
  if (!message.block_meta) return message;
  return { ...message, block_meta: { ...message.block_meta, ...change } };
}

/** Raises what each transaction pays. */
function raise(message: UpdateMessage): UpdateMessage {
  if (!message.transaction) return message;
  const { transaction } = message.transaction;
  const post_balances = transaction.meta.post_balances.map((balance) =>
    String(BigInt(balance) + 1n),
  );
  const meta = { ...transaction.meta, post_balances };
  return {
    ...message,
    transaction: { ...message.transaction, transaction: { ...transaction, meta } },
  };
}

function slotOf({ transaction, transaction_status: status }: UpdateMessage): bigint {
  return BigInt(transaction?.slot ?? status?.slot ?? 0);
}

describe("a stream that breaks", () => {
  test.each([
    ["where the server keeps its blocks, without a request", 100],
    ["where it keeps none, with getBlock", 0],
  ])("continues %s", async (_, replaySlots) => {
    const { server, stream, chain } = await open({ replaySlots });
    await world.sandbox.tick();
    await stream.reached(await finalSlot());
    server.disconnect();
    await stream.ended(1);
    const wallet = await issue();
    const before = await deposit(wallet);
    if (replaySlots > 0) {
      await stream.reached(await finalSlot());
    } else {
      // The first attempt asks for the missed slots, and is refused.
      await stream.ended(2);
      await server.subscribed();
      await world.sandbox.tick();
      await stream.reached(await finalSlot());
    }
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    expect(blocksRequested > 0).toBe(replaySlots === 0);
    expect(stream.ends.at(-1)).toMatch(replaySlots === 0 ? /^gRPC status 13$/ : /^gRPC status 14$/);
    expect(stream.connections()).toBe(2);
  });

  test("with a wrong token says so, without the server's words", async () => {
    const server = await startYellowstoneStandIn({ upstream: world.sandbox.url, token: "canary" });
    const stream = startWatchedStream({ url: server.url, token: "other" });
    closing.push(server.close, stream.stop);
    await stream.ended(2);
    expect(new Set(stream.ends)).toEqual(new Set(["gRPC status 16"]));
  });

  test.each([
    ["noise", () => randomBytes(500)],
    ["HTTP/1", () => Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["nothing", () => Buffer.alloc(0)],
  ])("at a server that sends %s is tried again, and the node asked", async (_, bytes) => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.end(bytes());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    const stream = startWatchedStream({ url: `http://127.0.0.1:${address.port}` });
    closing.push(async () => server.close(), stream.stop);
    await stream.ended(2);
    expect(stream.slots).toEqual([]);
    const chain = world.connect([proxy.url], 1, { streams: [stream] });
    const wallet = await issue();
    expect(await scan(chain, await deposit(wallet), wallet)).toMatchObject({ sum: AMOUNT });
  });
});

describe("a confirmed block that was orphaned", () => {
  test("is replaced by the stream, and its deposit is gone", async () => {
    const { stream, chain } = await open({ commitment: "confirmed" });
    const wallet = await issue();
    const before = (await chain.getHead()).number;
    await world.give(NATIVE_SOL, wallet, AMOUNT);
    const orphaned = await world.sandbox.tick();
    await stream.reached(orphaned - 1n);
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: AMOUNT });
    await world.sandbox.fork({ blocks: 2 });
    const newest = await world.sandbox.tick(3);
    await stream.reached(newest - 1n);
    expect(await stream.find(orphaned - 1n, 0)).toEqual({ kind: "skipped" });
    expect(await scan(chain, before, wallet)).toMatchObject({ sum: 0n });
  });
});
