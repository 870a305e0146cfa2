/** The hardening of the systemd units, as systemd itself rates it, and the manifests by Kubernetes' own schemas. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";

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

describe("the manifests of Kubernetes", () => {
  const root = join(import.meta.dirname, "..");
  const schemas = join(root, "deploy/schemas");
  const manifests = parseAllDocuments(
    readFileSync(join(root, "deploy/kubernetes/sluice.yaml"), "utf8"),
  ).map((document): Manifest => document.toJSON());

  interface Manifest {
    readonly apiVersion: string;
    readonly kind: string;
    readonly spec?: object;
  }

  beforeAll(() => {
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: schemas });
  });

  /** Compiles manifests as values of Kubernetes' types, where an unknown field is an error. Returns the errors. */
  function check(name: string, given: readonly Manifest[]): readonly string[] {
    const folder = join(schemas, name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [index, manifest] of given.entries()) {
      const { apiVersion, kind } = manifest;
      const text = `import type { I${kind} } from "kubernetes-models/${apiVersion}";
export const manifest: I${kind} = ${JSON.stringify(manifest, null, 2)};\n`;
      writeFileSync(join(folder, `${index}-${kind}.ts`), text);
    }
    const files = readdirSync(folder).map((file) => join(folder, file));
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
    const target = ["--ignoreConfig", "--target", "es2024", "--types", ""];
    const { stdout } = spawnSync(
      join(root, "node_modules/.bin/tsc"),
      [...options, ...target, ...files],
      {
        cwd: schemas,
        encoding: "utf8",
      },
    );
    return stdout.split("\n").filter((line) => line.includes("error TS"));
  }

  test("have only fields and values that their kinds have", () => {
    expect(new Set(manifests.map(({ kind }) => kind)).size).toBeGreaterThan(6);
    expect(check("checked", manifests)).toEqual([]);
  });

  test("are refused with a field that no kind has, or a value of another type", () => {
    const deployments = manifests.filter(({ kind }) => kind === "Deployment");
    const wrong = [{ replicaz: 1 }, { replicas: "1" }].map((field, index) => ({
      ...(deployments[index] ?? { apiVersion: "", kind: "" }),
      spec: { ...deployments[index]?.spec, ...field },
    }));
    expect(check("refused", wrong)).toEqual([
      expect.stringContaining('"replicaz"'),
      expect.stringContaining("Type 'string' is not assignable to type 'number'"),
    ]);
  });
});
