/**
 * Swaps on one chain: the bytecode of Uniswap v3, the attestor's price, and whoever else trades in the pool. The
 * service reads ethereum through a node that can be bent.
 */
import { type Address, type Hex, parseEther, zeroAddress } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { NATIVE_TOKEN, toEvmAddress } from "../src/core/hex.ts";
import { listGas } from "../src/fees/index.ts";
import { SWAP_GAS } from "../src/routes/mono-chain/swap.ts";
import type { AuditReport } from "../src/cli/audit.ts";
import { type MeddlingNode, startMeddlingNode } from "./support/meddling-node.ts";
import { createPoolTrader } from "./support/pool-trader.ts";
import { openWorld, type World } from "./support/world.ts";

const ETHER = parseEther("1");
const USDC = 1_000_000n;
/** What the sandbox's price makes of one ether after the fee of 10 basis points, less the committed slippage of 1 %. */
const LEAST_OF_ETHER = (2_997n * USDC * 99n) / 100n;

/** Any of two tokens. */
const PAIR = {
  srcChain: 2,
  srcToken: NATIVE_TOKEN,
  destChain: 2,
  destToken: toEvmAddress(`0x${"a0".repeat(20)}`),
};

let world: World;
let node: MeddlingNode;
let trader: Awaited<ReturnType<typeof createPoolTrader>>;

beforeAll(async () => {
  world = await openWorld({
    async nodesOf(chain, rpcUrl) {
      if (chain !== "ethereum") return [rpcUrl];
      node = await startMeddlingNode(rpcUrl);
      return [node.rpcUrl];
    },
  });
  trader = await createPoolTrader(world);
});
beforeEach(() => {
  node.beforeSend = null;
  node.tamperCall = null;
});
afterAll(async () => {
  await world.close();
  node.close();
});

const toUsdc = (recipient: Address) =>
  world.quote({
    from: "ethereum",
    to: "ethereum",
    recipient,
    fromToken: zeroAddress,
    amount: ETHER,
  });

/** Waits until the newest settlement of an address failed with a code, and returns its id. */
async function troubled(address: Address, code: string): Promise<string> {
  let id = "";
  await world.until(`it says ${code}`, async () => {
    const [swap] = await world.swapsOf(address);
    id = swap?.id ?? "";
    return swap?.error?.code === code;
  });
  return id;
}

async function audit(): Promise<AuditReport> {
  // CAST: what the command prints.
  return (await world.command("audit", "--json")) as unknown as AuditReport;
}

test("native coin arrives as USDC on the same chain, at what the pool gives", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await toUsdc(recipient);
  expect(quote).toMatchObject({ type: "MONO_CHAIN", protocolBps: 10 });
  expect(BigInt(quote.minReceivedBaseUnits)).toBeGreaterThan(2_950n * USDC);
  await world.payNative("ethereum", address, ETHER);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  const received = await world.balance("ethereum", recipient);
  // The fee of the pool is 5 basis points, and it is deep.
  expect(received).toBeGreaterThan(2_995n * USDC);
  expect(received).toBeLessThan(2_996n * USDC);
  expect(received).toBe(BigInt(quote.expectedAmountOutBaseUnits));
  // What fees count with, where gas is charged.
  const [{ gas = 0n } = {}] = listGas({ pair: PAIR, gasSteps: SWAP_GAS }, false);
  const { client } = world.chains.ethereum;
  // CAST: the wire's schema holds it to a hash.
  const receipt = await client.getTransactionReceipt({ hash: swap.swapTxHash as Hex });
  expect(receipt.gasUsed).toBeLessThan(gas);
  expect(receipt.gasUsed).toBeGreaterThan((gas * 7n) / 10n);
  expect(await world.nativeBalance("ethereum", address)).toBe(0n);
});

test("USDC arrives as native coin on the same chain", async () => {
  const recipient = world.newRecipient();
  const { address, quote } = await world.quote({
    from: "ethereum",
    to: "ethereum",
    recipient,
    toToken: zeroAddress,
    amount: 3_000n * USDC,
  });
  expect(quote.type).toBe("MONO_CHAIN");
  await world.pay("ethereum", address, 3_000n * USDC);
  expect(await world.settled(address)).toMatchObject({ status: "completed", error: null });
  const received = await world.nativeBalance("ethereum", recipient);
  expect(received).toBeGreaterThan((ETHER * 998n) / 1000n);
  expect(received).toBeLessThan((ETHER * 999n) / 1000n);
  expect(await world.balance("ethereum", address)).toBe(0n);
});

