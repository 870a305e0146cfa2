/** The pay page in a real browser, on the whole sandbox: as a person pays, and as a page embeds it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openProject } from "../../../scripts/release/project.ts";
import { openLink } from "./support/browser-payments.ts";
import { FINE, inspect, launchBrowser, openPage, PHONE } from "./support/browser.ts";
import { openSolanaSandbox, type SolanaSandbox, USDC } from "./support/solana-sandbox.ts";

const REACT_COMPONENT = join(import.meta.dirname, "../../web/src/react.ts");

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

beforeEach(async () => {
  ({ context, page, complaints } = await openPage(browser));
});
afterEach(async () => {
  await context.close();
  if (complaints.length > 0) throw new Error(`the page failed: ${complaints.join("; ")}`);
});

const payment = () => page.locator("article.payment").first();
const state = () => payment().locator(".state");

test("a payment on an EVM chain is followed to its receipt, over a reload and without a network", async () => {
  const { address, recipient, url } = await openLink(world, "evm");
  await page.goto(url);
  const text = page.locator(".groups");
  await text.waitFor();
  expect((await text.innerText()).replaceAll(/\s/g, "")).toBe(address);
  await page.getByText("Checked in your browser").waitFor();
  expect(await page.locator("svg.code").getAttribute("aria-label")).toContain(address);
  const code = await page.locator("svg.code").boundingBox();
  expect(code?.width).toBeGreaterThanOrEqual(220);
  await page.getByLabel("Amount to send").fill("25");
  await page.getByText("about 24.975 USDC").waitFor();
  const uri = await page.getByText("Open in wallet").getAttribute("href");
  expect(uri).toBe(
    `ethereum:${world.tokenOn("ethereum")}@900002/transfer?address=${address}&uint256=25000000`,
  );
  expect(await inspect(page)).toEqual(FINE);

  await context.setOffline(true);
  await world.payEvm("ethereum", address, 25n * USDC, world.tokenOn("ethereum"));
  await world.until("the deposit is known", async () => (await world.deposits(address)) === 1);
  await context.setOffline(false);
  await payment().waitFor();
  await page.reload();
  await expect.poll(() => state().innerText(), { timeout: 60_000 }).toBe("Delivered");
  const receipt = page.locator(".receipt");
  expect(await receipt.innerText()).toContain("24.975 USDC");
  expect(await receipt.innerText()).toContain(recipient);
  const saving = page.waitForEvent("download");
  await page.getByText("Save as JSON").click();
  const saved = readFileSync(await (await saving).path(), "utf8");
  expect(JSON.parse(saved)).toMatchObject({
    title: "Order 17",
    paid: { amount: "25000000", amountUnits: "25", depositAddress: address },
    delivered: { amount: "24975000", amountUnits: "24.975", wallet: recipient },
  });
  expect(await inspect(page)).toEqual(FINE);
});

test("a payment on Solana is followed, from an address that the signer vouches for", async () => {
  const { address, url } = await openLink(world, "solana");
  // Without events the page polls.
  await page.route("**/events", (route) => route.abort());
  await page.goto(url);
  await page.getByText("Signed by the operator's signer").waitFor();
  await page.getByText("Updates every few seconds.").waitFor();
  const uri = await page.getByText("Open in wallet").getAttribute("href");
  expect(uri).toContain(`solana:${address}?`);
  await world.payTokens(world.mintOf("USDC"), address, 9n * USDC);
  await expect.poll(() => state().innerText(), { timeout: 60_000 }).toBe("Delivered");
  expect(await page.locator(".receipt").innerText()).toContain("8.991 USDC");
  expect(await inspect(page)).toEqual(FINE);
});

test("less than the minimum names what is missing, and is delivered with the rest", async () => {
  const { address, url } = await openLink(world, "evm");
  await page.goto(url);
  await page.getByLabel("Amount to send").fill("0.4");
  await page.getByText("less than the minimum of 1 USDC").waitFor();
  await world.payEvm("ethereum", address, (4n * USDC) / 10n, world.tokenOn("ethereum"));
  await expect.poll(() => state().innerText(), { timeout: 30_000 }).toBe("Too little");
  await page.getByText("Send at least 0.6 USDC more on Ethereum").waitFor();
  expect(await inspect(page)).toEqual(FINE);
  await world.payEvm("ethereum", address, USDC, world.tokenOn("ethereum"));
  await expect.poll(() => state().innerText(), { timeout: 60_000 }).toBe("Delivered");
  expect(await page.locator(".receipt").innerText()).toContain("1.4 USDC");
});

test("a title is text, and a link that is not known says so in the reader's language [T292]", async () => {
  const title = "<img src=x onerror=alert(1)>";
  const { url } = await openLink(world, "evm", title);
  await page.goto(url);
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(title);
  expect(await page.locator("sluice-pay img").count()).toBe(0);
  await page.goto(`${url.slice(0, -3)}AAA`);
  await page.getByText("This link is not known").waitFor();
  await page.getByText("Deutsch").click();
  await page.getByText("Dieser Link ist nicht bekannt").waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("de");
  expect(await inspect(page)).toEqual(FINE);
});

