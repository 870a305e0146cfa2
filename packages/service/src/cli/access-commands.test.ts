/** The commands about what integrators and operators may do, as an operator runs them, on a real database. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVM_CHAIN, NO_NODE, SECRETS } from "../../test/support/command-line.ts";
import { type Commands, startCommands } from "../../test/support/commands.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertAddress } from "../../test/support/tenants.ts";

const ANY_ID = "00000000-0000-4000-8000-000000000000";

let database: TestDatabase;
let folder: string;
let commands: Commands;
/** Id of an integrator, and of one of its addresses. */
let integrator: string;
let address: string;

beforeAll(async () => {
  commands = startCommands();
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "sluice-access-"));
  writeFileSync(
    join(folder, "sluice.json"),
    JSON.stringify({
      stateDir: "state",
      apiKeyPepper: { env: "PEPPER" },
      feeBps: 10,
      attestor: { key: { env: "ATTESTOR" }, rpcUrls: { 30: NO_NODE } },
      console: { host: "127.0.0.1", port: 8090 },
      chains: [EVM_CHAIN],
      routes: [],
    }),
  );
  const tenant = await createTenant(database.db);
  integrator = tenant.id;
  address = (await insertAddress(database.db, tenant)).id;
});
afterAll(async () => {
  await commands.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ ...SECRETS, DATABASE_URL: database.url });

/** Runs a command that works, and returns what it prints as JSON. */
async function run(...args: readonly string[]) {
  const { code, stdout, stderr } = await commands.run({
    args: [...args, "--json"],
    cwd: folder,
    env: env(),
    input: "",
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Runs a command that is refused, and returns what it says. */
async function refusalOf(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await commands.run({ args, cwd: folder, env: env(), input: "" });
  expect(code).not.toBe(0);
  return stderr;
}

const REASON = ["--reason", "ticket 7"];

describe("the commands of access", () => {
  test("a revoked key is listed as revoked", async () => {
    const { keyId } = await run("key", "create", "--integrator", integrator);
    await run("key", "revoke", keyId, ...REASON);
    const { keys } = await run("key", "list", "--integrator", integrator);
    expect(keys.find((one: { readonly keyId: string }) => one.keyId === keyId)).toMatchObject({
      revokedAt: expect.any(String),
    });
  });

  test("a pay link is created, listed without its token, and revoked", async () => {
    const of = ["--integrator", integrator];
    const made = await run("pay-link", "create", ...of, "--address", address, "--expires", "12h");
    expect(made.url).toContain("/pay");
    const { payLinks } = await run("pay-link", "list", ...of);
    expect(payLinks).toMatchObject([{ id: made.id, depositAddressId: address, revokedAt: null }]);
    expect(JSON.stringify(payLinks)).not.toContain(made.token);
    await run("pay-link", "revoke", made.id, ...of);
    expect((await run("pay-link", "list", ...of)).payLinks).toMatchObject([
      { id: made.id, revokedAt: expect.any(String) },
    ]);
    expect(await refusalOf("pay-link", "create", ...of, "--address", "nowhere")).toContain(
      "address: expected a deposit address of this service, or its id",
    );
  });

  test("a webhook is created, tested, changed, rotated, sent to again and deleted, on record", async () => {
    const of = ["--integrator", integrator, ...REASON];
    const url = "https://hooks.acme.example/sluice";
    const made = await run("webhook", "create", ...of, "--url", url, "--scheme", "v1");
    expect(made).toMatchObject({ url, state: "enabled", secret: expect.any(String) });
    const { id } = made;
    const list = ["--integrator", integrator];
    expect((await run("webhook", "list", ...list)).endpoints).toMatchObject([{ id, url }]);
    await run("webhook", "test", id, ...of);
    const { deliveries } = await run("webhook", "deliveries", id, ...list, "--limit", "5");
    expect(deliveries).toMatchObject([{ state: "pending" }]);
    expect(await run("webhook", "resend", id, ...of, "--since", "2026-01-01T00:00:00Z")).toEqual({
      queued: 0,
    });
    const rotated = await run("webhook", "rotate", id, ...of, "--overlap-seconds", "60");
    expect(rotated.secret).not.toBe(made.secret);
    expect(await run("webhook", "set", id, ...of, "--enabled", "off")).toMatchObject({
      state: "disabled",
    });
    await run("webhook", "delete", id, ...of);
    expect((await run("webhook", "list", ...list)).endpoints).toEqual([]);
    const log = JSON.stringify(await run("operators", "log"));
    expect(log).toContain("delete webhook");
    expect(log).not.toContain(made.secret);
  });

  test("an operator is invited, listed and disabled", async () => {
    const { url } = await run("operators", "invite", "--name", "Ada", "--role", "viewer");
    expect(url).toContain("http://localhost:8090/#invitation=");
    expect((await run("operators", "list")).operators).toMatchObject([
      { name: "Ada", role: "viewer" },
    ]);
    const disable = ["operators", "disable", "--name", "Ada", ...REASON];
    expect(await run(...disable)).toEqual({ name: "Ada", changed: true });
    expect(await run(...disable)).toEqual({ name: "Ada", changed: false });
    expect(await refusalOf("operators", "disable", "--name", "Bob", ...REASON)).toContain("Bob");
  });

  test("early payouts of a chain are closed once", async () => {
    const close = ["early", "close", "--chain", "base", ...REASON];
    expect(await run(...close)).toEqual({ chainId: 30, changed: true });
    expect(await run(...close)).toEqual({ chainId: 30, changed: false });
  });

  test("only a move that was asked for can be cancelled", async () => {
    expect(await refusalOf("inventory", "cancel", ANY_ID)).toContain(
      "MOVE: expected a move that was asked for and not planned.",
    );
  });
});
