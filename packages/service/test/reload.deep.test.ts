/**
 * The configuration read again by a running service: what may change while it runs changes without a failed request, a lost
 * socket or a late deposit; anything else is refused with the reason, and nothing is changed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectStream } from "@sluice/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit, expectDelivered, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

type Written = Record<string, unknown>;

let world: World;
let original: Written;
beforeAll(async () => {
  world = await openWorld({
    telemetry: true,
    configure(config) {
      original = structuredClone(config);
      withoutUsdcOf(config);
    },
  });
});
afterAll(async () => {
  await world.close();
});

/** Removes USDC of ethereum, and the routes that take it, from a configuration. */
function withoutUsdcOf(config: Written): void {
  // CAST: the file lists chains, each with its tokens, and routes.
  const [ethereum] = config["chains"] as { tokens: { symbol: string; address: string }[] }[];
  const routes = config["routes"] as Record<string, unknown>[];
  const usdc = ethereum?.tokens.find(({ symbol }) => symbol === "USDC");
  if (!ethereum || !usdc) throw new Error("the sandbox lists USDC on ethereum first");
  ethereum.tokens = ethereum.tokens.filter((token) => token !== usdc);
  config["routes"] = routes.filter(
    (route) => ![route["token"], route["destToken"]].includes(usdc.address),
  );
}

/** Writes the whole configuration with changes, has it read again, and waits for the line of the log about it, which is returned. */
async function reload(change: (config: Written) => void): Promise<string> {
  const before = linesAbout().length;
  world.changeConfig((config) => change(Object.assign(config, structuredClone(original))));
  world.askForReload();
  await world.until("the configuration was read again", async () => linesAbout().length > before);
  return linesAbout().at(-1) ?? "";
}

