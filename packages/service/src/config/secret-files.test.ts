import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listSecretFiles } from "./secret-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function writeSecret(name: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, "secret");
  chmodSync(path, mode);
  return path;
}

test("lists the secret files of settings at any depth, and whether other users can access them", () => {
  const paths = {
    closed: writeSecret("closed", 0o600),
    group: writeSecret("group", 0o640),
    world: writeSecret("world", 0o604),
  };
  const config = join(folder, "sluice.json");
  writeFileSync(
    config,
    JSON.stringify({
      apiKeyPepper: { file: "closed" },
      attestor: { key: { file: paths.group } },
      chains: [{ lanes: { settle: { file: "world" }, deploy: { env: "DEPLOY" } } }],
      database: { url: { file: "missing" } },
    }),
  );
  expect(listSecretFiles(config)).toEqual([
    { setting: "apiKeyPepper", path: paths.closed, isOpenToOthers: false },
    { setting: "attestor.key", path: paths.group, isOpenToOthers: true },
    { setting: "chains[0].lanes.settle", path: paths.world, isOpenToOthers: true },
  ]);
});
