/** The packages as their users get them: packed, installed from their tarballs into new projects, and run there. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type Descriptor, findFreePort } from "@sluice/sandbox";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createEmptyDatabase } from "../../packages/service/test/support/database.ts";
import { buildPackages } from "./build.ts";
import { packPackages } from "./pack.ts";
import { openProject, run } from "./project.ts";
import { writeReference } from "./reference.ts";
import { runInside, runSluice, startSluice } from "./rootfs.ts";

const ROOT = join(import.meta.dirname, "../..");
const PLATFORM = `${process.platform}-${process.arch}`;

/** Tools of the tests, installed beside the projects: none of them is part of this repository. */
const TOOLS = {
  "@arethetypeswrong/cli": "0.18.5",
  "openapi-fetch": "0.17.0",
  "openapi-typescript": "7.13.0",
  publint: "0.3.25",
  typescript: "5.9.3",
  node20: `npm:node-${PLATFORM}@20.20.2`,
  node22: `npm:node-${PLATFORM}@22.23.3`,
} as const;

let scratch: string;
let tarballs: ReadonlyMap<string, string>;
let tools: string;

const tarball = (name: string) => {
  const path = tarballs.get(`@sluice/${name}`);
  if (!path) throw new Error(`expected a tarball of ${name}`);
  return path;
};

const tool = (name: string) => join(tools, "node_modules/.bin", name);
const NODES = ["20", "22", "24"] as const;
const nodeOf = (major: (typeof NODES)[number]) =>
  major === "24" ? process.execPath : join(tools, `node_modules/node${major}/bin/node`);

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "sluice-installed-"));
  // In the repository: the compiler finds the dependencies there.
  const built = buildPackages(join(ROOT, "release/installed"));
  tarballs = packPackages(built, join(scratch, "tarballs"));
  tools = await openProject(scratch, "tools", TOOLS);
}, 600_000);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const PACKAGES = ["contracts", "sdk", "service", "sandbox"] as const;

describe("tarballs", () => {
  test.each(PACKAGES)("of %s have no fault that publint finds", async (name) => {
    const printed = await run(tool("publint"), [tarball(name), "--strict"], scratch);
    expect(printed).toContain("All good!");
  });

  // Modules only: `require` loads them from Node 20.19 on. It fails where it finds something.
  test.each(["contracts", "sdk", "sandbox"])("of %s have types that resolve", async (name) => {
    const args = [tarball(name), "--profile", "esm-only"];
    await expect(run(tool("attw"), args, scratch)).resolves.toContain(name);
  });

  test.each(PACKAGES)("of %s hold no sources and no tests", async (name) => {
    const files = (await run("tar", ["tzf", tarball(name)], scratch)).trim().split("\n");
    expect(files).toContain("package/LICENSE");
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\./.test(file))).toEqual([]);
  });
});

