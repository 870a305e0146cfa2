/** `sluice doctor` on correct real nodes, contracts and a database; `doctor.deep` breaks one thing at a time. */
import { startService } from "@sluice/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DoctorWorld, openDoctorWorld } from "./support/doctor-world.ts";

let world: DoctorWorld;

beforeAll(async () => {
  world = await openDoctorWorld();
});
afterAll(async () => {
  await world.close();
});

describe("sluice doctor", () => {
  test("reports a database without the schema, and does not migrate it", async () => {
    const { code, problems, checks } = await world.diagnose();
    expect(code).toBe(1);
    expect(problems).toMatchObject([
      {
        id: "database.migrations",
        subject: "database",
        found: expect.stringMatching(/^missing migrations: 0001-initial/),
        advice: "Run sluice migrate.",
      },
    ]);
    expect(checks).toContainEqual(
      expect.objectContaining({
        id: "authority.code",
        item: "refund authorities",
        status: "skipped",
        found: "database.migrations of database did not pass",
      }),
    );
    await world.migrate();
  });

  test("reports no problem with a correct installation, and exits with 0", async () => {
    const { code, ok, checks, problems } = await world.diagnose();
    expect(problems).toEqual([]);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(checks.filter(({ status }) => status === "warning")).toMatchObject([
      { id: "node.second-view", subject: "attestor's node of chain 2" },
      { id: "node.second-view", subject: "attestor's node of chain 30" },
    ]);
    const skipped = checks.filter(({ status }) => status === "skipped");
    expect(new Set(skipped.map(({ found }) => found))).toEqual(
      new Set(["gas costs nothing on local chains", "the native coin has no contract"]),
    );
  });

  test("prints the report for people, with the counts last and without secrets", async () => {
    const { code, stdout, stderr } = await world.run(world.configPath, []);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\nchain 2 \(ethereum\)\n( {2}.*\n)* {2}ok {7}node\.answers/);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("0 problems, 2 warnings");
    for (const { privateKey } of world.secretKeys)
      expect(stdout).not.toContain(privateKey.slice(2));
  });

  test("reports that a running service uses the database", async () => {
    const service = await startService({ stateDir: world.stateDir });
    try {
      const { checks } = await world.diagnose();
      const claim = checks.find(({ id }) => id === "database.claim");
      expect(claim).toMatchObject({ status: "ok", found: "running: scanner, settler, attestor" });
    } finally {
      await service.stop();
    }
    const { checks } = await world.diagnose();
    const claim = checks.find(({ id }) => id === "database.claim");
    expect(claim).toMatchObject({ status: "ok", found: "no running service" });
  });

  test("lists every problem of a configuration, without a stack", async () => {
    const strange = await world.diagnose((file) =>
      Object.assign(file, { feeBps: -1, surprise: true }),
    );
    expect(strange.code).toBe(1);
    const loads = { id: "config.loads", subject: "configuration", status: "problem" };
    expect(strange.checks).toMatchObject([
      { ...loads, found: "feeBps: expected basis points, 0 to 10000" },
      { ...loads, found: "surprise: expected no such setting" },
    ]);
    const contradictory = await world.diagnose((file) => {
      Object.assign(file, { feeBps: 60, maxFeeBps: 50 });
      Object.assign(file.attestor.rpcUrls, { 4: "http://127.0.0.1:1" });
    });
    expect(contradictory.checks).toMatchObject([
      { ...loads, found: "feeBps: expected at most maxFeeBps (50), got 60" },
      { ...loads, found: "attestor.rpcUrls.4: expected a configured chain" },
    ]);
  });
});
