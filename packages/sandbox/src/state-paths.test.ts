import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SandboxError } from "./errors.ts";
import { claimStateDir, markStateDir } from "./state-paths.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-state-"));
});

afterEach(() => {
  chmodSync(dir, 0o755);
  rmSync(dir, { recursive: true, force: true });
});

const refusal = (message: string) => new SandboxError(message);
const OTHER_DIR = "Choose another state directory with --state-dir";

describe("a state directory", () => {
  test("is created with its parents, and claimed again", () => {
    const path = join(dir, "new", "state");
    expect(claimStateDir(path)).toBe(claimStateDir(path));
    writeFileSync(join(path, "deployment.json"), "{}");
    expect(() => claimStateDir(path)).not.toThrow();
  });

  test("with files that are not a sandbox's is refused", () => {
    writeFileSync(join(dir, "photo.jpg"), "");
    const message = `${dir} contains files that are not a sandbox's: choose an empty or new directory with --state-dir`;
    expect(() => claimStateDir(dir)).toThrow(refusal(message));
    expect(() => claimStateDir(dir, { fresh: true })).toThrow(refusal(message));
  });

  test("in whose place is a file is refused", () => {
    const file = join(dir, "file");
    writeFileSync(file, "");
    expect(() => claimStateDir(file)).toThrow(
      refusal(`${file} cannot be used: a file is in its place. ${OTHER_DIR}`),
    );
    const below = join(file, "state");
    expect(() => claimStateDir(below)).toThrow(
      refusal(`${below} cannot be used: a file is in its place or above it. ${OTHER_DIR}`),
    );
  });

  test("of another version is refused unless its state is deleted", () => {
    markStateDir(dir, 1);
    mkdirSync(join(dir, "nodes"));
    const message = `${dir} has the state of another version of the sandbox (format 1, expected 3): start again with --fresh, which deletes it, or choose another directory with --state-dir`;
    expect(() => claimStateDir(dir)).toThrow(refusal(message));
    claimStateDir(dir, { fresh: true });
    // The state was not deleted yet.
    expect(() => claimStateDir(dir)).toThrow(refusal(message));
    rmSync(join(dir, "nodes"), { recursive: true });
    markStateDir(dir);
    mkdirSync(join(dir, "nodes"));
    expect(() => claimStateDir(dir)).not.toThrow();
  });

  test("that cannot be written is refused", () => {
    chmodSync(dir, 0o555);
    const path = join(dir, "state");
    asOrdinaryUser(() => {
      expect(() => claimStateDir(path)).toThrow(
        refusal(`${path} cannot be used: this user may not write there. ${OTHER_DIR}`),
      );
    });
  });
});

/** Runs without the rights of root, whom no mode of a directory stops. */
function asOrdinaryUser(run: () => void): void {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.("nobody");
  try {
    run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
