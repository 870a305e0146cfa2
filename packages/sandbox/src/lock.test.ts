import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SandboxError } from "./errors.ts";
import { writeJson } from "./json-file.ts";
import { acquireLock } from "./lock.ts";
import { identifyProcess } from "./processes.ts";

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-lock-"));
  path = join(dir, "sandbox.lock");
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe("lock of a state directory", () => {
  test("rejects a second holder and names the first", () => {
    const lock = acquireLock(path, dir);
    const message = `a sandbox is already running on ${dir} (process ${process.pid}): stop it, or choose another directory with --state-dir`;
    expect(() => acquireLock(path, dir)).toThrow(new SandboxError(message));
    lock.release();
    expect(existsSync(path)).toBe(false);
  });

  test("can be acquired again after its release", () => {
    acquireLock(path, dir).release();
    expect(() => acquireLock(path, dir).release()).not.toThrow();
  });

  test("is taken over from a process that has ended", () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    writeJson(path, { pid });
    expect(() => acquireLock(path, dir).release()).not.toThrow();
  });

  test("is taken over when its process id now belongs to another process", () => {
    writeJson(path, { ...identifyProcess(process.pid), startedAt: "another boot" });
    expect(() => acquireLock(path, dir).release()).not.toThrow();
  });
});