/** Serves one page of another origin that embeds the element. */
async function serveShop(attributes: string): Promise<{ server: Server; origin: string }> {
  const { baseUrl } = world.sandbox.service;
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.setHeader(
      "content-security-policy",
      `default-src 'none'; script-src ${baseUrl}; connect-src ${baseUrl}; frame-src ${baseUrl}`,
    );
    response.end(`<!doctype html><html lang="de"><title>Shop</title><body>
      <script type="module" src="${baseUrl}/pay/assets/sluice-pay.js"></script>
      <sluice-pay ${attributes}></sluice-pay>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // CAST: the server listens on a port.
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("an embedding page checks the address against its own values, and hears of the delivery", async () => {
  const { address, recipient, token } = await openLink(world, "evm");
  const pinned = (wallet: string) =>
    `token="${token}" factory="${world.deployment.factory}" dest-chain="30" dest-wallet="${wallet}"`;
  const { server, origin } = await serveShop(pinned(recipient));
  const other = await serveShop(pinned(world.newEvmWallet()));
  const strict = await browser.newContext({ viewport: PHONE, locale: "en-GB" });
  try {
    page = await strict.newPage();
    await page.exposeFunction("record", (amount: string) => heard.push(amount));
    const heard: string[] = [];
    await page.addInitScript(
      'addEventListener("sluice:completed", (event) => record(event.detail.deliveredAmount))',
    );
    await page.goto(origin);
    await page.getByText("Die Ausgangswerte dieser Prüfung stammen von der Seite").waitFor();
    await world.payEvm("ethereum", address, 5n * USDC, world.tokenOn("ethereum"));
    await expect.poll(() => heard, { timeout: 60_000 }).toEqual(["4995000"]);

    await page.goto(other.origin);
    await page.getByText("Zahlen Sie nicht an diese Adresse").waitFor();
    expect(await page.locator(".groups, svg.code").count()).toBe(0);
  } finally {
    await strict.close();
    server.close();
    other.server.close();
  }
});

/** Bundles a React page with the component, as a shop's own build does. */
async function bundleReactShop(props: object): Promise<{ script: string; remove: () => void }> {
  const scratch = mkdtempSync(join(tmpdir(), "sluice-react-"));
  const project = await openProject(scratch, "shop", { react: "19.3.1", "react-dom": "19.3.1" });
  const entry = join(project, "page.js");
  writeFileSync(
    entry,
    `import * as React from "react";
     import { createRoot } from "react-dom/client";
     import { createSluicePay } from ${JSON.stringify(REACT_COMPONENT)};
     const SluicePay = createSluicePay(React);
     function Shop() {
       const [said, setSaid] = React.useState("Waiting");
       return React.createElement("main", null,
         React.createElement("h1", null, said),
         React.createElement(SluicePay, { ...${JSON.stringify(props)},
           onStatus: () => setSaid((known) => (known === "Waiting" ? "Watching" : known)),
           onCompleted: ({ deliveredAmount }) => setSaid("Thank you for " + deliveredAmount) }));
     }
     createRoot(document.querySelector("#shop")).render(React.createElement(Shop));`,
  );
  const built = await build({
    root: project,
    configFile: false,
    logLevel: "error",
    mode: "production",
    define: { "process.env.NODE_ENV": '"production"' },
    oxc: { jsx: { runtime: "automatic", importSource: "preact", development: false } },
    build: { write: false, lib: { entry, formats: ["es"] } },
  });
  // CAST: with one format and no watch mode the result is a list of one.
  const [{ output }] = built as [Rolldown.RolldownOutput];
  return {
    script: output[0].code,
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

test("a React page shows the element, and hears of the status and the delivery", async () => {
  const { address, recipient, token } = await openLink(world, "evm");
  const { script, remove } = await bundleReactShop({
    token,
    server: `${world.sandbox.service.baseUrl}/pay/`,
    factory: world.deployment.factory,
    destChain: 30,
    destWallet: recipient,
  });
  const server = createServer((request, response) => {
    const isScript = request.url === "/shop.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript
        ? script
        : `<!doctype html><html lang="en"><title>Shop</title><div id="shop"></div>
           <script type="module" src="/shop.js"></script>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    // CAST: the server listens on a port.
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const heading = page.locator("main > h1");
    await expect.poll(() => heading.innerText(), { timeout: 30_000 }).toBe("Watching");
    await page.locator(".groups").waitFor();
    await world.payEvm("ethereum", address, 5n * USDC, world.tokenOn("ethereum"));
    await expect.poll(() => heading.innerText(), { timeout: 60_000 }).toBe("Thank you for 4995000");
  } finally {
    server.close();
    remove();
  }
});

test("a page of another origin cannot frame the page [T293]", async () => {
  const { url } = await openLink(world, "evm");
  const { server, origin } = await serveShop('token=""');
  try {
    await page.goto(origin);
    await page.evaluate(`new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.src = ${JSON.stringify(url)};
      frame.addEventListener("load", resolve);
      document.body.append(frame);
    })`);
    expect(page.frames()[1]?.url()).not.toBe(url);
  } finally {
    server.close();
  }
});
