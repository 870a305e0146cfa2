/** Every scenario of the sandbox's faults, as the customer sees it on the pay page and the operator in the console. */
import { setTimeout as delay } from "node:timers/promises";
import { runServiceCommand, SCENARIO_NAMES, type ScenarioName } from "@sluice/sandbox";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLink } from "./support/browser-payments.ts";
import { FINE, inspect, launchBrowser, openPage, PHONE } from "./support/browser.ts";
import { openSolanaSandbox, type SolanaSandbox } from "./support/solana-sandbox.ts";

/** What the customer's page and the operator's list say at the end, the newest first. */
const ENDS: Readonly<
  Record<
    ScenarioName,
    { readonly customer: readonly string[]; readonly operator: readonly string[] }
  >
> = {
  "deposit-delivered": { customer: ["Delivered"], operator: ["completed"] },
  "deposit-reorged": { customer: ["Dropped by the network"], operator: ["dead"] },
  "deposit-replaced": { customer: ["Delivered"], operator: ["completed"] },
  "deposit-delayed": { customer: ["Delivered"], operator: ["completed"] },
  dust: { customer: ["Too little"], operator: [] },
  "below-minimum": { customer: ["Delivered"], operator: ["completed"] },
  "fee-on-transfer": { customer: ["Delivered"], operator: ["completed"] },
  "attestation-late": { customer: ["Delivered"], operator: ["completed"] },
  "bridge-stuck": { customer: ["Delivered"], operator: ["completed"] },
  "provider-outage": { customer: ["Delivered"], operator: ["completed"] },
  "route-paused": { customer: ["Delivered"], operator: ["completed"] },
  "settlement-dead": { customer: ["Not delivered"], operator: ["dead"] },
  "deposit-refunded": { customer: ["Refunded"], operator: ["dead"] },
  "webhook-endpoint-down": { customer: ["Delivered"], operator: ["completed"] },
  "clock-jump": { customer: ["Delivered", "Delivered"], operator: ["completed", "completed"] },
};

let world: SolanaSandbox;
let browser: Browser;
let customer: Page;
let operator: Page;
beforeAll(async () => {
  world = await openSolanaSandbox();
  browser = await launchBrowser();
  ({ page: customer } = await openPage(browser, PHONE));
  ({ page: operator } = await openPage(browser, { width: 1280, height: 800 }));
  const invitation = ["operators", "invite", "--name", "Vera", "--role", "viewer", "--json"];
  const { url } = await runServiceCommand([...invitation, "--config", world.configPath]);
  await operator.goto(String(url));
  await operator.getByRole("button", { name: "Sign out" }).waitFor();
}, 240_000);
afterAll(async () => {
  await browser.close();
  await world.close();
});

test.each(SCENARIO_NAMES)("%s", async (name) => {
  const ends = ENDS[name];
  const { address, url } = await openLink(world);
  await customer.goto(url);
  await customer.locator(".groups").waitFor();
  await operator.getByLabel("Search").fill(address);
  await operator.keyboard.press("Enter");
  const payments = customer.locator("article.payment");
  const said = new Set<string>();
  const playing = world.sandbox.play(name, { depositAddress: address, timeoutMs: 300_000 });
  const isOver = playing.then(() => true);
  while (!(await Promise.race([isOver, delay(200, false)]))) {
    for (const text of await payments.allInnerTexts()) said.add(text);
  }
  await expect.poll(() => payments.locator(".state").allInnerTexts()).toEqual(ends.customer);
  expect(await inspect(customer)).toEqual(FINE);
  // At no time did it say that a payment was delivered which was not.
  const isDelivered = ends.customer.includes("Delivered");
  expect([...said].some((text) => text.includes("has received")) && !isDelivered).toBe(false);

  await expect.poll(() => operator.locator("tbody .state").allInnerTexts()).toEqual(ends.operator);
  if (ends.operator.length === 0) return;
  // The newest tells what became of it.
  await operator.locator("tbody a").first().click();
  await operator.getByText("What happened").waitFor();
  const story = (await operator.locator(".timeline li").allInnerTexts()).join(" ");
  expect(story).toContain(ends.operator[0]);
  expect(story.includes("left the chain") || name !== "deposit-reorged").toBe(true);
  expect(await inspect(operator)).toEqual(FINE);
});
