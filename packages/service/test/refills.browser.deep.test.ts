/**
 * Treasury contracts refill inventories: with the claims of their own chain, over the bridge from another chain, and by hand, by
 * the command line and in the console.
 */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { treasuryAbi } from "@sluice/contracts/abi";
import { type Address, encodeFunctionData, type Hex, parseUnits } from "viem";
import { expectProvedBooks } from "./support/bridge.ts";
import { addAuthenticator, FINE, inspect, launchBrowser, openPage } from "./support/browser.ts";
import { afterFee, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

const TARGET = 1_000_000n * USDC;
const CAP = parseUnits("500000", 6);

interface Shown {
  readonly directions: readonly {
    readonly from: string;
    readonly to: string;
    readonly token: Address;
    readonly account: Address;
    readonly movable: string;
  }[];
  readonly treasuries: readonly {
    readonly chain: string;
    readonly symbol: string;
    readonly balance: string;
    readonly earned: string;
    readonly announced: { readonly amount: string } | null;
    readonly free: string;
  }[];
  readonly moves: readonly {
    readonly move: string;
    readonly from: string;
    readonly to: string;
    readonly amount: string;
    readonly state: string;
    readonly operator: string | null;
    readonly reason: string;
  }[];
}

let world: World;

/** Returns a port that is free now: the link of an invitation names it before the console listens. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: a server on an address and port.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

beforeAll(async () => {
  const port = await findPort();
  world = await openWorld({
    bridge: true,
    delaySeconds: 3,
    refill: { inventoryMin: "950000", inventoryTarget: "1000000" },
    configure(config) {
      config["console"] = { host: "127.0.0.1", port };
      // Deposits are paid from inventory; the bridge is for the treasuries.
      // CAST: the configuration that the sandbox wrote.
      const routes = config["routes"] as readonly { readonly kind: string }[];
      config["routes"] = routes.toSorted(
        (one, other) => Number(one.kind === "FAST_MCTP") - Number(other.kind === "FAST_MCTP"),
      );
    },
  });
});
afterAll(async () => {
  await world.close();
});

async function readShown(): Promise<Shown> {
  // CAST: the command prints this form.
  return (await world.command("inventory", "--json")) as unknown as Shown;
}

/** Waits until every transfer has ended, and returns them, newest first. */
async function waitForMoves(count: number): Promise<Shown["moves"]> {
  let moves: Shown["moves"] = [];
  await world.until(`${count} transfers have arrived`, async () => {
    ({ moves } = await readShown());
    return moves.length >= count && moves.every(({ state }) => state === "arrived");
  });
  return moves;
}

test("the owner lists the directions that the configuration asks for", async () => {
  for (const chain of ["ethereum", "base"] as const) {
    const { directions } = await readShown();
    const own = directions.filter(({ from }) => from === chain);
    expect(own.map(({ to, movable }) => [to, movable]).toSorted()).toEqual([
      ["base", "0"],
      ["ethereum", "0"],
    ]);
    const listed = own.map(({ token, account: to }) => ({ token, to, perDay: CAP }));
    const args = [[world.settleLane(chain)], listed] as const;
    const data = encodeFunctionData({ abi: treasuryAbi, functionName: "seal", args });
    await world.asOwner(chain, { to: world.deployment.chains[chain].treasury, data });
  }
});

test("an inventory below its minimum is filled from another chain, over the bridge", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  const amount = 60_000n * USDC;
  await world.pay("ethereum", address, amount);
  await world.settled(address);
  expect(await world.balance("base", recipient)).toBe(afterFee(amount));

  const [move] = await waitForMoves(1);
  expect(move).toMatchObject({
    from: "ethereum",
    to: "base",
    amount: "59940",
    operator: null,
    reason: "below its minimum",
  });
  // The bridge's fast mode costs more than the basis point that a transfer may cost, so it took the free one.
  const paid = afterFee(amount);
  expect(await world.inventory("base")).toBe(TARGET - paid + 59_940n * USDC);
});

