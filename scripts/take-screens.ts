/**
 * `npm run screens`: plays a few payments on a new sandbox and takes pictures of the pages into `docs/screens`, at the size of a
 * phone and of a desktop, light and dark. They are for people to judge; no test compares them.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeSandbox, runServiceCommand, startSandbox } from "@sluice/sandbox";
import { createSluiceClient } from "@sluice/sdk";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../packages/service/test/support/browser.ts";

const OUT = join(import.meta.dirname, "../docs/screens");
const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;
const SCHEMES = ["light", "dark"] as const;
const SETTLE_MS = 1_500;

const stateDir = mkdtempSync(join(tmpdir(), "sluice-screens-"));
// The embedded PostgreSQL runs as `nobody` where this runs as root.
chmodSync(stateDir, 0o755);
const sandbox = await startSandbox({
  stateDir,
  ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
});
const browser = await launchBrowser();
try {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await takeAll(browser);
} finally {
  await browser.close();
  await sandbox.stop();
  await removeSandbox(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
}

/** Takes every view at every size and in both schemes. */
async function takeAll(from: Browser): Promise<void> {
  const { descriptor, configPath } = sandbox;
  const [integrator] = descriptor.integrators;
  const client = createSluiceClient({ ...descriptor, apiKey: integrator?.apiKey ?? "" });
  const links: string[] = [];
  for (const name of ["deposit-delivered", "below-minimum", "settlement-dead"] as const) {
    const { depositAddress } = await sandbox.play(name, { timeoutMs: 300_000 });
    for await (const one of client.iterateDepositAddresses()) {
      if (one.walletAddress !== depositAddress) continue;
      const link = await client.createPayLink({ depositAddressId: one.id, title: "Order 17" });
      links.push(link.url);
    }
  }
  const [delivered = "", , refused = ""] = links;
  const fresh = await openUnpaid(client);
  const { items } = await client.listSwaps({ limit: 1 });
  const settlement = items[0]?.id ?? "";
  const { operatorsUrl = "" } = descriptor;
  const [chain] = descriptor.chains;
  const views: Readonly<Record<string, string>> = {
    "pay-before": fresh,
    "pay-delivered": delivered,
    "pay-not-delivered": refused,
    "operators-overview": `${operatorsUrl}/?view=overview`,
    "operators-settlements": `${operatorsUrl}/?view=settlements`,
    "operators-settlement": `${operatorsUrl}/?view=settlement&id=${settlement}`,
    "operators-integrator": `${operatorsUrl}/?view=integrator&name=${integrator?.name}`,
    "operators-chain": `${operatorsUrl}/?view=chain&id=${chain?.chainId}`,
    "operators-trends": `${operatorsUrl}/?view=trends&range=1h`,
  };
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of SCHEMES) {
      const options = { viewport, colorScheme, locale: "en-GB", reducedMotion: "reduce" } as const;
      const context = await from.newContext(options);
      const page = await context.newPage();
      await signIn(page, configPath, `${size} ${colorScheme}`);
      for (const [view, url] of Object.entries(views)) {
        await page.goto(url);
        await page.waitForTimeout(SETTLE_MS);
        const path = join(OUT, `${view}-${size}-${colorScheme}.png`);
        await page.screenshot({ path });
      }
      await context.close();
    }
  }
}

async function signIn(page: Page, configPath: string, name: string): Promise<void> {
  const invitation = ["operators", "invite", "--name", name, "--role", "operator", "--json"];
  const { url } = await runServiceCommand([...invitation, "--config", configPath]);
  await page.goto(String(url));
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Returns the link of an address that nobody has paid. */
async function openUnpaid(client: ReturnType<typeof createSluiceClient>): Promise<string> {
  const { quotes } = await client.quote({
    amountIn64: "25000000",
    fromChain: "ethereum",
    fromToken: "USDC",
    toChain: "base",
    toToken: "USDC",
    slippageBps: "auto",
    destinationAddress: sandbox.keys.treasury.account.address,
    payDeposit: true,
  });
  const wallet = quotes[0]?.payDepositAddress;
  for await (const one of client.iterateDepositAddresses()) {
    if (one.walletAddress !== wallet) continue;
    return (await client.createPayLink({ depositAddressId: one.id, title: "Order 17" })).url;
  }
  throw new Error("the service lists the address");
}
