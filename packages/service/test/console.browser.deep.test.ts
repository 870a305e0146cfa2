/** The console in a real browser, on the whole sandbox: two integrators, a delivery, a deposit that waits, and a phone. */
import { readFileSync } from "node:fs";
import { runServiceCommand } from "@sluice/sandbox";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { payNew } from "./support/browser-payments.ts";
import { FINE, inspect, launchBrowser, openPage } from "./support/browser.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

let world: SolanaSandbox;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];
/** A delivered deposit. */
let paid: { readonly address: string; readonly id: string };

beforeAll(async () => {
  world = await openSolanaSandbox();
  browser = await launchBrowser();
  const address = await payNew(world, 25n * USDC);
  paid = { address, id: (await world.settled(address)).id };
}, 240_000);
afterAll(async () => {
  await browser.close();
  await world.close();
});

beforeEach(async () => {
  ({ context, page, complaints } = await openPage(browser, { width: 1280, height: 800 }));
});
afterEach(async () => {
  await context.close();
  if (complaints.length > 0) throw new Error(`the page failed: ${complaints.join("; ")}`);
});

function keyOf(index: number): string {
  const integrator = world.sandbox.descriptor.integrators[index];
  if (!integrator) throw new Error("the sandbox has such an integrator");
  return integrator.apiKey;
}

async function signIn(path = "console", integrator = 0): Promise<void> {
  await page.goto(`${world.sandbox.descriptor.baseUrl}/${path}`);
  await page.getByLabel("API key").fill(keyOf(integrator));
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

async function search(text: string): Promise<void> {
  await page.getByLabel("Search").fill(text);
  await page.keyboard.press("Enter");
}

async function pause(...args: readonly [string, ...string[]]): Promise<void> {
  const config = ["--config", world.configPath];
  await runServiceCommand([...config, "pause", ...args, "--chain", "ethereum", "--json"]);
}

const heading = () => page.getByRole("heading", { level: 1 });

test("a key opens its own lists, by keyboard too, and signing out forgets it", async () => {
  await page.goto(`${world.sandbox.descriptor.baseUrl}/console`);
  await page.getByLabel("API key").fill("00000000-0000-4000-8000-000000000000");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await signIn();
  await page.getByText("24.975 USDC").or(page.getByText("25 USDC")).first().waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await page.reload();
  await page.getByText("25 USDC").first().waitFor();
  for (const name of ["Deposits", "Addresses"]) {
    await page.getByRole("link", { name }).click();
    await expect.poll(() => heading().innerText()).toBe(name);
    await page.locator("tbody tr").first().waitFor();
    expect(await inspect(page)).toEqual(FINE);
  }
  await page.goBack();
  await expect.poll(() => heading().innerText()).toBe("Deposits");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
});

test("a settlement is found by its id, address and transactions, and shows its whole story", async () => {
  const report = await world.client().getSettlement(paid.id);
  await signIn();
  for (const text of [paid.id, report.swapTxHash ?? "", report.deliveryTxHash ?? ""]) {
    await page.getByRole("link", { name: "Addresses" }).click();
    await search(text);
    await expect.poll(() => heading().innerText()).toBe("25 USDC to USDC on Base");
  }
  const timeline = page.locator(".timeline li");
  await expect.poll(() => timeline.count()).toBeGreaterThanOrEqual(4);
  const lines = await timeline.locator("b").allInnerTexts();
  expect([lines[0], lines.at(-1)]).toEqual(["Deposit of 25 USDC", "completed"]);
  const shown = await page.locator(".facts").innerText();
  for (const text of [report.destWallet, paid.address, "24.975 USDC", "SWIFT"]) {
    expect(shown).toContain(text);
  }
  const purposes = await page.locator("tbody td:first-child").allInnerTexts();
  expect(purposes).toEqual(report.transactions.map(({ purpose }) => purpose));
  expect(await inspect(page)).toEqual(FINE);
  await search(paid.address);
  await expect.poll(() => heading().innerText()).toBe("Settlements");
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
  await search("nonsense");
  await page.getByText("Search for an id, an address, a user or a transaction.").waitFor();
});

test("a link to filters opens them, another integrator sees nothing of them, and the CSV is the export", async () => {
  await context.close();
  // Under the policy of the page, as everywhere but in tests that add a script.
  context = await browser.newContext({ locale: "en-GB" });
  page = await context.newPage();
  const refused: string[] = [];
  page.on("console", (message) => refused.push(message.text()));
  await signIn(`console?view=settlements&walletAddress=${paid.address}`);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
  await page.getByLabel("Status").selectOption("dead");
  await page.getByText("No settlement matches.").waitFor();
  expect(new URL(page.url()).searchParams.get("status")).toBe("dead");
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "All as CSV" }).click();
  const saved = readFileSync(await (await saving).path(), "utf8");
  expect(saved).toContain(paid.id);
  expect(refused).toEqual([]);

  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(`console?view=settlement&id=${paid.id}`, 1);
  await page.getByText("There is no such settlement of yours.").waitFor();
  await search(paid.id);
  await page.getByText("Nothing of this key has that name.").waitFor();
});

test("on a phone, why a settlement waits is said in words until it goes on", async () => {
  await context.close();
  ({ context, page, complaints } = await openPage(browser));
  await pause("start", "--reason", "a rehearsal");
  const address = await payNew(world, 5n * USDC);
  await world.until("it is queued", async () => (await world.swapsOf(address)).length === 1);
  await signIn(`console?walletAddress=${address}`);
  await page.locator("tbody a").first().click();
  await page.getByText("Reason:").waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await pause("end", "--reason", "the rehearsal is over");
  await expect
    .poll(() => page.locator(".state").innerText(), { timeout: 120_000 })
    .toBe("completed");
  expect(await inspect(page)).toEqual(FINE);
});