test("the owner withdraws what no inventory needs, and nothing more [T314]", async () => {
  const readTreasury = async () => {
    const { treasuries } = await readShown();
    const found = treasuries.find(({ chain, symbol }) => chain === "ethereum" && symbol === "USDC");
    if (!found) throw new Error("the treasury of ethereum is shown");
    return found;
  };
  const of = ["--chain", "ethereum", "--token", "USDC", "--json"];
  const withdraw = async (...args: readonly string[]) =>
    // CAST: the command prints this form.
    (await world.command("inventory", "withdraw", ...of, ...args)) as {
      readonly transaction: { readonly to: Address; readonly data: Hex };
    };
  const send = ({ transaction: { to, data } }: Awaited<ReturnType<typeof withdraw>>) =>
    world.asOwner("ethereum", { to, data });
  const paid = 2n * USDC;
  const before = await readTreasury();
  // The rest of the deposit refilled the inventory of base.
  expect(before).toMatchObject({ balance: "60", earned: "60", announced: null, free: "60" });
  await expect(withdraw("--amount", "900000")).rejects.toThrow(/amount: expected at most \d/);
  await expect(withdraw()).rejects.toThrow("the amount to announce, since nothing is announced");
  await send(await withdraw("--amount", "2"));
  const announced = await readTreasury();
  expect(announced).toMatchObject({ balance: before.balance, announced: { amount: "2" } });
  expect(parseUnits(announced.free, 6)).toBe(parseUnits(before.free, 6) - paid);
  await expect(withdraw("--amount", "1")).rejects.toThrow(/2 USDC is announced/);

  const owner = await world.balance("ethereum", world.owner);
  let pays: Awaited<ReturnType<typeof withdraw>> | undefined;
  await world.until("the delay is over", async () => {
    pays = await withdraw().catch(() => undefined);
    return pays !== undefined;
  });
  if (pays) await send(pays);
  expect(await world.balance("ethereum", world.owner)).toBe(owner + paid);
  expect((await readTreasury()).announced).toBeNull();
});

test("claims of a chain fill its own inventory", async () => {
  const before = (await readShown()).moves.length;
  await world.emptyInventory("base");
  await world.until("the inventory is filled again", async () => {
    return (await world.inventory("base")) >= CAP;
  });
  const moves = await waitForMoves(before + 1);
  expect(moves[0]).toMatchObject({ from: "base", to: "base", amount: "500000" });
});

test("an operator moves by hand, up to what can be moved, after saying so", async () => {
  const args = ["--from", "ethereum", "--to", "ethereum", "--token", "USDC", "--reason", "a test"];
  await expect(
    world.command("inventory", "move", ...args, "--amount", "900000", "--json"),
  ).rejects.toThrow(/amount: expected at most \d/);
  const { moves: before } = await readShown();
  const would = await world.command("inventory", "move", ...args, "--amount", "5", "--json");
  expect(would).toMatchObject({ move: null, amount: "5" });
  expect((await readShown()).moves).toHaveLength(before.length);
  const inventory = await world.inventory("ethereum");
  await world.command("inventory", "move", ...args, "--amount", "5", "--yes", "--json");
  const [move] = await waitForMoves(before.length + 1);
  expect(move).toMatchObject({ from: "ethereum", to: "ethereum", amount: "5", reason: "a test" });
  expect(move?.operator).toContain("@");
  expect(await world.inventory("ethereum")).toBe(inventory + 5n * USDC);
  const log = JSON.stringify(await world.command("operators", "log", "--json"));
  expect(log).toContain('"action":"move"');
});

test("an operator sees the moves in the console, and asks for one", async () => {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const { context, page, complaints } = await openPage(browser, { width: 1280, height: 800 });
  await addAuthenticator(context, page);
  const invited = ["operators", "invite", "--name", "Otto", "--role", "operator"];
  const { url } = await world.command(...invited, "--json");
  await page.goto(String(url));
  const register = page.getByRole("button", { name: "Register a passkey", exact: true });
  await register.click();
  await register.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Moves of the treasuries" }).waitFor();
  const inventory = await world.inventory("ethereum");
  await page.getByRole("button", { name: "Move", exact: true }).click();
  const dialog = page.locator("dialog[open]");
  const direction = dialog.getByLabel("Direction");
  const option = direction.locator("option", { hasText: "of Ethereum to inventory of Ethereum" });
  await direction.selectOption({ label: await option.innerText() });
  await dialog.getByLabel("Amount").fill("999999");
  await dialog.getByLabel("Reason").fill("a rehearsal");
  await dialog.getByRole("button", { name: "Move" }).click();
  await dialog.getByText("amount: expected at most").waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await dialog.getByLabel("Amount").fill("7");
  await dialog.getByRole("button", { name: "Move" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("a rehearsal, console: Otto").waitFor();
  await world.until("the move has arrived", async () => {
    return (await world.inventory("ethereum")) === inventory + 7n * USDC;
  });
  expect(await inspect(page)).toEqual(FINE);
  expect(complaints).toEqual([]);
});

test("the ledger matches the chains: moves are settlements like any other", () =>
  expectProvedBooks(world));
