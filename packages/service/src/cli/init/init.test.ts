import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Commands, startCommands } from "../../../test/support/commands.ts";
import { listEvmChains } from "../../config/index.ts";
import { loadConfig } from "../../roles/config.ts";

let folder: string;
let commands: Commands;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-init-"));
  commands = await startCommands();
});
afterAll(async () => {
  await commands.stop();
  rmSync(folder, { recursive: true, force: true });
});

const OWNER = "0x00000000000000000000000000000000000000a1";
const GUARDIAN = "0x00000000000000000000000000000000000000a2";
const TREASURY = "0x00000000000000000000000000000000000000a3";
const COLD = "0x00000000000000000000000000000000000000a4";
const DATABASE = "postgres://sluice:s3cret@db.example/sluice";

/** The answers in the order of the questions; the nodes do not answer, so that a height is required. */
const ANSWERS = {
  chains: "base-sepolia",
  nodes: "http://127.0.0.1:1/a,http://127.0.0.2:1/b",
  attestorNodes: "http://127.0.0.3:1/c",
  startBlock: "33000000",
  tokens: "",
  owner: OWNER,
  guardian: GUARDIAN,
  treasury: TREASURY,
  coldAttestor: COLD,
  contact: "security@acme.example",
  fee: "12",
  database: DATABASE,
};

function init(name: string, changes: Partial<typeof ANSWERS> = {}) {
  const input = Object.values({ ...ANSWERS, ...changes }).join("\n");
  const target = join(folder, name);
  return commands.run({ args: ["init", target], cwd: folder, env: {}, input: `${input}\n` });
}

describe("sluice init", () => {
  test("writes a configuration that loads, with its secrets in files of their owner", async () => {
    const { code, stderr, stdout } = await init("made");
    expect([code, stderr.includes("[USDC]")]).toEqual([0, true]);
    expect(stdout).toContain("sluice keys init");
    expect(`${stdout}${stderr}`).not.toContain("s3cret");
    const target = join(folder, "made");
    expect(readdirSync(target).toSorted()).toEqual(["keys", "secrets", "sluice.json"]);
    for (const name of readdirSync(join(target, "secrets"))) {
      expect(statSync(join(target, "secrets", name)).mode & 0o777).toBe(0o600);
    }
    const config = loadConfig({
      path: join(target, "sluice.json"),
      env: { CREDENTIALS_DIRECTORY: join(target, "secrets") },
    });
    expect(config).toMatchObject({
      feeBps: 12,
      deployment: { owner: OWNER, guardian: GUARDIAN, treasury: TREASURY },
      attestors: { cold: [COLD] },
    });
    expect(config.databaseUrl?.reveal()).toBe(DATABASE);
    const [base] = listEvmChains(config);
    expect([base?.evmChainId, base?.startBlock, base?.tokens.map(({ symbol }) => symbol)]).toEqual([
      84532,
      33_000_000,
      ["USDC"],
    ]);
    expect(readFileSync(join(target, "sluice.json"), "utf8")).not.toContain("s3cret");
  });

  test("takes the treasury contract where no account is named", async () => {
    expect((await init("contract", { treasury: "" })).code).toBe(0);
    const target = join(folder, "contract");
    const config = loadConfig({
      path: join(target, "sluice.json"),
      env: { CREDENTIALS_DIRECTORY: join(target, "secrets") },
    });
    const [base] = listEvmChains(config);
    expect(base?.contracts.treasury).toBe(config.deployment?.treasury);
  });

  test.each<[string, Partial<typeof ANSWERS>, string]>([
    ["an unknown chain", { chains: "dogecoin" }, "expected some of ethereum, bsc"],
    [
      "main and test networks",
      { chains: "base,ethereum-sepolia" },
      "expected main networks or test networks",
    ],
    [
      "a node that the attestor shares",
      { attestorNodes: "http://127.0.0.1:1/a" },
      "expected other nodes than the service's",
    ],
    [
      "one node named twice",
      { nodes: "http://127.0.0.1:1/a,http://127.0.0.1:1/b" },
      "expected a host of its own",
    ],
    ["no height where no node answers", { startBlock: "" }, "expected a block number"],
    ["a token that no chain has", { tokens: "USDC,DOGE" }, "expected some of BASE, WETH, USDC"],
    ["a mistyped address", { owner: "0x12" }, "expected an address"],
    [
      "an owner that is its own guardian",
      { guardian: OWNER },
      "expected another account than the owner",
    ],
    ["a database of another kind", { database: "mysql://a/b" }, "expected postgres://"],
  ])("refuses %s, and writes nothing", async (_, changes, problem) => {
    const { code, stderr } = await init("refused", changes);
    expect([code, stderr]).toEqual([1, expect.stringContaining(problem)]);
    expect(readdirSync(folder)).not.toContain("refused");
  });

  test("asks nothing where there is a configuration, and changes none of it", async () => {
    const target = join(folder, "taken");
    mkdirSync(target);
    writeFileSync(join(target, "sluice.json"), "{}");
    const { code, stderr } = await init("taken");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("expected no configuration there yet"),
    ]);
    expect(readFileSync(join(target, "sluice.json"), "utf8")).toBe("{}");
  });
});
