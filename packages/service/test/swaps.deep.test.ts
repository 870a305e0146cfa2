/** Pool swaps on one chain while another account trades in the pool, and through a node that can lie. */
import { type Address, parseEther } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AuditReport } from "../src/cli/audit.ts";
import { type TamperingNode, startTamperingNode } from "./support/tampering-node.ts";
import { createPoolTrader, quoteEtherToUsdc } from "./support/pool-trader.ts";
import { openWorld, type World } from "./support/world.ts";

const ETHER = parseEther("1");
const USDC = 1_000_000n;
/** One ether at the sandbox's price, less the fee of 10 basis points and the committed slippage of 1 %. */
const LEAST_OF_ETHER = (2_997n * USDC * 99n) / 100n;

let world: World;
let node: TamperingNode;
let trader: Awaited<ReturnType<typeof createPoolTrader>>;

beforeAll(async () => {
  world = await openWorld({
    async nodesOf(chain, rpcUrl) {
      if (chain !== "ethereum") return [rpcUrl];
      node = await startTamperingNode(rpcUrl);
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

const toUsdc = (recipient: Address) => quoteEtherToUsdc(world, recipient);

/** Waits until the newest settlement of an address failed with a code, and returns its id. */
async function failingWith(address: Address, code: string): Promise<string> {
  let id = "";
  await world.until(`it says ${code}`, async () => {
    const [swap] = await world.swapsOf(address);
    id = swap?.id ?? "";
    return swap?.error?.code === code;
  });
  return id;
}

async function audit(): Promise<AuditReport> {
  // CAST: the form that the command prints.
  return (await world.command("audit", "--json")) as unknown as AuditReport;
}

test("a sweep waits while the pool is manipulated, until the price is back [T69]", async () => {
  const recipient = world.newRecipient();
  const { address } = await toUsdc(recipient);
  await trader.pushDown();
  try {
    await expect(toUsdc(world.newRecipient())).rejects.toMatchObject({
      code: "NO_ROUTE",
      details: { reason: "pool_below_price" },
    });
    await world.payNative("ethereum", address, ETHER);
    await failingWith(address, "NO_ROUTE");
    expect(await world.balance("ethereum", recipient)).toBe(0n);
    expect(await world.nativeBalance("ethereum", address)).toBe(ETHER);
  } finally {
    await trader.pushBackUp();
  }
  expect((await world.settled(address)).status).toBe("completed");
  expect(await world.balance("ethereum", recipient)).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
});

test("a sale right before the sweep makes it revert, and gains nothing [T58, T69]", async () => {
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
    // The revert is not the settlement's fault: it counts as an expired price, and the pool is queried again.
    await world.until("the sale came first", async () => sold === 1);
    id = await failingWith(address, "NO_ROUTE");
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
  "no quote and no sweep while a node reports %s output from the pool",
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
    await failingWith(address, "NO_ROUTE");
    expect(await world.nativeBalance("ethereum", address)).toBe(ETHER);
    node.tamperCall = null;
    expect((await world.settled(address)).status).toBe("completed");
    expect(await world.balance("ethereum", recipient)).toBeGreaterThanOrEqual(LEAST_OF_ETHER);
  },
);

test("the doctor has no findings about the routes, and the ledger matches", async () => {
  const report = await world.command("doctor", "--json").catch((error: { stdout?: string }) => {
    if (error.stdout === undefined) throw error;
    return JSON.parse(error.stdout);
  });
  // CAST: the form that the command prints.
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
