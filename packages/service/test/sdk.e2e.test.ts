/** The client's examples against a running service, which is killed meanwhile: nothing is booked twice or not at all. */
import { readFileSync, writeFileSync } from "node:fs";
import type { EventItem } from "@sluice/sdk";
import { isAddress } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptPayment } from "../../sdk/examples/accept-payment.ts";
import { bookEvents, type Books } from "../../sdk/examples/follow-events.ts";
import { deposit, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

const service = () => ({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });

test("an order is paid by the URI that is shown, and known to be", async () => {
  const destination = world.newRecipient();
  const { ethereum, base } = world.deployment.chains;
  const order = {
    amount: 5n * USDC,
    fromChain: "ethereum",
    fromToken: ethereum.token,
    evmChainId: 900_002,
    toChain: "base",
    toToken: base.token,
    destination,
    factory: world.factory,
    orderId: `0x${"0d".repeat(20)}`,
  } as const;
  const swap = await acceptPayment(service(), order, async ({ address, uri }) => {
    // The customer's wallet reads it.
    const { pathname, searchParams } = new URL(uri);
    expect(pathname).toBe(`${ethereum.token}@900002/transfer`);
    expect(searchParams.get("address")).toBe(address);
    if (!isAddress(address)) throw new Error("no address was shown");
    await world.pay("ethereum", address, BigInt(searchParams.get("uint256") ?? 0));
  });
  expect(swap.status).toBe("completed");
  expect(await world.balance("base", destination)).toBe(5n * USDC - 5_000n);
});

/** The service comes back where its clients look for it. */
function keepPort(): void {
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  config.api.port = Number(new URL(world.serviceUrls().baseUrl).port);
  writeFileSync(world.configPath, JSON.stringify(config));
}

test("every event is booked once and in order, over a restart of the books and a kill of the service", async () => {
  const booked: EventItem[] = [];
  const books: Books = {
    readLast: async () => booked.at(-1)?.timestamp,
    async book(event) {
      booked.push(event);
    },
  };
  let reading = new AbortController();
  let done = bookEvents(service(), books, reading.signal);
  const before = await deposit(world, 5n * USDC);
  await world.settled(before.address);
  // The reader goes away while events go on.
  reading.abort();
  await done;
  const meanwhile = await deposit(world, 5n * USDC);
  await world.settled(meanwhile.address);
  reading = new AbortController();
  done = bookEvents(service(), books, reading.signal);
  keepPort();
  const under = await deposit(world, 5n * USDC);
  await world.killService();
  await world.restartService({});
  await world.settled(under.address);
  const after = await deposit(world, 5n * USDC);
  await world.settled(after.address);
  const all = await world.allEvents(0);
  await world.until("everything is booked", async () => booked.length >= all.length);
  reading.abort();
  await done;
  expect(booked).toEqual(await world.allEvents(0));
});