describe("the SDK", () => {
  let project: string;
  beforeAll(async () => {
    project = await openProject(scratch, "client", {
      "@sluice/sdk": tarball("sdk"),
      "@sluice/contracts": tarball("contracts"),
    });
  }, 300_000);

  test.each(NODES)("computes an address on Node %s, imported and required", async (major) => {
    const program = `
      const [{ factory, commitment, wallet }] = vectors.wallets;
      const found = predictWallet({ factory, commitment });
      console.log(found.toLowerCase() === wallet.toLowerCase(), typeof createSluiceClient);`;
    writeFileSync(
      join(project, "esm.mjs"),
      `import { createSluiceClient, predictWallet } from "@sluice/sdk";
       import vectors from "@sluice/contracts/vectors" with { type: "json" };${program}`,
    );
    writeFileSync(
      join(project, "common.cjs"),
      `const { createSluiceClient, predictWallet } = require("@sluice/sdk");
       const vectors = require("@sluice/contracts/vectors");${program}`,
    );
    for (const file of ["esm.mjs", "common.cjs"]) {
      expect(await run(nodeOf(major), [file], project)).toBe("true function\n");
    }
  });

  test.each([
    ["node16", "node16", "TypeScript 5"],
    ["esnext", "bundler", "TypeScript 7"],
  ])("has types under module %s, resolution %s, of %s", async (module, resolution, compiler) => {
    writeFileSync(
      join(project, "typed.ts"),
      `import { createSluiceClient, type Swap } from "@sluice/sdk";
       import { hashCommitment } from "@sluice/sdk/address";
       import { depositFactoryAbi } from "@sluice/contracts/abi";
       const client = createSluiceClient({ baseUrl: "http://a", quoteUrl: "http://b", apiKey: "c" });
       export const newest: Promise<Swap | undefined> = client
         .listSwaps({ limit: 1 })
         .then(({ items }) => items[0]);
       // @ts-expect-error an amount is no number
       client.quote({ fromChain: 1, fromToken: 2 });
       export const names: "constructor" = depositFactoryAbi[0].type;
       export const hash = hashCommitment;`,
    );
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          module,
          moduleResolution: resolution,
          target: "es2022",
          lib: ["es2023", "dom"],
          strict: true,
          noEmit: true,
          types: [],
        },
        files: ["typed.ts"],
      }),
    );
    const tsc = compiler === "TypeScript 5" ? tool("tsc") : join(ROOT, "node_modules/.bin/tsc");
    await expect(run(tsc, ["-p", "."], project)).resolves.toBe("");
  });

  test("has a reference with a page for each export, and no gap", async () => {
    const out = join(scratch, "reference");
    await writeReference(out, scratch);
    const pages = readdirSync(out, { recursive: true, encoding: "utf8" });
    const described = new Set(pages.map((page) => /\/[^/.]+\.([^/]+)\.html$/.exec(page)?.[1]));
    const names = Object.keys(await import("@sluice/sdk"));
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !described.has(name))).toEqual([]);
  }, 300_000);
});

