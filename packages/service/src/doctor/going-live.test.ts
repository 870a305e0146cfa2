import { describe, expect, test } from "vitest";
import { CHAIN, createDoctorDeps } from "../../test/support/doctor-doubles.ts";
import { Secret } from "../core/secret.ts";
import { checkBackup } from "./backup.ts";
import { checkGoingLive } from "./going-live.ts";
import { runChecks } from "./run.ts";

type Given = Parameters<typeof createDoctorDeps>[0];
const key = new Secret(`0x${"1".repeat(64)}`);
const READY = {
  databaseUrl: new Secret("postgres://db"),
  telemetry: { host: "127.0.0.1", port: 9464 },
};
const routed = { readAlerting: async () => ({ rules: 48, receivers: 1 }) };

const PUBLIC = { ...CHAIN, evmChainId: 1 };

async function statusesOf(given: Given) {
  const results = await runChecks([checkGoingLive(createDoctorDeps({ chain: PUBLIC, ...given }))]);
  return Object.fromEntries(results.map(({ id, status }) => [id, status]));
}

describe("before the first money", () => {
  test("nothing is asked for unless somebody asks", () => {
    expect(checkGoingLive(createDoctorDeps({}))).toEqual([]);
  });

  test("passes on public networks, with keys elsewhere, a database, metrics and routed alerts", async () => {
    expect(await statusesOf({ live: routed, config: READY })).toEqual({
      "live.networks": "ok",
      "live.keys": "ok",
      "live.database": "ok",
      "live.telemetry": "ok",
      "live.alerts": "ok",
    });
  });

  const raw = { setting: "attestor.key", retired: false, source: { kind: "raw", key } } as const;
  const attestor = { key: raw, databaseUser: undefined, nodes: new Map() };
  test.each<[string, Given]>([
    ["live.networks", { config: { ...READY, chains: [{ ...CHAIN, evmChainId: 31337 }] } }],
    ["live.keys", { config: { ...READY, attestor } }],
    ["live.database", { config: { ...READY, databaseUrl: undefined } }],
    ["live.telemetry", { config: { ...READY, telemetry: undefined } }],
    ["live.alerts", { live: { readAlerting: async () => null } }],
    ["live.alerts", { live: { readAlerting: async () => ({ rules: 0, receivers: 1 }) } }],
    ["live.alerts", { live: { readAlerting: async () => ({ rules: 48, receivers: 0 }) } }],
  ])("%s alone fails where its part is missing", async (id, given) => {
    const statuses = await statusesOf({ live: routed, config: READY, ...given });
    const failed = Object.entries(statuses).filter(([, status]) => status !== "ok");
    expect(failed).toEqual([[id, "problem"]]);
  });

  test("a raw key that a signer holds is none of this process", async () => {
    const signers = { settler: undefined, attestor: "/run/attestor.sock", vaults: undefined };
    const statuses = await statusesOf({ live: routed, config: { ...READY, attestor, signers } });
    expect(statuses["live.keys"]).toBe("ok");
  });
});

describe("the backup of the database", () => {
  const NOW = Date.parse("2026-06-02T12:00:00.000Z");
  const OK = { status: "ok", found: "", expected: "", advice: null } as const;
  const migrated = { id: "migrated", subject: "database", needs: [], run: () => OK } as const;
  const find = async (backup: string | null, archived: string | null, given: Given = {}) => {
    const getNewestBackup = async () => ({ backup, archived });
    const deps = createDoctorDeps({ chain: PUBLIC, ...given, nowMs: NOW, getNewestBackup });
    return (await runChecks([[migrated], checkBackup(deps, migrated)])).slice(1);
  };

  test.each([
    ["none at all", null, null, "warning"],
    ["one of 25 hours ago", "2026-06-01T11:00:00.000Z", null, "ok"],
    ["one that is older", "2026-06-01T10:59:59.999Z", null, "warning"],
    [
      "an old one, with WAL archived since",
      "2026-05-01T00:00:00.000Z",
      "2026-06-02T11:59:00.000Z",
      "ok",
    ],
    ["WAL that is no longer archived", null, "2026-05-31T00:00:00.000Z", "warning"],
  ])("%s", async (_, backup, archived, status) => {
    expect(await find(backup, archived)).toMatchObject([{ id: "database.backup", status }]);
  });

  test("is not asked for on local chains", async () => {
    const chains = [{ ...CHAIN, evmChainId: 31337 }];
    expect(await find(null, null, { config: { chains } })).toEqual([]);
  });
});
