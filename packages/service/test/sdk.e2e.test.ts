/** The client's examples against a running service that is killed meanwhile: each order is booked exactly once. */
import { readFileSync, writeFileSync } from "node:fs";
import { type EventItem, rootOfRoutes, verifyDepositAddress } from "@sluice/sdk";
import { isAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptPayment, type Order } from "../../sdk/examples/accept-payment.ts";
import { type EventStore, processEvents } from "../../sdk/examples/follow-events.ts";
import { deposit, USDC } from "./support/deposits.ts";
import { orderOf } from "./support/order.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

const service = () => ({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });

test("an order is paid by its payment URI, and reported as paid", async () => {
  const { order, terms } = await orderOf(world, "0d");
  const outcome = await acceptPayment(service(), { order, terms }, async ({ address, uri }) => {
    // The customer's wallet reads this URI.
    const { pathname, searchParams } = new URL(uri);
    expect(pathname).toBe(`${order.fromToken}@900002/transfer`);
    expect(searchParams.get("address")).toBe(address);
    if (!isAddress(address)) throw new Error("no address was shown");
    await world.pay("ethereum", address, BigInt(searchParams.get("uint256") ?? 0));
  });
  expect(outcome).toEqual({ isPaid: true, delivered: 5n * USDC });
  expect(await world.balance("base", order.destination)).toBe(5n * USDC - 5_000n);
});

test("an address that commits to its routes is verified with its set, and settles [T122]", async () => {
  const recipient = world.newRecipient();
  const args = { from: "ethereum", to: "base", recipient } as const;
  const terms = { payRoutes: "fixed", payUnattended: true } as const;
  const { address, quote } = await world.quote({ ...args, terms });
  const claimed = quote.payDepositCommitment;
  if (!claimed?.routeSet) throw new Error("the quote has no set of routes");
  // A route of each chain: one across, one within the destination.
  expect(new Set(claimed.routeSet.map(({ evmChainId }) => evmChainId)).size).toBe(2);
  const { factory } = world;
  const expected = { routes: rootOfRoutes(claimed.routeSet), flags: 1 };
  const request = { address, commitment: claimed, factory, expected };
  expect(verifyDepositAddress(request)).toMatchObject({ kind: "ok" });
  const other = { ...claimed, routeSet: claimed.routeSet.slice(1) };
  expect(verifyDepositAddress({ ...request, commitment: other })).toMatchObject({
    kind: "mismatch",
    field: "routes",
  });
  expect((await world.quote(args)).address).toBe(address);
  const governed = { payRoutes: "governed" } as const;
  expect((await world.quote({ ...args, terms: governed })).address).not.toBe(address);
  await world.pay("ethereum", address, 5n * USDC);
  expect((await world.settled(address)).status).toBe("completed");
  expect(await world.balance("base", recipient)).toBe(5n * USDC - 5_000n);
});

test("a partly delivered order is unpaid until the rest is delivered", async () => {
  const { order, terms } = await orderOf(world, "0e");
  const show = async ({ address }: { readonly address: string }) => {
    if (!isAddress(address)) throw new Error("no address was shown");
    const isFirst = (await world.swapsOf(address)).length === 0;
    await world.pay("ethereum", address, (isFirst ? 2n : 3n) * USDC);
  };
  const part = await acceptPayment(service(), { order: { ...order, waitMs: 15_000 }, terms }, show);
  expect(part).toEqual({ isPaid: false, delivered: 2n * USDC });
  const all = await acceptPayment(service(), { order, terms }, show);
  expect(all).toEqual({ isPaid: true, delivered: 5n * USDC });
});

test("an address with other terms than agreed is not shown", async () => {
  const { order, terms } = await orderOf(world, "0f");
  const somebody = world.newRecipient();
  const show = () => Promise.reject(new Error("the address was shown"));
  const others: [string, { order?: Partial<Order>; terms?: Partial<typeof terms> }][] = [
    ["integrator", { terms: { integrator: "00000000-0000-4000-8000-000000000000" } }],
    ["destChain", { order: { toChainId: 2 } }],
    ["refundAuthority", { terms: { refundAuthority: somebody } }],
    ["maxFeeBps", { terms: { maxFeeBps: 49 } }],
    ["maxSlippageBps", { terms: { maxSlippageBps: 99 } }],
    ["factory", { terms: { factory: somebody } }],
  ];
  for (const [field, other] of others) {
    const asked = { order: { ...order, ...other.order }, terms: { ...terms, ...other.terms } };
    await expect(acceptPayment(service(), asked, show)).rejects.toThrow(`${field}: expected `);
  }
});

/** Restarts the service at the URL that its clients use. */
function keepPort(): void {
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  config.api.port = Number(new URL(world.serviceUrls().baseUrl).port);
  writeFileSync(world.configPath, JSON.stringify(config));
}

test("every event is processed once and in order across a consumer restart and a service kill", async () => {
  const processed: EventItem[] = [];
  const store: EventStore = {
    readCursor: async () => processed.at(-1)?.timestamp,
    async process(event) {
      processed.push(event);
    },
  };
  let reading = new AbortController();
  let done = processEvents(service(), store, reading.signal);
  const before = await deposit(world, 5n * USDC);
  await world.settled(before.address);
  // The consumer stops while events continue.
  reading.abort();
  await done;
  const meanwhile = await deposit(world, 5n * USDC);
  await world.settled(meanwhile.address);
  reading = new AbortController();
  done = processEvents(service(), store, reading.signal);
  keepPort();
  const under = await deposit(world, 5n * USDC);
  await world.killService();
  await world.restartService({});
  await world.settled(under.address);
  const after = await deposit(world, 5n * USDC);
  await world.settled(after.address);
  const all = await world.allEvents(0);
  await world.until("all events are processed", async () => processed.length >= all.length);
  reading.abort();
  await done;
  expect(processed).toEqual(await world.allEvents(0));
});
