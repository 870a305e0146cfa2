import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadKeys, loadPepper } from "./keys.ts";

let root: string;
let dir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-keys-"));
  dir = join(root, "keys");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("loadKeys writes each key to a separate file that only its owner can read", () => {
  loadKeys(dir);
  loadPepper(dir);
  const files = readdirSync(dir);
  expect(files).toHaveLength(26);
  expect(files.filter((file) => (statSync(join(dir, file)).mode & 0o777) !== 0o600)).toEqual([]);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

test("loadKeys returns the same keys again, and each is different", () => {
  const first = loadKeys(dir);
  const second = loadKeys(dir);
  expect(second.attestor.privateKey).toBe(first.attestor.privateKey);
  const { ethereum, base } = first.lanes;
  const lanes = [ethereum, base].flatMap((lane) => [
    lane.deploy,
    lane.settle,
    lane.deliver,
    lane.claim,
  ]);
  expect(new Set(lanes.map((key) => key.account.address)).size).toBe(8);
});