const linesAbout = () =>
  world
    .readLog()
    .split("\n")
    .filter((line) => /"configuration (?:read again|refused)/.test(line));

test("a token and its routes are added, and a deposit of it is delivered [T303]", async () => {
  await expect(readPromise()).rejects.toThrow("is not a listed token of ethereum");
  const read = await reload(() => undefined);
  expect(read).toMatch(/"chains\.ethereum\.tokens\.0x\w+"/);
  expect(read).toMatch(/"routes\.SWIFT:2:\w+:30:/);
  await expectDelivered(world, await deposit(world, 20n * USDC));
});

/** Returns what a quote of 100 USDC promises, in base units. */
async function readPromise(): Promise<bigint> {
  const recipient = world.newRecipient();
  const amount = 100n * USDC;
  const { quote } = await world.quote({ from: "ethereum", to: "base", recipient, amount });
  return BigInt(quote.expectedAmountOutBaseUnits);
}

/** Sends requests to API and quotes on new and kept connections until it is ended, and returns the failed ones. */
function keepAsking() {
  const failed: string[] = [];
  let asked = 0;
  let isEnded = false;
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    while (!isEnded) {
      asked += 1;
      try {
        const response = await fetch(url, { headers });
        await response.arrayBuffer();
        if (!response.ok) failed.push(`${url}: ${response.status}`);
      } catch (error) {
        failed.push(`${url}: ${String(error)}`);
      }
      await delay(5);
    }
  };
  const { baseUrl: api, quoteUrl: quote } = world.serviceUrls();
  const key = { "x-api-key": world.apiKeyOf(0) };
  const running = [
    ask(`${api}/chains`),
    ask(`${api}/swaps`, key),
    ask(`${api}/chains`, { connection: "close" }),
    ask(`${quote}/openapi.json`),
  ];
  return {
    async end() {
      isEnded = true;
      await Promise.all(running);
      return { failed, asked };
    },
  };
}

test("fees and minimums change while deposits, requests and sockets go on [T303]", async () => {
  const earlier = (await world.allEvents()).length;
  let connected = 0;
  const { baseUrl: api } = world.serviceUrls();
  const events: string[] = [];
  const stream = connectStream({
    baseUrl: api,
    apiKey: world.apiKeyOf(0),
    onConnected: () => (connected += 1),
    onEvent: ({ timestamp }) => events.push(timestamp),
    onError: () => undefined,
  });
  await world.until("the stream is connected", async () => connected === 1);
  expect(await readPromise()).toBe(99_900_000n);
  const asking = keepAsking();
  const underWay = await deposit(world, 20n * USDC);
  const read = await reload((config) => {
    config["feeBps"] = 20;
    // CAST: the file lists chains, each with its tokens.
    const chains = config["chains"] as { tokens: { symbol: string; minDeposit: string }[] }[];
    for (const { tokens } of chains) {
      for (const token of tokens) if (token.symbol === "USDC") token.minDeposit = "3";
    }
  });
  expect(read).toContain('"feeBps"');
  expect(await readPromise()).toBe(99_800_000n);
  const config = await (await fetch(`${api}/source-config`)).text();
  expect(config).toContain('"minDeposit":"3"');
  // Quoted before, and perhaps swept after: charged as it was promised or as it is charged now.
  const swap = await world.settled(underWay.address);
  expect(swap.status).toBe("completed");
  expect(await world.countDeliveries("base", underWay.recipient)).toBe(1);
  const later = await deposit(world, 30n * USDC);
  expect((await world.settled(later.address)).status).toBe("completed");
  expect(await world.balance("base", later.recipient)).toBe(29_940_000n);
  const { failed, asked } = await asking.end();
  expect(failed).toEqual([]);
  expect(asked).toBeGreaterThan(200);
  expect(connected).toBe(1);
  const told = (await world.allEvents()).slice(earlier).map(({ timestamp }) => timestamp);
  expect(told.length).toBeGreaterThan(6);
  await world.until("the stream had every event", async () =>
    told.every((timestamp) => events.includes(timestamp)),
  );
  stream.close();
});

test("settings that need a restart are refused with the reason, and nothing is changed [T303]", async () => {
  const promised = await readPromise();
  const refused = await reload((config) => {
    config["feeBps"] = 30;
    config["api"] = { port: 1 };
    config["apiKeyPepper"] = { env: "PATH" };
    // CAST: the file lists routes.
    (config["routes"] as unknown[]).pop();
  });
  expect(refused).toContain("listeners are opened when the process starts");
  expect(refused).toContain("every API key depends on it");
  expect(refused).toContain("a route is switched off with `sluice pause`");
  expect(await readPromise()).toBe(promised);
});

test("a mistake, or a node of another chain, is refused, and the service goes on [T303]", async () => {
  const promised = await readPromise();
  const mistaken = await reload((config) => {
    config["feeBps"] = "much";
  });
  expect(mistaken).toContain("feeBps: expected");
  const foreign = await reload((config) => {
    // CAST: the file lists chains, ethereum first.
    const [ethereum] = config["chains"] as { rpcUrl: string }[];
    if (ethereum) ethereum.rpcUrl = world.chains.base.rpcUrl;
  });
  expect(foreign).toContain("configuration refused, going on with the one before");
  expect(await readPromise()).toBe(promised);
  const made = await deposit(world, 10n * USDC);
  expect((await world.settled(made.address)).status).toBe("completed");
  const metrics = await (await fetch(`${world.telemetryUrl()}/metrics`)).text();
  expect(metrics).toMatch(/config_reloads_total\{outcome="applied"\} 2\n/);
  expect(metrics).toMatch(/config_reloads_total\{outcome="refused"\} 3\n/);
});

test("after many readings each deposit is delivered once, and the books agree [T303]", async () => {
  for (const feeBps of [15, 20, 10]) {
    await reload((config) => {
      config["feeBps"] = feeBps;
    });
  }
  await expectDelivered(world, await deposit(world, 10n * USDC));
  // CAST: what the command prints.
  const { lines } = (await world.command("operators", "log", "--json")) as unknown as {
    lines: { action: string; entry: object }[];
  };
  expect(lines[0]).toMatchObject({
    action: "change configuration",
    entry: { changed: ["feeBps"] },
  });
  const ready = await fetch(`${world.telemetryUrl()}/health/ready`);
  expect(ready.status).toBe(200);
  expect(await world.command("audit", "--json")).toMatchObject({ ok: true });
});
