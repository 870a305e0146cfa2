import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startEmbedded } from "./embedded.ts";
import { openDatabase } from "./pool.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-embedded-"));
  chmodSync(root, 0o755);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("embedded PostgreSQL", () => {
  test("is one server, however many start it, and keeps its data", async () => {
    // A path too long for a socket, to have both kinds.
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

  test("refuses a link to data that are gone, instead of starting empty", async () => {
    symlinkSync(join(root, "gone"), join(root, "postgres"));
    await expect(startEmbedded({ stateDir: root })).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringMatching(/does not exist.*DATABASE_URL/),
    });
  });
});
