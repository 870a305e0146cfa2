/** Each role as a process of its own, over one database: one of them is killed, and the others go on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld, type World } from "./support/world.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const USDC = 1_000_000n;
const afterFee = (amount: bigint) => amount - amount / 1000n;

let world: World;
const running = new Map<string, ChildProcess>();

beforeAll(async () => {
  world = await openWorld();
  // The whole service gives way to one process for each role; the one that answers stays where clients look for it.
  await world.replaceService({ roles: "api,quoter" });
  for (const role of ["scanner", "settler", "attestor"]) await start(role, ["--roles", role]);
});
afterAll(async () => {
  await Promise.all([...running.keys()].map((name) => stop(name, "SIGTERM")));
  await world.close();
});

/** Starts a process and waits until it says that it is ready; a standby is ready when it has taken over. */
async function start(name: string, args: readonly string[], { waits = true } = {}): Promise<void> {
  const child = spawn(process.execPath, [MAIN, "--config", world.configPath, "serve", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  running.set(name, child);
  if (!waits) return;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('"ready":true')) return;
  }
  throw new Error(`${name} ended before it was ready`);
}

async function stop(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const child = running.get(name);
  running.delete(name);
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

async function deposit(amount: bigint) {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, amount);
  return { recipient, address };
}

async function expectDelivered(
  { recipient, address }: Awaited<ReturnType<typeof deposit>>,
  amount: bigint,
) {
  expect((await world.settled(address)).status).toBe("completed");
  expect(await world.balance("base", recipient)).toBe(afterFee(amount));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
}

test("a deposit goes through five processes", async () => {
  await expectDelivered(await deposit(5n * USDC), 5n * USDC);
});

test.each(["scanner", "settler", "attestor"])(
  "kill -9 of the %s alone: what it left is done when it is back",
  async (role) => {
    const before = await deposit(6n * USDC);
    await stop(role, "SIGKILL");
    const meanwhile = await deposit(7n * USDC);
    await start(role, ["--roles", role]);
    await expectDelivered(before, 6n * USDC);
    await expectDelivered(meanwhile, 7n * USDC);
  },
);

test("a standby takes over from a settler that was killed", async () => {
  await start("standby", ["--roles", "settler", "--standby"], { waits: false });
  const before = await deposit(8n * USDC);
  await stop("settler", "SIGKILL");
  await expectDelivered(before, 8n * USDC);
});

test("a second process of an exclusive role is refused in one line", async () => {
  const child = spawn(
    process.execPath,
    [MAIN, "--config", world.configPath, "serve", "--roles", "scanner"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
  });
  const [code] = await once(child, "exit");
  expect(code).toBe(1);
  expect(said).toMatch(
    /^Another service already works on this database \(as its scanner\)[^\n]*\n$/,
  );
});

test("nothing is left behind", async () => {
  await world.until("no lock is open", async () => (await world.openLocks()) === 0);
  expect(await world.escrowBalance("ethereum")).toBe(0n);
});
