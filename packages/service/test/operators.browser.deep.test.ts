/** The operators' console in a real browser with a virtual authenticator, on the whole sandbox. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runServiceCommand } from "@sluice/sandbox";
import type { OperatorRole } from "@sluice/sdk/wire";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { payNew } from "./support/browser-payments.ts";
import {
  addAuthenticator,
  FINE,
  inspect,
  launchBrowser,
  openPage,
  PHONE,
} from "./support/browser.ts";
import { startIdentityProvider } from "./support/identity-provider.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const DESKTOP = { width: 1280, height: 800 };

let world: SolanaSandbox;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  world = await openSolanaSandbox();
  browser = await launchBrowser();
}, 240_000);
afterAll(async () => {
  await browser.close();
  await world.close();
});
beforeEach(() => open());
afterEach(async () => {
  await context.close();
  if (complaints.length > 0) throw new Error(`the page failed: ${complaints.join("; ")}`);
});

/** Opens a page whose browser has an authenticator that verifies its person. */
async function open(viewport = DESKTOP): Promise<void> {
  ({ context, page, complaints } = await openPage(browser, viewport));
  await addAuthenticator(context, page);
}

const command = (...args: readonly string[]) =>
  runServiceCommand([...args, "--config", world.configPath, "--json"]);

/** Invites a person and follows the link. */
async function accept(name: string, role: OperatorRole): Promise<void> {
  const { url } = await command("operators", "invite", "--name", name, "--role", role);
  await page.goto(String(url));
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

async function join(name: string, role: OperatorRole): Promise<void> {
  await accept(name, role);
  const register = page.getByRole("button", { name: "Register a passkey", exact: true });
  await register.click();
  await register.waitFor({ state: "detached" });
}

const heading = () => page.getByRole("heading", { level: 1 });
const dialog = () => page.locator("dialog[open]");
const view = (name: string) => page.getByRole("link", { name, exact: true }).click();

async function search(text: string): Promise<void> {
  await page.getByLabel("Search").fill(text);
  await page.keyboard.press("Enter");
}

test("an operator pauses a chain, sees why a settlement waits, and lets it go on", async () => {
  await join("Otto", "operator");
  await expect
    .poll(() => page.locator(".tile h2").allInnerTexts())
    .toEqual(["Ethereum", "Base", "Solana"]);
  await page.getByRole("button", { name: "Pause" }).click();
  await dialog().getByLabel("Reason").fill("a rehearsal");
  expect(await inspect(page)).toEqual(FINE);
  await dialog().getByRole("button", { name: "Pause" }).click();
  await page.getByText("a rehearsal").waitFor();

  const address = await payNew(world, 5n * USDC);
  await world.until("it is queued", async () => (await world.swapsOf(address)).length === 1);
  await search(address);
  await page.locator("tbody a").first().click();
  await page.getByText("It waits for").waitFor();
  await page.getByText("What happened").waitFor();
  expect(await inspect(page)).toEqual(FINE);
  // A retry finds the pause again, and says nothing else.
  await page.getByRole("button", { name: "Retry" }).click();
  await dialog().getByLabel("Reason").fill("the customer called");
  await dialog().getByRole("button", { name: "Retry" }).click();
  await dialog().waitFor({ state: "detached" });

  await view("Overview");
  await page.getByRole("button", { name: "Resume" }).click();
  await dialog().getByLabel("Reason").fill("the rehearsal is over");
  await dialog().getByRole("button", { name: "Resume" }).click();
  await page.getByText("Nothing is paused.").waitFor();
  await search(address);
  await page.locator("tbody a").first().click();
  await expect
    .poll(() => page.locator(".state").innerText(), { timeout: 120_000 })
    .toBe("completed");
  const lines = await page.locator(".timeline li").allInnerTexts();
  const story = lines.join(" ");
  for (const text of ["5 USDC in block", "sweep on ethereum", "deliver on base", "completed"]) {
    expect(story).toContain(text);
  }
  await view("Log");
  await page.getByText("each with the hash of the one before").waitFor();
  const done = await page.locator("tbody td[data-name=What]").allInnerTexts();
  expect(done).toEqual(expect.arrayContaining(["pause chain", "settlement retry", "resume chain"]));
  await page.getByRole("cell", { name: "the rehearsal is over", exact: true }).waitFor();
  expect(await inspect(page)).toEqual(FINE);
  expect((await command("operators", "log"))["proof"]).toMatchObject({ brokenAt: null });
});

test("who has only an invitation or the role of a viewer looks, and changes nothing", async () => {
  await accept("Vera", "viewer");
  await page.getByText("You signed in without a passkey").waitFor();
  expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  await view("People");
  await page.getByText("Vera").first().waitFor();
  expect(await page.getByRole("button", { name: "Invite" }).count()).toBe(0);
  await view("Settlements");
  await expect.poll(() => heading().innerText()).toBe("Settlements");
  expect(await inspect(page)).toEqual(FINE);
  // The same from the page's own script: the service refuses it, not the page.
  const status = await page.evaluate(
    `fetch("/api/pauses", { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ chainId: 2, reason: "x" }) }).then(({ status }) => status)`,
  );
  expect(status).toBe(403);
});

test("an admin invites and disables a person, whose session ends, stolen or not", async () => {
  await join("Ada", "admin");
  await view("People");
  await page.getByRole("button", { name: "Invite" }).click();
  await dialog().getByLabel("Name").fill("Eve");
  await dialog().getByLabel("Role").selectOption("operator");
  await dialog().getByRole("button", { name: "Invite" }).click();
  const link = await page.locator(".invitation").innerText();
  expect(await inspect(page)).toEqual(FINE);
  await dialog().getByRole("button", { name: "Close" }).click();

  const other = await openPage(browser, DESKTOP);
  await other.page.goto(link);
  await other.page.getByRole("button", { name: "Sign out" }).waitFor();
  const stolen = await other.context.cookies();
  expect(stolen).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  const asThief = async () => {
    const { operatorsUrl = "" } = world.sandbox.descriptor;
    const [{ name, value } = { name: "", value: "" }] = stolen;
    return fetch(`${operatorsUrl}/api/session`, { headers: { cookie: `${name}=${value}` } });
  };
  expect((await asThief()).status).toBe(200);
  // The link works once.
  const again = await openPage(browser, DESKTOP);
  await again.page.goto(link);
  await again.page.getByRole("alert").waitFor();
  expect(await inspect(again.page)).toEqual(FINE);
  await again.context.close();

  await page.locator("tr", { hasText: "Eve" }).getByRole("button", { name: "Disable" }).click();
  await dialog().getByLabel("Reason").fill("left");
  await dialog().getByRole("button", { name: "Disable" }).click();
  await page.getByRole("cell", { name: "disabled", exact: true }).waitFor();
  expect((await asThief()).status).toBe(401);
  await other.page.reload();
  await other.page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
  await other.context.close();
});

test("an operator reads inventories, trends and an integrator, and drains and opens a chain", async () => {
  await join("Otto", "operator");
  await page.getByRole("cell", { name: "USDC on Base", exact: true }).first().waitFor();
  await page.getByRole("cell", { name: "deliver", exact: true }).first().waitFor();
  const books = page.locator("section", { has: page.getByRole("heading", { name: "The books" }) });
  await books.getByRole("cell", { name: "delivered to recipients", exact: true }).first().waitFor();
  const download = page.waitForEvent("download");
  await books.getByRole("button", { name: "As CSV" }).click();
  const shown = readFileSync(await (await download).path(), "utf8");
  expect(shown).toContain('"Chain","Account","Amount"');
  expect(await page.locator(".tile").first().innerText()).toMatch(/Head\s+\d+/);

  // A scanner records its distance to the head every few seconds, and the console reads a long range only now and then.
  const readTrends = () => page.evaluate(async () => (await fetch("/api/trends?range=1h")).text());
  await expect
    .poll(readTrends, { timeout: 60_000, interval: 2_000 })
    .toContain('"lags":[{"chain":"ethereum"');
  await view("Trends");
  await page.getByRole("img", { name: "Newest: half within" }).waitFor();
  await page.getByRole("img", { name: "Completed settlements: SWIFT" }).waitFor();
  await page.getByRole("img", { name: "The most blocks behind the head: Ethereum" }).waitFor();
  await page.getByRole("cell", { name: "USDC on ethereum", exact: true }).waitFor();
  expect(await inspect(page)).toEqual(FINE);

  await view("Integrators");
  await view("acme");
  await page.getByText("Refund authority", { exact: true }).waitFor();
  await page.getByRole("cell", { name: "valid", exact: true }).first().waitFor();
  await view("Deposits");
  await page.getByRole("cell", { name: "5 USDC", exact: true }).first().waitFor();
  expect(await inspect(page)).toEqual(FINE);

  await view("Overview");
  await view("Base");
  await page.getByText("The auditor found none that is open.").waitFor();
  for (const [name, opposite] of [
    ["Drain", "Open again"],
    ["Open again", "Drain"],
  ] as const) {
    await page.getByRole("button", { name, exact: true }).click();
    await dialog().getByLabel("Reason").fill("a rehearsal");
    expect(await inspect(page)).toEqual(FINE);
    await dialog().getByRole("button", { name, exact: true }).click();
    await page.getByRole("button", { name: opposite, exact: true }).waitFor();
  }

  await view("Settlements");
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "All as CSV" }).click();
  const saved = readFileSync(await (await saving).path(), "utf8").split("\r\n");
  expect(saved[0]).toMatch(/^"createdAt","updatedAt","id","status"/);
  expect(saved[1]).toContain('"completed"');
  expect(saved.at(-1)).toBe("");
});

