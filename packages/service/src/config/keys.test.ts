import { listEvmChains } from "./chains.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { problemsOf } from "../../test/support/config.ts";
import { loadConfig } from "../roles/config.ts";

const ARN = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab";
const addressOf = (digit: number) => `0x${String(digit).repeat(40)}`;
const keyOf = (digit: string) => `0x${digit.repeat(64)}`;
const ENV = {
  PEPPER: "a pepper of some length",
  ATTESTOR: keyOf("a"),
  DEPLOY: keyOf("b"),
  SETTLE: keyOf("c"),
  DELIVER: keyOf("d"),
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-keys-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Change {
  readonly file?: object;
  readonly lanes?: object;
  readonly attestor?: object;
  readonly env?: Record<string, string | undefined>;
  readonly load?: Pick<Parameters<typeof loadConfig>[0], "roles" | "keysOf">;
}

function load({ file, lanes, attestor, env, load: options }: Change) {
  const path = join(folder, "sluice.json");
  const config = {
    stateDir: "state",
    api: { port: 0 },
    quote: { port: 0 },
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    attestor: { key: attestor ?? { env: "ATTESTOR" }, rpcUrls: { 2: "http://127.0.0.1:1" } },
    chains: [
      {
        chainId: 2,
        evmChainId: 1,
        rpcUrl: "http://127.0.0.1:2",
        startBlock: 0,
        contracts: { factory: addressOf(1), escrow: addressOf(2), delivery: addressOf(3) },
        tokens: [],
        lanes: {
          deploy: { env: "DEPLOY" },
          settle: { env: "SETTLE" },
          deliver: { env: "DELIVER" },
          ...lanes,
        },
        dailyGasBudget: "1.5",
      },
    ],
    routes: [],
    ...file,
  };
  writeFileSync(path, JSON.stringify(config));
  return loadConfig({ path, env: { ...ENV, ...env }, ...options });
}

describe("keys", () => {
  test("are read from the environment, keystores and a KMS, one or several per purpose", () => {
    const config = load({
      lanes: {
        deploy: { keystore: "keys/deploy.json" },
        settle: [{ kms: ARN }, { keystore: "keys/old.json", retired: true }],
      },
    });
    const [chain] = listEvmChains(config);
    expect(chain?.lanes.deploy).toEqual([
      {
        setting: "chains[0].lanes.deploy",
        retired: false,
        source: { kind: "keystore", path: join(folder, "keys/deploy.json") },
      },
    ]);
    expect(chain?.lanes.settle).toEqual([
      {
        setting: "chains[0].lanes.settle[0]",
        retired: false,
        source: {
          kind: "kms",
          arn: ARN,
          region: "eu-central-1",
          endpoint: "https://kms.eu-central-1.amazonaws.com",
        },
      },
      {
        setting: "chains[0].lanes.settle[1]",
        retired: true,
        source: { kind: "keystore", path: join(folder, "keys/old.json") },
      },
    ]);
    expect(chain?.lanes.deliver[0]?.source.kind).toBe("raw");
    expect(chain?.dailyGasBudget).toBe(1_500_000_000_000_000_000n);
  });

  test("use the KMS endpoint in China for an ARN there, and a configured endpoint instead of the default", () => {
    const china = load({ attestor: { kms: ARN.replace("arn:aws:", "arn:aws-cn:") } });
    expect(china.attestor.key.source).toMatchObject({
      endpoint: "https://kms.eu-central-1.amazonaws.com.cn",
    });
    const local = load({ attestor: { kms: ARN, endpoint: "http://127.0.0.1:4566" } });
    expect(local.attestor.key.source).toMatchObject({ endpoint: "http://127.0.0.1:4566" });
  });

  test("of Google Cloud KMS are named by their version, and read its credentials from its own variables", () => {
    const version = "projects/acme/locations/eu/keyRings/a/cryptoKeys/b/cryptoKeyVersions/3";
    const config = load({ attestor: { googleKms: version } });
    expect(config.attestor.key.source).toEqual({
      kind: "google_kms",
      version,
      endpoint: "https://cloudkms.googleapis.com",
    });
    expect(config.google).toEqual({
      accountFile: null,
      metadataHost: "metadata.google.internal",
    });
    const env = { GOOGLE_APPLICATION_CREDENTIALS: "/run/account.json", GCE_METADATA_HOST: "meta" };
    expect(load({ env }).google).toEqual({
      accountFile: "/run/account.json",
      metadataHost: "meta",
    });
    const key = version.replace("/cryptoKeyVersions/3", "");
    expect(problemsOf(() => load({ attestor: { googleKms: key } }))).toEqual([
      expect.stringContaining("attestor.key.googleKms: expected the name of a key's version"),
    ]);
    const twice = { googleKms: version };
    expect(problemsOf(() => load({ attestor: twice, lanes: { settle: twice } }))).toEqual([
      expect.stringContaining("attestor.key"),
    ]);
  });

  test("are read only by a process with their role or signer", () => {
    const kindsOf = (change: Change) => {
      const config = load(change);
      return [
        listEvmChains(config)[0]?.lanes.settle[0]?.source.kind,
        config.attestor.key.source.kind,
      ];
    };
    const signers = { signers: { settler: "run/settler.sock" } };
    expect(kindsOf({})).toEqual(["raw", "raw"]);
    expect(kindsOf({ load: { roles: ["settler"] } })).toEqual(["raw", "elsewhere"]);
    expect(kindsOf({ load: { roles: ["api"] } })).toEqual(["elsewhere", "elsewhere"]);
    expect(kindsOf({ file: signers })).toEqual(["elsewhere", "raw"]);
    expect(kindsOf({ file: signers, load: { keysOf: "settler" } })).toEqual(["raw", "elsewhere"]);
    expect(kindsOf({ file: signers, load: { keysOf: "all" } })).toEqual(["raw", "raw"]);
    // A signer needs its keys and no other secret.
    const alone = { PEPPER: undefined, ATTESTOR: undefined };
    expect(kindsOf({ env: alone, load: { keysOf: "settler" } })).toEqual(["raw", "elsewhere"]);
  });

  test("need the passphrase only in a process that opens keystores", () => {
    const file = { keystorePassphrase: { file: "nothing-there" } };
    expect(problemsOf(() => load({ file }))).toEqual([
      `keystorePassphrase: expected a readable file at ${join(folder, "nothing-there")}`,
    ]);
    expect(problemsOf(() => load({ file, load: { roles: ["api"] } }))).toEqual([]);
    const signers = { settler: "a.sock", attestor: "b.sock" };
    expect(problemsOf(() => load({ file: { ...file, signers } }))).toEqual([]);
  });
});

describe("the configuration refuses", () => {
  test.each([
    [
      "an invalid ARN",
      { attestor: { kms: "alias/mine" } },
      "attestor.key.kms: expected the ARN of a key or an alias",
    ],
    [
      "one key in two lanes",
      { lanes: { settle: { env: "DEPLOY" } } },
      "chains[0].lanes.settle: expected a key that no other lane uses",
    ],
    [
      "one keystore in two lanes",
      { lanes: { settle: [{ keystore: "a.json" }, { keystore: "./a.json" }] } },
      "chains[0].lanes.settle[1]: expected a key that no other lane uses",
    ],
    [
      "a lane's key as the attestor's",
      { lanes: { settle: { kms: ARN } }, attestor: { kms: ARN } },
      "attestor.key: expected a key that no lane uses: it is the second of two keys",
    ],
    [
      "a purpose with only retired keys",
      { lanes: { settle: [{ env: "SETTLE", retired: true }] } },
      "chains[0].lanes.settle: expected a key that is not retired",
    ],
    [
      "a retired attestor key",
      { attestor: { env: "ATTESTOR", retired: true } },
      "attestor.key.retired: expected nothing, a lane retires",
    ],
    [
      "a malformed private key",
      { env: { SETTLE: "secret-value" } },
      "chains[0].lanes.settle: expected a private key, 0x and 64 hex digits",
    ],
  ])("%s", (_what, change: Change, problem) => {
    const problems = problemsOf(() => load(change));
    expect(problems).toEqual([problem]);
    expect(problems.join()).not.toContain("secret-value");
  });

  test("a key in the file itself, without printing it, and an empty list of keys", () => {
    for (const lanes of [{ settle: keyOf("c") }, { settle: [] }]) {
      const [problem = ""] = problemsOf(() => load({ lanes }));
      expect(problem).toMatch(/^chains\[0\]\.lanes\.settle: expected /);
      expect(problem).not.toContain(keyOf("c"));
    }
  });
});
