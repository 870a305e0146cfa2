/** The installed SDK in a page that Vite builds, in a real browser. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { build, type Rolldown } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findChromium } from "../../packages/service/test/support/chromium.ts";
import { buildPackages } from "./build.ts";
import { packPackages } from "./pack.ts";
import { openProject } from "./project.ts";

let scratch: string;
let project: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "sluice-page-"));
  const built = buildPackages(join(import.meta.dirname, "../../release/page"), [
    "contracts",
    "sdk",
  ]);
  const tarballs = packPackages(built, scratch);
  project = await openProject(scratch, "page", Object.fromEntries(tarballs));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Bundles a program; fails where it needs something that a browser does not have. */
async function bundle(program: string): Promise<string> {
  const entry = join(project, "page.ts");
  writeFileSync(entry, program);
  const warnings: string[] = [];
  const built = await build({
    root: project,
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      lib: { entry, formats: ["es"] },
      rollupOptions: { onwarn: ({ message = "" }) => void warnings.push(message) },
    },
  });
  expect(warnings).toEqual([]);
  // CAST: with one format and no watch mode the result is a list of one.
  const [{ output }] = built as [Rolldown.RolldownOutput];
  return output[0].code;
}

test("computes an address in a browser, without anything of Node", async () => {
  const script = await bundle(
    `import { predictWallet } from "@sluice/sdk";
     import vectors from "@sluice/contracts/vectors";
     const [{ factory, commitment, wallet }] = vectors.wallets;
     document.title = predictWallet({ factory, commitment }).toLowerCase() === wallet ? "same" : "different";`,
  );
  expect(script).not.toContain('"node:');
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : `<script type="module" src="/page.js"></script>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const executablePath = findChromium();
  if (!executablePath) throw new Error("expected a Chromium on PATH, or its path in CHROMIUM");
  // Chromium's sandbox does not run as root, and the page is our own.
  const chromiumSandbox = process.getuid?.() !== 0;
  const browser = await chromium.launch({ executablePath, chromiumSandbox });
  try {
    const page = await browser.newPage();
    // CAST: the server listens on a port.
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction("document.title !== ''");
    expect(await page.title()).toBe("same");
  } finally {
    await browser.close();
    server.close();
  }
});
