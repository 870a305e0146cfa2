import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startEmbedded } from "./embedded.ts";
import { openDatabase, toClientConfig } from "./pool.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-embedded-"));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("embedded PostgreSQL", () => {
  test("runs one server for concurrent starts and keeps its data", async () => {
    // A path too long for a socket, so that both kinds of address are tested.
    const stateDir = join(root, "state".repeat(30));
    const start = () => startEmbedded({ stateDir, unsafeFast: true });
    const servers = await Promise.all([start(), start()]);
    expect(servers.map(({ adopted }) => adopted).sort()).toEqual([false, true]);
    const [server] = servers;
    expect(server.address.socketDir.length).toBeLessThan(100);

    const open = await openDatabase(server.address, { max: 1 });
    await open.pool.query("create table kept (id int)");
    await server.stop();
    expect((await open.pool.query("select * from kept")).rows).toEqual([]);
    await open.close();

    await server.stop();
    await expect(openDatabase(server.address, { max: 1 })).rejects.toThrow(/embedded PostgreSQL/);
    expect(existsSync(join(stateDir, "postgres", "data", "postmaster.pid"))).toBe(false);

    expect(existsSync(server.address.socketDir)).toBe(false);

    const again = await start();
    expect(again.adopted).toBe(false);
    const reopened = await openDatabase(again.address, { max: 1 });
    expect((await reopened.pool.query("select * from kept")).rows).toEqual([]);
    await again.stop({ force: true });
    await reopened.close();
  });

  test("refuses a link to a missing data directory and does not start empty", async () => {
    symlinkSync(join(root, "gone"), join(root, "postgres"));
    await expect(startEmbedded({ stateDir: root })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringMatching(/does not exist.*DATABASE_URL/),
    });
  });
});

describe("a throwaway server", () => {
  const module = pathToFileURL(join(import.meta.dirname, "../../test/support/throwaway-server.ts"));

  /** Starts a server in another process that then runs `afterwards`; `cut` resolves when the server closes its connection. */
  async function startElsewhere(afterwards: string) {
    const program = `
      import { startThrowawayServer } from ${JSON.stringify(module.href)};
      const { address, stop } = await startThrowawayServer("sluice-throwaway");
      console.log(JSON.stringify(address));
      for await (const _ of process.stdin);
      ${afterwards}`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      env: { ...process.env, TMPDIR: realpathSync(root) },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const exit = once(child, "exit");
    const [line] = await once(child.stdout, "data");
    const client = new pg.Client(toClientConfig(JSON.parse(String(line))));
    // The test waits for the closed connection, so its error is expected.
    client.on("error", () => undefined);
    const cut = new Promise((resolve) => client.once("end", resolve));
    await client.connect();
    return { child, exit, cut };
  }

  const expectNothingLeft = () =>
    vi.waitFor(() => expect(readdirSync(root)).toEqual([]), { timeout: 30_000 });

  test("stops when the process that started it is killed", async () => {
    const { child, exit, cut } = await startElsewhere("");
    expect(readdirSync(root)).toHaveLength(1);
    child.kill("SIGKILL");
    expect(await exit).toEqual([null, "SIGKILL"]);
    await cut;
    await expectNothingLeft();
  });

  test("does not keep its process from exiting", async () => {
    const { child, exit, cut } = await startElsewhere("");
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    await cut;
    await expectNothingLeft();
  });

  test("leaves no files after a stop", async () => {
    const { child, exit, cut } = await startElsewhere("await stop();");
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    expect(readdirSync(root)).toEqual([]);
    await cut;
  });
});
