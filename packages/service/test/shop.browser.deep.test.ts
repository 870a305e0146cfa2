/** The client in a real browser, on a page of another origin: it pays, follows events and is refused. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { EventItem } from "@sluice/sdk";
import { type Browser, chromium, type Page } from "playwright-core";
import { isAddress } from "viem";
import { build, type Rolldown } from "vite";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { findChromium } from "./support/chromium.ts";
import { deposit, USDC } from "./support/deposits.ts";
import { orderOf } from "./support/order.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let browser: Browser;
let server: Server;
let origin: string;
let page: Page;
let complaints: string[];

/** Bundles the page; fails where the client needs something that a browser does not have. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      lib: { entry: join(import.meta.dirname, "support/shop-page.ts"), formats: ["es"] },
    },
  });
  // CAST: with one format and no watch mode the result is a list of one.
  const [{ output }] = built as [Rolldown.RolldownOutput];
  return output[0].code;
}

beforeAll(async () => {
  const script = await bundle();
  server = createServer((request, response) => {
    const isScript = request.url === "/shop.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : `<!doctype html><script type="module" src="/shop.js"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // CAST: the server listens on a port.
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await openWorld({ corsOrigins: [origin] });
  const executablePath = findChromium();
  if (!executablePath) throw new Error("expected a Chromium on PATH, or its path in CHROMIUM");
  // Chromium's sandbox does not run as root, and the page is our own.
  browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
});
afterAll(async () => {
  await browser.close();
  await world.close();
  server.close();
});

beforeEach(async () => {
  page = await browser.newPage();
  complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
});
afterEach(() => page.close());

/** Opens the shop; the functions that the page calls run in this process. */
async function open(
  shop: {
    readonly show?: (payment: { readonly address: string; readonly uri: string }) => Promise<void>;
    readonly record?: (line: string) => void;
  },
  at = origin,
): Promise<void> {
  await page.exposeFunction("show", shop.show ?? (async () => undefined));
  await page.exposeFunction("record", shop.record ?? (() => undefined));
  await page.addInitScript("globalThis.shop = { show, record }");
  await page.goto(at);
}

const service = () => ({ ...world.serviceUrls(), apiKey: world.apiKeyOf(0) });

test("an order is paid by the payment URI of the page, and the page shows it as paid", async () => {
  const { order, terms } = await orderOf(world, "b0");
  await open({
    async show({ address, uri }) {
      if (!isAddress(address)) throw new Error("no address was shown");
      await world.pay("ethereum", address, BigInt(new URL(uri).searchParams.get("uint256") ?? 0));
    },
  });
  const args = { service: service(), order, terms };
  const outcome = await page.evaluate(
    (given) => globalThis.page.acceptPayment(given.service, given),
    args,
  );
  expect(outcome).toEqual({ isPaid: true, delivered: 5n * USDC });
  expect(await world.balance("base", order.destination)).toBe(5n * USDC - 5_000n);
  expect(complaints).toEqual([]);
});

test("the page gets every event once and in order from the stream of another origin", async () => {
  const processed: EventItem[] = [];
  await open({ record: (line) => processed.push(JSON.parse(line)) });
  await page.evaluate((given) => globalThis.page.processEvents(given), service());
  const { address } = await deposit(world, 5n * USDC);
  await world.settled(address);
  const all = await world.allEvents(0);
  await world.until("all events are processed", async () => processed.length >= all.length);
  expect(processed).toEqual(all);
  expect(complaints).toEqual([]);
});

test("a refusal reaches the page as the service's error", async () => {
  await open({});
  const stranger = { ...service(), apiKey: "00000000-0000-4000-8000-000000000000" };
  const code = await page.evaluate((given) => globalThis.page.readRefusal(given), stranger);
  expect(code).toBe("FORBIDDEN");
});

test("a page of an origin that is not configured reads nothing [T104]", async () => {
  await open({}, origin.replace("127.0.0.1", "localhost"));
  const answer = await page.evaluate((given) => globalThis.page.readRefusal(given), service());
  expect(answer).toContain("Failed to fetch");
});
