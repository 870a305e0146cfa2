/** Examinations from the console: one at a time, and a failure of one is its result. */
import type { ConsoleRun } from "@sluice/sdk/wire";
import { expect, test, vi } from "vitest";
import { openConsole } from "../../test/support/console-desk.ts";
import { OperatingError } from "../core/errors.ts";

test("an examination runs once at a time, and its report stays until the next", async () => {
  const ends: ((found: { ok: boolean; text: string }) => void)[] = [];
  const { join } = await openConsole({
    examinations: {
      doctor: () => new Promise((resolve) => ends.push(resolve)),
      audit: async () => {
        throw new OperatingError("RPC_UNAVAILABLE", "No node of ethereum answers.");
      },
    },
  });
  const viewer = await join("Vera", "viewer");
  const otto = await join("Otto", "operator");
  const read = (name: string) => viewer.get<ConsoleRun>(`/api/examinations/${name}`);
  expect(await read("doctor")).toMatchObject({ state: "never", ok: null });
  expect((await viewer.post("/api/examinations/doctor")).statusCode).toBe(403);
  expect((await otto.post("/api/examinations/other")).statusCode).toBe(404);

  await otto.post("/api/examinations/doctor");
  await otto.post("/api/examinations/doctor");
  expect(ends).toHaveLength(1);
  expect(await read("doctor")).toMatchObject({
    state: "running",
    startedBy: "console: Otto",
    endedAt: null,
  });
  ends[0]?.({ ok: false, text: "the clock is wrong" });
  await vi.waitFor(async () => {
    expect(await read("doctor")).toMatchObject({
      state: "ended",
      ok: false,
      text: "the clock is wrong",
      endedAt: expect.any(String),
    });
  });

  await otto.post("/api/examinations/audit");
  await vi.waitFor(async () => {
    expect(await read("audit")).toMatchObject({ ok: false, text: "No node of ethereum answers." });
  });
});
