/** A real browser for the pages, and what every page must be. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { buildPages } from "../../../web/build.ts";
import { findChromium } from "./chromium.ts";

const PAGES = join(import.meta.dirname, "../../pages");
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The smallest screen. */
export const PHONE = { width: 320, height: 640 };

/** Starts the browser, after the pages are built if they are not. */
export async function launchBrowser(): Promise<Browser> {
  if (!existsSync(PAGES)) await buildPages();
  const executablePath = findChromium();
  if (!executablePath) throw new Error("expected a Chromium on PATH, or its path in CHROMIUM");
  // Chromium's sandbox does not run as root, and the pages are our own.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}

/** Gives a page's browser an authenticator that verifies its person. */
export async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Opens a page whose policy lets a test add its own script. Its errors are collected in `complaints`. */
export async function openPage(browser: Browser, viewport = PHONE) {
  const context = await browser.newContext({
    viewport,
    locale: "en-GB",
    reducedMotion: "reduce",
    bypassCSP: true,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Returns the violations that axe finds, and the elements that make the page wider than the screen. */
export async function inspect(page: Page): Promise<unknown> {
  await page.addScriptTag({ content: readFileSync(AXE, "utf8") });
  return page.evaluate(`axe.run().then(({ violations }) => ({
    violations: violations.map(({ id }) => id),
    wide: document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth)
      .map(({ tagName, className }) => tagName + "." + className),
  }))`);
}

/** What a page must be. */
export const FINE = { violations: [], wide: [] };