test("an admin runs the doctor and the audit, hands out a key, and sends events again", async () => {
  await join("Ada", "admin");
  await view("Checks");
  await page.getByRole("button", { name: "Run the audit" }).click();
  await page.getByText("The ledger agrees with the chains.").waitFor();
  await page.getByRole("button", { name: "Run the doctor" }).click();
  const report = page.getByLabel("Report of the doctor");
  await report.waitFor();
  expect(await report.innerText()).toMatch(/ok/);
  expect(await inspect(page)).toEqual(FINE);

  const receiver = createServer((_, answer) => answer.end()).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  try {
    const url = `http://127.0.0.1:${port}/events`;
    await command("webhook", "create", "--integrator", "acme", "--url", url);
    await view("Integrators");
    await view("acme");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await dialog().getByLabel("A name for people").fill("reporting");
    await dialog().getByRole("checkbox", { name: "read", exact: true }).check();
    await dialog().getByLabel("Reason").fill("asked for by Ann");
    expect(await inspect(page)).toEqual(FINE);
    await dialog().getByRole("button", { name: "Create", exact: true }).click();
    const apiKey = await dialog().locator("code").innerText();
    expect(apiKey).toMatch(/^sk_test_[0-9a-f]{32}$/);
    const list = await fetch(`${world.sandbox.service.baseUrl}/swaps`, {
      headers: { "x-api-key": apiKey },
    });
    expect(list.status).toBe(200);
    await dialog().getByRole("button", { name: "Close" }).click();
    const row = page.getByRole("row", { name: /reporting/ });
    await row.getByRole("button", { name: "Revoke" }).click();
    await dialog().getByLabel("Reason").fill("it was a rehearsal");
    await dialog().getByRole("button", { name: "Revoke" }).click();
    await row.getByRole("cell", { name: "revoked", exact: true }).waitFor();

    await view("Deliveries");
    await page.getByRole("button", { name: "Resend" }).click();
    await dialog().getByLabel("After").fill("2020-01-01T00:00:00");
    await dialog().getByLabel("Reason").fill("they lost a day");
    await dialog().getByRole("button", { name: "Resend" }).click();
    expect(await dialog().getByRole("status").innerText()).toMatch(/^[1-9]\d* events are queued/);
    await dialog().getByRole("button", { name: "Close" }).click();
    await page.getByRole("cell", { name: "delivered", exact: true }).first().waitFor();
    expect(await inspect(page)).toEqual(FINE);
  } finally {
    receiver.close();
  }
  await view("Log");
  await page.getByText("each with the hash of the one before").waitFor();
  const done = await page.locator("tbody td[data-name=What]").allInnerTexts();
  const expected = ["integrator create key", "integrator revoke key", "integrator resend webhook"];
  expect(done).toEqual(expect.arrayContaining(expected));
});

