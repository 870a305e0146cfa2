import { KEY_SCOPES } from "@sluice/sdk/wire";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DepositAddressWithCommitment } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { EVM_CHAIN, NO_NODE, SECRETS } from "../../test/support/command-line.ts";
import { type Commands, runCommand, startCommands } from "../../test/support/commands.ts";
import { createTenant, insertAddress } from "../../test/support/tenants.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { Secret } from "../core/secret.ts";
import { authenticate, createIntegrator } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { COMMANDS } from "./table.ts";

const REFUND = `0x${"7".repeat(40)}`;
let database: TestDatabase;
let folder: string;
let config: string;
let commands: Commands;

beforeAll(async () => {
  database = await createTestDatabase();
  commands = startCommands();
  folder = mkdtempSync(join(tmpdir(), "sluice-main-"));
  config = join(folder, "service.json");
  const file = {
    stateDir: "state",
    api: { port: 0 },
    quote: { port: 0 },
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    maxFeeBps: 40,
    attestor: { key: { env: "ATTESTOR" }, rpcUrls: { 30: NO_NODE } },
    chains: [EVM_CHAIN],
    routes: [],
  };
  writeFileSync(config, JSON.stringify(file));
});
afterAll(async () => {
  await commands.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The command of a test in the test's folder. */
const given = (args: readonly string[], env: Record<string, string> = {}, input = "") => ({
  args,
  cwd: folder,
  env: { ...SECRETS, DATABASE_URL: database.url, ...env },
  input,
});
const run = (...command: Parameters<typeof given>) => commands.run(given(...command));
/** The same in a process of its own. */
const runAlone = (...command: Parameters<typeof given>) => runCommand(given(...command));

describe("the command line", () => {
  test("imports integrators with their keys in one process, and gives an existing one another key", async () => {
    const line = (name: string, depositAddresses?: boolean) =>
      JSON.stringify({ name, refundEvm: REFUND, depositAddresses });
    const importing = ["integrator", "import", "--config", config];
    const first = await runAlone(
      importing,
      {},
      [line("im-one"), "", line("im-two", false)].join("\n"),
    );
    const made = first.stdout.trim().split("\n");
    const keys = made.map((text): { name: string; apiKey: string } => JSON.parse(text));
    expect([first.code, first.stderr, keys.map(({ name }) => name)]).toEqual([
      0,
      "",
      ["im-one", "im-two"],
    ]);
    const pepper = new Secret(SECRETS.PEPPER);
    const on = await Promise.all(
      keys.map(({ apiKey }) => authenticate({ db: database.db, pepper }, apiKey)),
    );
    expect(on.map(({ depositAddresses }) => depositAddresses)).toEqual([true, false]);

    // A faulty line is found before anything is created.
    const faulty = [line("im-three"), '{"name":"im-four","refundEvm":7}'].join("\n");
    expect(await run(importing, {}, faulty)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^line 2: refundEvm /),
    });
    const again = await run(importing, {}, line("im-one"));
    expect(JSON.parse(again.stdout).apiKey).not.toBe(keys[0]?.apiKey);
    const names = await database.db.selectFrom("integrators").select("name").execute();
    expect(names.map(({ name }) => name).filter((name) => name.startsWith("im-"))).toEqual([
      "im-one",
      "im-two",
    ]);
  });

  test("refuses an option that is given twice, of which the last would win", async () => {
    const caps = ["--daily-cap", "base:USDC=1", "--daily-cap", "ethereum:USDC=2"];
    const refused = await run(["contracts", "--left", ...caps, "--config", config]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("'--daily-cap <caps>' argument 'ethereum:USDC=2' is invalid");
    expect(refused.stderr).toContain("expected the option once");
  });

  test("prepares a service: creates integrators up to an empty line, and serves nothing before a second one", async () => {
    const line = (name: string, refundEvm: unknown = REFUND) => JSON.stringify({ name, refundEvm });
    const preparing = ["serve", "--prepare", "--config", config];
    const names = async () => {
      const all = await database.db.selectFrom("integrators").select("name").execute();
      return all.map(({ name }) => name).filter((name) => name.startsWith("pr-"));
    };
    // The input ends before: an ended starter of the service leaves nothing that runs.
    const early = await run(preparing, {}, line("pr-one"));
    expect([early.code, early.stdout, await names()]).toEqual([0, "", []]);
    const faulty = await run(preparing, {}, `${line("pr-one")}\n${line("pr-two", 7)}\n\n`);
    expect([faulty.code, faulty.stderr, await names()]).toEqual([
      1,
      expect.stringMatching(/^line 2: refundEvm /),
      [],
    ]);
    const made = await run(preparing, {}, `${line("pr-one")}\n\n`);
    const [key, ...rest] = made.stdout.split("\n");
    expect([made.code, JSON.parse(key ?? "").name, rest]).toEqual([0, "pr-one", ["", ""]]);
    expect(await names()).toEqual(["pr-one"]);
  });

  test("changes nothing for an unknown settlement, or without a reason", async () => {
    const id = "00000000-0000-4000-8000-000000000000";
    const noSecrets = Object.fromEntries(Object.keys(SECRETS).map((name) => [name, ""]));
    const shown = await run(["settlement", "show", id, "--config", config], noSecrets);
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([
      1,
      "",
      `There is no settlement ${id}.\n`,
    ]);
    const retried = await run(["settlement", "retry", id, "--reason", "x", "--config", config]);
    expect([retried.code, retried.stderr]).toEqual([1, `There is no settlement ${id}.\n`]);
    const silent = await run(["settlement", "retry", id, "--reason", " ", "--config", config]);
    expect([silent.code, silent.stderr]).toEqual([
      2,
      "--reason: expected a text of 1 to 500 characters.\n",
    ]);
    const bare = await run(["settlement", "refund", id, "--reason", "x", "--config", config]);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining("--to <address>")]);
    const badTo = ["--to", `0x${"Ab".repeat(20)}`];
    const bad = await run([
      "settlement",
      "refund",
      id,
      ...badTo,
      "--reason",
      "x",
      "--config",
      config,
    ]);
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringContaining("--to: expected an address"),
    ]);
  });

  test("creates an integrator and a key that the API accepts", async () => {
    const made = await runAlone([
      "integrator",
      "create",
      "--name",
      "shop",
      "--refund-evm",
      REFUND,
      "--max-slippage-bps",
      "7",
      "--json",
      "--config",
      config,
    ]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const { integratorId, name } = JSON.parse(made.stdout);
    expect(name).toBe("shop");
    const integrators = database.db.selectFrom("integrators").selectAll();
    const rows = await integrators.where("name", "=", "shop").execute();
    expect(rows).toMatchObject([{ id: integratorId, max_fee_bps: 40, max_slippage_bps: 7 }]);

    const key = await run([
      "--config",
      config,
      "key",
      "create",
      "--integrator",
      "shop",
      "--deposit-addresses",
      "off",
      "--json",
    ]);
    expect(key).toMatchObject({ code: 0, stderr: "" });
    const { keyId, apiKey } = JSON.parse(key.stdout);
    const pepper = new Secret(SECRETS.PEPPER);
    expect(await authenticate({ db: database.db, pepper }, apiKey)).toEqual({
      integratorId,
      integratorName: "shop",
      keyId,
      depositAddresses: false,
      scopes: new Set(KEY_SCOPES),
      allowedNetworks: null,
    });
  });

  test("creates, changes, rotates and lists keys with rights", async () => {
    const env = { SLUICE_CONFIG: config };
    await createIntegrator(
      { db: database.db, random: systemRandom },
      { name: "keyed", refundEvm: REFUND, maxFeeBps: 50, maxSlippageBps: 100 },
    );
    const rights = ["--label", "shop", "--scopes", "read,quote", "--allow", "10.0.0.0/8"];
    const create = ["key", "create", "--integrator", "keyed"];
    const made = await run([...create, ...rights, "--expires", "90d", "--prefixed", "--json"], env);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const { keyId, apiKey } = JSON.parse(made.stdout);
    expect(apiKey).toMatch(/^sk_(live|test)_[0-9a-f]{32}$/);
    expect(await run(["key", "set", keyId, "--allow", "any"], env)).toMatchObject({
      code: 0,
      stdout: `the key ${keyId} is changed\n`,
    });
    const rotated = await run(["key", "rotate", keyId, "--overlap", "6h", "--json"], env);
    expect(rotated).toMatchObject({ code: 0, stderr: "" });
    const next = JSON.parse(rotated.stdout);
    const { stdout } = await run(["key", "list", "--integrator", "keyed"], env);
    const facts = "scopes read,quote  from every address  with deposit addresses  not used yet";
    const [old, successor] = [keyId, next.keyId].map((id) =>
      stdout.split("\n").find((line) => line.startsWith(id)),
    );
    expect(old).toContain(`valid until ${next.replacedExpiresAt}  ${facts}`);
    expect(old).toMatch(/^\S+ {2}keyed {2}"shop" {2}created /);
    expect(successor).toContain(`${facts}  replaces ${keyId}`);
    const bad = await run([...create, "--scopes", "read,everything"], env);
    expect(bad.code).not.toBe(0);
    expect(bad.stderr).toContain("expected some of read, quote");
  });

  test("sets and lists quotas and weight, per integrator", async () => {
    const env = { SLUICE_CONFIG: config };
    const create = ["integrator", "create", "--refund-evm", REFUND, "--name", "limited"];
    expect((await run(create, env)).code).toBe(0);
    const set = ["integrator", "set", "limited"];
    const limits = ["--max-addresses", "5", "--max-open-settlements", "7", "--weight", "3"];
    expect((await run([...set, ...limits], env)).stdout).toBe(
      [
        "deposit addresses of limited: at most 5",
        "settlements in progress of limited on a chain: at most 7",
        "limited has 3 turn(s) per round of a queue",
        "",
      ].join("\n"),
    );
    const { stdout } = await run(["integrator", "list"], env);
    expect(stdout).toMatch(
      / limited .*0 addresses, at most 5 {2}at most 7 settlements in progress per chain {2}weight 3/,
    );
    expect((await run([...set, "--max-addresses", "default"], env)).stdout).toBe(
      "deposit addresses of limited: as the configuration says\n",
    );
    expect(await run([...set, "--weight", "0"], env)).toMatchObject({ code: 2 });
  });

  test("pauses a token, lists it and ends it, and refuses an unclear target", async () => {
    const env = { SLUICE_CONFIG: config };
    const target = ["--chain", "2", "--token", "native"];
    const start = ["pause", "start", ...target, "--reason", "an incident"];
    expect((await run(start, env)).stdout).toBe("token native of chain 2 is paused\n");
    expect((await run(start, env)).stdout).toBe("token native of chain 2 is already paused\n");
    const { stdout } = await run(["pause", "list"], env);
    expect(stdout).toMatch(/^token 0x0{40} chain 2 {2}since .* by .*@.* {2}an incident\n$/);
    const end = ["pause", "end", "--reason", "it is over"];
    expect(await run(["pause", "end", ...target], env)).toMatchObject({ code: 2 });
    expect((await run([...end, ...target], env)).stdout).toBe("token native of chain 2 goes on\n");
    expect((await run(["pause", "list"], env)).stdout).toBe("nothing is paused\n");
    expect((await run(["pause", "list", "--all"], env)).stdout).toMatch(
      /until .* by .*: it is over {2}an incident/,
    );
    for (const unclear of [[], ["--token", "native"], ["--integrator", "shop", "--chain", "2"]]) {
      expect(await run([...end, ...unclear], env)).toMatchObject({ code: 2 });
    }
  });

  test("closes and opens early payouts, and books only missing locks", async () => {
    const env = { SLUICE_CONFIG: config };
    expect((await run(["early", "list"], env)).stdout).toBe(
      "no chain has earlyPayouts: every lock is final before it is paid\n",
    );
    const of = ["--chain", "2", "--reason", "an incident"];
    const says = async (...args: string[]) => (await run(["early", ...args], env)).stdout;
    expect(await says("close", ...of)).toBe("the early payouts of chain 2 are closed\n");
    expect(await says("close", ...of)).toBe("the early payouts of chain 2 are closed already\n");
    expect(await says("open", ...of)).toBe("the early payouts of chain 2 are open\n");
    expect(await says("open", ...of)).toBe("the early payouts of chain 2 are not closed\n");
    const id = `0x${"a".repeat(64)}`;
    expect(await says("accept", id, "--reason", "lost")).toBe(
      `the lock of ${id} is not recorded as missing: nothing is booked\n`,
    );
    expect(await run(["early", "accept", "0x12", "--reason", "lost"], env)).toMatchObject({
      code: 2,
    });
  });

  test("sets and lists who pays for gas, per integrator", async () => {
    const env = { SLUICE_CONFIG: config };
    const create = ["integrator", "create", "--refund-evm", REFUND, "--name"];
    expect((await run([...create, "pays", "--gas", "charged"], env)).code).toBe(0);
    expect((await run([...create, "paid"], env)).code).toBe(0);
    const listed = async () => {
      const { stdout } = await run(["integrator", "list", "--json"], env);
      const {
        integrators,
      }: { integrators: { name: string; gas: string; gasIsDefault: boolean }[] } =
        JSON.parse(stdout);
      return integrators
        .filter(({ name }) => name === "pays" || name === "paid")
        .map(({ name, gas, gasIsDefault }) => [name, gas, gasIsDefault]);
    };
    expect(await listed()).toEqual([
      ["pays", "charged", false],
      ["paid", "sponsored", true],
    ]);
    expect((await run(["integrator", "set", "pays", "--gas", "default"], env)).code).toBe(0);
    expect((await run(["integrator", "set", "paid", "--gas", "charged"], env)).code).toBe(0);
    expect(await listed()).toEqual([
      ["pays", "sponsored", true],
      ["paid", "charged", false],
    ]);
    const { stdout } = await run(["integrator", "list"], env);
    expect(stdout).toMatch(/ pays {2}gas sponsored \(default\) {2}fees to 40 bps/);
    expect(await run(["integrator", "set", "nobody", "--gas", "charged"], env)).toMatchObject({
      code: 1,
      stderr: "integrator: expected the name or id of an integrator.\n",
    });
    expect(await run(["integrator", "set", "paid", "--gas", "free"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected sponsored, charged or default"),
    });
  });

  test("sets the refund authority on Solana with the integrator, or once later", async () => {
    const env = { SLUICE_CONFIG: config };
    const wallet = "GmaDrppBC7P5ARKV8g3djiwP89vz1jLK23V2GBjuAEGB";
    const create = ["integrator", "create", "--refund-evm", REFUND, "--name"];
    expect((await run([...create, "early", "--refund-solana", wallet], env)).code).toBe(0);
    expect((await run([...create, "late"], env)).code).toBe(0);
    const before = await run(["integrator", "list"], env);
    expect(before.stdout).toMatch(new RegExp(` early .* on Solana ${wallet}\n`));
    expect(before.stdout).toMatch(/ late .* on Solana to nobody\n/);
    const set = (...args: string[]) => run(["integrator", "set", "late", ...args], env);
    expect(await set("--refund-solana", wallet)).toMatchObject({
      code: 0,
      stdout: `deposits of late on Solana go back to ${wallet}\n`,
    });
    expect(await set("--refund-solana", REFUND)).toMatchObject({
      code: 1,
      stderr: "refundSolana: expected a Solana address (32 bytes in base58).\n",
    });
    expect(await set()).toMatchObject({
      code: 2,
      stderr:
        "Expected --gas, --refund-solana, --routes, --unattended, --max-addresses, --max-open-settlements or --weight.\n",
    });
    expect(await set("--routes", "fixed", "--unattended", "on")).toMatchObject({
      code: 0,
      stdout:
        "new addresses of late have fixed routes\n" +
        "new addresses of late can be settled by anybody 72 hours after an announcement\n",
    });
    const { stdout } = await run(["integrator", "list", "--json"], env);
    expect(JSON.parse(stdout).integrators).toContainEqual(
      expect.objectContaining({
        name: "late",
        refundSolana: wallet,
        routes: "fixed",
        unattended: true,
      }),
    );
  });

  test("exports every address with its preimage and without secrets, of all integrators or of one", async () => {
    const [alice, bob] = [await createTenant(database.db), await createTenant(database.db)];
    const ids: string[] = [];
    for (const tenant of [alice, alice, bob]) {
      ids.push((await insertAddress(database.db, tenant)).id);
    }
    const env = {
      SLUICE_CONFIG: config,
      ...Object.fromEntries(Object.keys(SECRETS).map((name) => [name, ""])),
    };
    const exported = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(["addresses", "export", ...args], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const addresses = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(
        addresses.flatMap((one) => [...Value.Errors(DepositAddressWithCommitment, one)]),
      ).toEqual([]);
      return addresses.map(({ id }) => id);
    };
    expect(await exported()).toEqual(ids.toSorted());
    expect(await exported("--integrator", alice.name)).toEqual(ids.slice(0, 2).toSorted());
    expect(await run(["addresses", "export", "--integrator", "nobody"], env)).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("reports invalid arguments in one line, and fails", async () => {
    const command = ["integrator", "create", "--name", "A B", "--refund-evm", REFUND];
    const message = "name: expected 1 to 63 lower-case letters, digits and hyphens.";
    const made = await runAlone(command, { SLUICE_CONFIG: config });
    expect(made).toEqual({ code: 1, stdout: "", stderr: `${message}\n` });
    const asJson = await run([...command, "--json"], { SLUICE_CONFIG: config });
    expect(asJson).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: "VALIDATION_ERROR", message, retryable: false, details: { field: "name" } },
    });
  });

  test("suggests the closest command or option for an unknown one, or lists all", async () => {
    const complaintOf = async (line: string) => {
      const { code, stdout, stderr } = await run(line.split(" "));
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      return stderr;
    };
    expect(await complaintOf("servee")).toBe("unknown command 'servee'; did you mean serve?\n");
    expect(await complaintOf("frobnicate")).toMatch(
      /^unknown command 'frobnicate'; expected serve, .*, version\n$/,
    );
    expect(await complaintOf("settlement shwo 1")).toBe(
      "unknown command 'shwo'; did you mean show?\n",
    );
    expect(await complaintOf("key frobnicate")).toBe(
      "unknown command 'frobnicate'; expected create, list, set, rotate, revoke\n",
    );
    expect(await complaintOf("serve --stanby")).toBe(
      "unknown option '--stanby'; did you mean --standby?\n",
    );
    expect(await complaintOf("serve --frob")).toBe(
      "unknown option '--frob'; expected --roles <names>, --chains <names>, --standby, --prepare, --config <file>, --json\n",
    );
    expect(await complaintOf("settlement show")).toBe("missing required argument 'id'\n");
    const { stderr } = await run(["frobnicate", "--json"]);
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "USAGE_ERROR", message: expect.stringMatching(/^unknown command/) },
    });
  });

  test("prints help for every command, and lists the commands when none is given", async () => {
    const { code, stderr, stdout } = await runAlone([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const name of new Set(COMMANDS.map((row) => row.name.split(" ")[0]))) {
      expect(stderr).toMatch(new RegExp(`^  ${name} `, "m"));
    }
    const help = await run(["settlement", "refund", "--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toMatch(/^Usage: sluice settlement refund \[options\] <id>\n/);
    expect(help.stdout).toMatch(/--to <address> .*\n.*--reason <text> /);
    expect(help.stdout).toMatch(/--json /);
  });

  test("prints its version without a configuration", async () => {
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
    );
    const node = process.versions.node;
    const asText = await runAlone(["--version"]);
    expect(asText).toEqual({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(
        new RegExp(`^sluice ${version} \\(Node ${node}, schema \\d{4}-.*\\)\n$`),
      ),
    });
    expect((await run(["version"])).stdout).toBe(asText.stdout);
    expect(JSON.parse((await run(["--version", "--json"])).stdout)).toMatchObject({
      version,
      node,
    });
  });

  test("reports each problem of the configuration on a line, without secrets", async () => {
    const env = { ATTESTOR: "canary", SLUICE_API_PORT: "x", SLUICE_CONFIG: config };
    expect(await runAlone(["serve"], env)).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "SLUICE_API_PORT: expected a TCP port, 0 for any\n" +
        "attestor.key: expected a private key, 0x and 64 hex digits\n",
    });
  });

  test("reports an unreachable database without the password", async () => {
    const env = { DATABASE_URL: "postgres://user:canary@127.0.0.1:1/db", SLUICE_CONFIG: config };
    const { code, stdout, stderr } = await run(["migrate"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^The PostgreSQL of DATABASE_URL .* cannot be used: nothing listens/);
    expect(stderr).not.toContain("canary");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("fails where there is no configuration", async () => {
    const { code, stderr } = await run(["migrate"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`at ${join(folder, "sluice.json")}`);
    expect(stderr).toContain(`at ${join(folder, ".sluice/service.json")}`);
    const asJson = await run(["migrate", "--json"]);
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: "CONFIG_INVALID", message: stderr.trim(), problems: [stderr.trim()] },
    });
  });

  test("uses the sandbox's configuration in `.sluice` only if the folder has none itself", async () => {
    const sandbox = join(folder, ".sluice");
    const own = join(folder, "sluice.json");
    onTestFinished(() => {
      rmSync(sandbox, { recursive: true, force: true });
      rmSync(own, { force: true });
    });
    mkdirSync(sandbox);
    writeFileSync(join(sandbox, "service.json"), readFileSync(config));
    expect(await run(["contracts"])).toMatchObject({ code: 0, stderr: "" });
    writeFileSync(own, "{}");
    const taken = await run(["contracts"]);
    expect(taken.code).toBe(2);
    expect(taken.stderr).toContain("chains: expected a list of at least one chain");
    expect(await run(["contracts"], { SLUICE_CONFIG: config })).toMatchObject({ code: 0 });
  });
});
