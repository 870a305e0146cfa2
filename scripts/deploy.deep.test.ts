/** The hardening of the systemd units, as systemd itself rates it. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const UNITS = join(import.meta.dirname, "../deploy/systemd");
/** 2.0, in tenths. */
const EXPOSURE_MAX = 20;

const units = readdirSync(UNITS).filter((name) => name.endsWith(".service"));

test.each(units)("%s is exposed below 2.0", (unit) => {
  const args = ["security", "--offline=true", "--no-pager", `--threshold=${EXPOSURE_MAX}`];
  // It fails above the threshold.
  const printed = execFileSync("systemd-analyze", [...args, join(UNITS, unit)], {
    encoding: "utf8",
  });
  expect(printed).toMatch(/Overall exposure level for .*: [01]\.\d/);
});

test("there are units of the roles, the signers and the migration", () => {
  expect(units.toSorted()).toEqual([
    "sluice-migrate.service",
    "sluice-signer@.service",
    "sluice@.service",
  ]);
});
