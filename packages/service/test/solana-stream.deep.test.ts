/**
 * Solana's blocks from a stream of the published Yellowstone protocol: deposits are delivered once without requests for
 * blocks, and with them where the stream is silent, has gaps, or breaks, and while the chain forks.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { startYellowstoneStandIn, type YellowstoneStandIn } from "@sluice/sandbox/yellowstone";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";
import { startTamperingProxy, type TamperingProxy } from "./support/tampering-proxy.ts";

const AMOUNT = 9n * USDC;
const PAID = AMOUNT - AMOUNT / 1_000n;

let world: SolanaSandbox;
/** The scanner's node, which counts the blocks that it sends. */
let node: TamperingProxy;
let blocksRequested = 0;
let server: YellowstoneStandIn;
let slotsAtStart = 0;

beforeAll(async () => {
  world = await openSolanaSandbox();
  const { rpcUrl } = world.sandbox.solana;
  node = await startTamperingProxy(rpcUrl, ({ method, params }, said) => {
    const isWhole = JSON.stringify(params[1] ?? {}).includes('"accounts"');
    if (method === "getBlock" && isWhole) blocksRequested += 1;
    return said;
  });
  server = await startYellowstoneStandIn({ upstream: rpcUrl, token: "canary", replaySlots: 500 });
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const solana = config.chains.find(({ chainId }: { chainId: number }) => chainId === 1);
  delete solana.rpcUrl;
  solana.rpcUrls = [{ url: node.url, grpcUrl: server.url, grpcToken: "canary" }];
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.restart();
  await server.subscribed();
}, 120_000);
afterEach(() => {
  server.faults.isSilent = false;
  server.faults.alter = (message) => message;
});
afterAll(async () => {
  await world.close();
  await server.close();
  await node.close();
});

async function deliverOnce(during: (address: string) => Promise<unknown> = async () => undefined) {
  const { address, paid } = await world.depositUsdc("solana", "base", AMOUNT);
  await during(address);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", amount: String(AMOUNT), error: null });
  expect(await paid()).toBe(PAID);
  expect(await world.swapsOf(address)).toHaveLength(1);
  expect(await world.deposits(address)).toBe(1);
}

/** Mines a shown deposit again, in a later block of another fork. */
async function orphan(address: string) {
  await world.controls.tick(2);
  await world.until("the deposit is shown", async () => (await world.deposits(address)) === 1);
  const [before] = await world.depositsOf(address);
  // The fork keeps the block whose hash the transaction names.
  await world.controls.fork({ blocks: 3, replay: true });
  await world.controls.skipSlots(5);
  await world.controls.tick(3);
  await world.until("the deposit is in another block", async () => {
    const [after] = await world.depositsOf(address);
    return after !== undefined && before !== undefined && after.blockNumber > before.blockNumber;
  });
  await world.controls.resume();
}

test("a deposit is delivered once, and few blocks are requested", async () => {
  await deliverOnce();
  // Beyond the start, which is a backfill.
  blocksRequested = 0;
  slotsAtStart = await world.finalSlot();
  await deliverOnce();
  const slots = (await world.finalSlot()) - slotsAtStart;
  expect(slots).toBeGreaterThan(30);
  expect(blocksRequested).toBeLessThan(slots / 4);
  expect(world.readLog()).toContain("block stream connected");
  expect(world.readLog()).not.toContain("canary");
});

test("a deposit is delivered once while the stream is silent", async () => {
  server.faults.isSilent = true;
  blocksRequested = 0;
  await deliverOnce();
  expect(blocksRequested).toBeGreaterThan(0);
});

test("a deposit is delivered once while the stream leaves out every third message", async () => {
  let count = 0;
  server.faults.alter = (message) => ((count += 1) % 3 === 0 ? null : message);
  blocksRequested = 0;
  await deliverOnce();
  expect(blocksRequested).toBeGreaterThan(0);
});

test("a deposit is delivered once while the server ends every stream", async () => {
  const before = server.requests.length;
  server.disconnect();
  await deliverOnce(async () => server.disconnect());
  await server.subscribed();
  expect(server.requests.length).toBeGreaterThan(before);
  // It asked for the slots that it missed.
  expect(server.requests.at(-1)?.from_slot).toEqual(expect.any(String));
});

test("a deposit is delivered once when its block is orphaned and it is mined again", async () => {
  await world.controls.pause();
  await deliverOnce(orphan);
  expect(world.readLog()).toContain("reorg: block orphaned");
});

test("finally the ledger matches the chains", async () => {
  const report = await world.audit();
  expect(report.breaches).toEqual([]);
});