test("signing in by passkey on a phone, and every view fits it", async () => {
  await context.close();
  await open(PHONE);
  // Otto's passkey is in another browser: an invitation lets him register one here.
  await join("Otto", "operator");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  for (const name of [
    "Overview",
    "Settlements",
    "Trends",
    "Integrators",
    "Checks",
    "Log",
    "People",
  ]) {
    await view(name);
    await page.locator("main .card").first().waitFor();
    await page.getByText("Loading…").waitFor({ state: "detached" });
    expect([name, await inspect(page)]).toEqual([name, FINE]);
  }
});

test("signing in by an identity provider", async () => {
  const { operatorsUrl = "" } = world.sandbox.descriptor;
  const provider = await startIdentityProvider(`${operatorsUrl}/api/session/identity/callback`);
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const { issuer, clientId, clientSecret } = provider;
  const identityProvider = { issuer, clientId, clientSecret: { env: "CLIENT_SECRET" } };
  config.console = { ...config.console, identityProvider };
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.sandbox.restartService({ CLIENT_SECRET: clientSecret });
  const invitation = ["operators", "invite", "--name", "Ida", "--role", "operator"];
  const identity = ["--identity", "ida@example.com", "--config", world.configPath, "--json"];
  await runServiceCommand([...invitation, ...identity], { CLIENT_SECRET: clientSecret });
  provider.be({ sub: "person-1", email: "ida@example.com" });
  await page.goto(operatorsUrl);
  const link = page.getByRole("link", { name: "Sign in with your company's account" });
  await link.waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await link.click();
  await page.getByText("You signed in without a passkey").waitFor();
  await page.getByRole("button", { name: "Register a passkey", exact: true }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await context.clearCookies();
  provider.be({ sub: "person-2", email: "eve@example.com" });
  await link.click();
  await page.getByText("Nobody of this identity may use the console").waitFor();
  expect(await inspect(page)).toEqual(FINE);
});