describe("the sandbox", () => {
  let project: string;
  beforeAll(async () => {
    const names = Object.fromEntries(PACKAGES.map((name) => [`@sluice/${name}`, tarball(name)]));
    project = await openProject(scratch, "shop", names);
  }, 600_000);

  const PORTS = ["", "quote-", "telemetry-", "ethereum-", "base-", "solana-"].flatMap((name) => [
    `--${name}port`,
    "0",
  ]);

  test.each([
    ["20", "node_modules/.bin/sluice-sandbox"],
    ["22", "node_modules/@sluice/sandbox/dist/main.js"],
  ] as const)("delivers a deposit on Node %s", async (major, main) => {
    const state = join(scratch, `state-${major}`);
    const args = [main, "--state-dir", state, "--exit-after-demo", ...PORTS];
    const printed = await run(nodeOf(major), args, project);
    expect(printed).toMatch(/delivered +24\.975 USDC on base/);
  });

  test("names the Node that it needs", async () => {
    const program = `import("@sluice/sandbox").then(({ startSandbox }) => startSandbox({ stateDir: "x" }));`;
    await expect(run(nodeOf("20"), ["-e", program], project)).rejects.toThrow(
      "@sluice/sandbox needs Node 22 or newer, this is v20.20.2",
    );
  });

  describe("that runs", () => {
    let child: ReturnType<typeof startProgram>;
    let ended: Promise<unknown>;
    let descriptor: Descriptor;
    beforeAll(async () => {
      const state = JSON.stringify(join(scratch, "state-shop"));
      const ports = { api: 0, quote: 0, telemetry: 0, control: 0, ethereum: 0, base: 0, solana: 0 };
      writeFileSync(
        join(project, "start.mjs"),
        `import { startSandbox } from "@sluice/sandbox";
         const sandbox = await startSandbox({ stateDir: ${state}, ports: ${JSON.stringify(ports)} });
         console.log(JSON.stringify(sandbox.descriptor));
         process.stdin.resume().on("end", () => void sandbox.stop());`,
      );
      child = startProgram("start.mjs");
      ended = once(child, "exit");
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      descriptor = JSON.parse(String(line));
    }, 300_000);
    afterAll(async () => {
      child.stdin.end();
      await ended;
    });

    const startProgram = (file: string) =>
      spawn(nodeOf("24"), [file], { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
    const keyOf = ({ integrators }: Descriptor) => integrators[0]?.apiKey ?? "";

    test("answers a client that is generated from its OpenAPI document", async () => {
      const { baseUrl } = descriptor;
      const answer = await fetch(`${baseUrl}/openapi.json`);
      writeFileSync(join(tools, "openapi.json"), await answer.text());
      await run(tool("openapi-typescript"), ["openapi.json", "-o", "api.d.ts"], tools);
      writeFileSync(
        join(tools, "client.ts"),
        `import createClient from "openapi-fetch";
         import type { paths } from "./api.d.ts";
         declare const process: { argv: string[] };
         const client = createClient<paths>({ baseUrl: process.argv[2] as string });
         const { data: chains } = await client.GET("/chains");
         const { data: swaps } = await client.GET("/swaps", {
           params: { query: { limit: 5 } },
           headers: { "x-api-key": process.argv[3] as string },
         });
         const names: string[] | undefined = chains?.map(({ name }) => name);
         const count: number | undefined = swaps?.items.length;
         console.log(names?.join(), count);`,
      );
      const options = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
      const args = [
        "client.ts",
        ...options,
        "--strict",
        "--skipLibCheck",
        "--allowImportingTsExtensions",
      ];
      await run(tool("tsc"), [...args, "--rewriteRelativeImportExtensions"], tools);
      const printed = await run(nodeOf("24"), ["client.js", baseUrl, keyOf(descriptor)], tools);
      expect(printed).toMatch(/^(?=.*ethereum)(?=.*base)(?=.*solana)\S+ 0\n$/);
    });

    /**
     * The public SDK of the hosted service, with its base URL changed. It sends no API key, so a server of the integrator
     * stands between and adds it, as it must in front of a browser.
     */
    test("answers the hosted service's own SDK", async () => {
      const vendor = await openProject(scratch, "vendor", {
        "@mayanfinance/swap-sdk": "12.2.5",
      });
      const { quoteUrl } = descriptor;
      const apiKey = keyOf(descriptor);
      const relay = createHttpServer((request, response) => {
        void fetch(`${quoteUrl}${request.url}`, { headers: { "x-api-key": apiKey } })
          .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
          .catch((error: unknown) => response.destroy(error as Error));
      });
      await new Promise<void>((resolve) => void relay.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void relay.close());
      const [from, to] = descriptor.chains.filter(({ kind }) => kind === "evm");
      const usdcOf = (chain: typeof from) =>
        chain?.tokens.find(({ symbol }) => symbol === "USDC")?.address;
      const params = {
        amountIn64: "25000000",
        fromToken: usdcOf(from),
        fromChain: from?.name,
        toToken: usdcOf(to),
        toChain: to?.name,
        slippageBps: "auto",
        destinationAddress: "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
      };
      writeFileSync(
        join(vendor, "quote.mjs"),
        `import { addresses, fetchQuote, generateFetchQuoteUrl } from "@mayanfinance/swap-sdk";
         const [, , quoteUrl, relayUrl, apiKey] = process.argv;
         const params = ${JSON.stringify(params)};
         addresses.PRICE_URL = relayUrl + "/v3";
         const quotes = await fetchQuote(params);
         addresses.PRICE_URL = quoteUrl + "/v3";
         const refused = await fetchQuote(params).catch((error) => error);
         const fields = new URLSearchParams({ mpsDeposit: "true", mpsUserId: "0x1", apiKey });
         const answer = await fetch(generateFetchQuoteUrl(params) + "&" + fields);
         console.log(JSON.stringify({ quotes, refused, own: await answer.json() }));`,
      );
      const port = (relay.address() as AddressInfo).port;
      const args = ["quote.mjs", quoteUrl, `http://127.0.0.1:${port}`, apiKey];
      const { quotes, refused, own } = JSON.parse(await run(nodeOf("24"), args, vendor));
      expect(quotes).toMatchObject([
        {
          type: "SWIFT",
          effectiveAmountIn64: "25000000",
          expectedAmountOut: 24.975,
          fromChain: params.fromChain,
          toChain: params.toChain,
          fromToken: { contract: params.fromToken, decimals: 6 },
        },
      ]);
      expect(refused).toMatchObject({
        code: "UNAUTHORIZED",
        message: expect.stringMatching("apiKey"),
      });
      expect(own.quotes[0].mpsDepositAddress).toMatch(/^0x[0-9a-fA-F]{40}$/);
    }, 300_000);
  });
});

describe("the root file system of the image", () => {
  let root: string;
  beforeAll(async () => {
    root = join(scratch, "rootfs");
    const script = join(ROOT, "deploy/rootfs.sh");
    // The pinned Node is the one that runs this test.
    await promisify(execFile)(script, [join(scratch, "tarballs"), root], {
      env: { ...process.env, SLUICE_NODE: process.execPath },
    });
  }, 300_000);

  test("has no embedded PostgreSQL, no chains, no compiler and no shell", () => {
    const packages = readdirSync(join(root, "app/node_modules"));
    expect(packages).toContain("@sluice");
    expect(packages.filter((name) => /embedded|foundry|litesvm|^solc$|^node-/.test(name))).toEqual(
      [],
    );
    expect(existsSync(join(root, "bin"))).toBe(false);
  });

  test("runs read-only and as its user: migrates, serves, is healthy, and ends on SIGTERM", async () => {
    const database = await createEmptyDatabase();
    const databaseUser = `image_attestor_${process.pid}`;
    await database.pool.query(`create user ${databaseUser}`);
    onTestFinished(async () => {
      await database.pool.query(`drop owned by ${databaseUser}; drop user ${databaseUser}`);
      await database.drop();
    });
    // Its socket is outside of the root.
    const { socketDir } = database.address as { readonly socketDir: string };
    const proxy = createServer((inside) => {
      const server = connect(join(socketDir, ".s.PGSQL.5432"));
      inside.pipe(server).pipe(inside);
      for (const side of [inside, server]) side.on("error", () => side.destroy());
    });
    await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const portOf = (server: Server) => (server.address() as AddressInfo).port;

    const telemetry = { port: await findFreePort() };
    const example = JSON.parse(readFileSync(join(ROOT, "deploy/sluice.json"), "utf8"));
    const attestor = { ...example.attestor, databaseUser };
    writeFileSync(
      join(root, "etc/sluice/sluice.json"),
      JSON.stringify({ ...example, telemetry, attestor }),
    );
    const name = new URL(database.url).pathname;
    writeFileSync(
      join(root, "run/secrets/database-url"),
      `postgres://sluice@127.0.0.1:${portOf(proxy)}${name}`,
    );
    writeFileSync(join(root, "run/secrets/api-key-pepper"), "0123456789abcdef");

    const write = ["/nodejs/bin/node", "-e", 'require("node:fs").writeFileSync("/app/x", "")'];
    await expect(runInside(root, write)).rejects.toThrow("EROFS");
    await expect(runSluice(root, "health")).rejects.toThrow("Command failed");
    await expect(runSluice(root, "serve", "--roles", "webhooks")).rejects.toThrow("sluice migrate");
    expect(await runSluice(root, "migrate")).toContain("0001");

    const service = startSluice(root, "serve", "--roles", "webhooks");
    const ended = once(service, "exit");
    await vi.waitFor(async () => expect(await runSluice(root, "health")).toContain('"ok":true'), {
      timeout: 60_000,
      interval: 500,
    });
    service.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  }, 300_000);
});