test("T69 whoever moved the pool before the sweep makes it wait, until the price is back", async () => {
  const recipient = world.newRecipient();
  const { address } = await toUsdc(recipient);
  await trader.pushDown();
  try {
    await expect(toUsdc(world.newRecipient())).rejects.toMatchObject({
      code: "NO_ROUTE",
      details: { reason: "pool_below_price" },
    });
    await world.payNative("ethereum", address, ETHER);
    await troubled(address, "NO_ROUTE");
    expect(await world.balance("ethereum", recipient)).toBe(0n);
    expect(await world.nativeBalance("ethereum", address)).toBe(ETHER);
  } finally {
    await trader.pushBackUp();
  }
  expect((await world.settled(address)).status).toBe("completed");
  expect(await world.balance("ethereum", recipient)).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
});

test("T69 T58 whoever sells right before the sweep makes it revert, and takes nothing", async () => {
  const recipient = world.newRecipient();
  const { address } = await toUsdc(recipient);
  const route = world.deployment.chains.ethereum.nativeToUsdcSwapRoute.slice(2).toLowerCase();
  let sold = 0;
  node.beforeSend = async (raw) => {
    if (!raw.includes(route) || sold > 0) return;
    sold += 1;
    await trader.sendSale();
  };
  await world.payNative("ethereum", address, ETHER);
  let id = "";
  try {
    // The revert is not the settlement's fault: it is taken for a price that ran out, and then the pool is asked again.
    await world.until("the sale came first", async () => sold === 1);
    id = await troubled(address, "NO_ROUTE");
    expect(await world.balance("ethereum", recipient)).toBe(0n);
    expect(await world.nativeBalance("ethereum", address)).toBe(ETHER);
  } finally {
    node.beforeSend = null;
    await trader.pushBackUp();
  }
  expect((await world.settled(address)).status).toBe("completed");
  const received = await world.balance("ethereum", recipient);
  expect(received).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
  const codes = (await world.statusEvents(id)).flatMap(({ error }) => error?.code ?? []);
  expect(new Set(codes)).toEqual(new Set(["PRICE_UNAVAILABLE", "NO_ROUTE"]));
});

test.each([
  ["too much", 102n, "pool_above_price"],
  ["too little", 90n, "pool_below_price"],
])(
  "a node that makes the pool say %s promises nothing and moves nothing",
  async (_, percent, reason) => {
    const { quoter } = world.deployment.chains.ethereum;
    const recipient = world.newRecipient();
    const { address } = await toUsdc(recipient);
    node.tamperCall = (to, returned) => {
      if (to.toLowerCase() !== quoter.toLowerCase()) return returned;
      const said = (BigInt(returned.slice(0, 66)) * percent) / 100n;
      return `0x${said.toString(16).padStart(64, "0")}${returned.slice(66)}`;
    };
    await expect(toUsdc(world.newRecipient())).rejects.toMatchObject({
      code: "NO_ROUTE",
      details: { reason },
    });
    await world.payNative("ethereum", address, ETHER);
    await troubled(address, "NO_ROUTE");
    expect(await world.nativeBalance("ethereum", address)).toBe(ETHER);
    node.tamperCall = null;
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("ethereum", recipient)).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
  },
);

test("the doctor finds nothing wrong with the routes, and the ledger is proved", async () => {
  const report = await world.command("doctor", "--json").catch((error: { stdout?: string }) => {
    if (error.stdout === undefined) throw error;
    return JSON.parse(error.stdout);
  });
  // CAST: what the command prints.
  const { checks } = report as unknown as {
    readonly checks: readonly { id: string; item?: string; status: string; found: string }[];
  };
  const ofSwaps = checks.filter(({ item = "" }) => /^MONO_CHAIN .* to /.test(item));
  expect(ofSwaps.filter(({ id }) => id === "route.terms")).toHaveLength(4);
  expect(ofSwaps.filter(({ id, status }) => id.startsWith("route.") && status !== "ok")).toEqual(
    [],
  );

  await world.until("the ledger is proved", async () => {
    const { ok, breaches, unsettled } = await audit();
    expect(breaches).toEqual([]);
    return ok && unsettled.length === 0;
  });
});
