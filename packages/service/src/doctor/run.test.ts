import { describe, expect, test } from "vitest";
import { OperatingError } from "../core/errors.ts";
import { type Check, judge, ok } from "../core/check.ts";
import { runChecks } from "./run.ts";

function check(id: string, run: Check["run"], needs: readonly Check[] = []): Check {
  return { id, subject: "s", needs, run };
}

const fine = () => ok("x", "x");
const broken = () => judge(false, { found: "y", expected: "x", advice: "repair it" });
const never = () => {
  throw new Error("ran although a dependency failed");
};

describe("runChecks", () => {
  test("skips the checks that need a failed check, directly or indirectly", async () => {
    const first = check("first", broken);
    const second = check("second", never, [first]);
    const third = check("third", never, [second]);
    const free = check("free", fine);
    expect(await runChecks([[first, second, third], [free]])).toMatchObject([
      { id: "first", status: "problem", found: "y", expected: "x", advice: "repair it" },
      { id: "second", status: "skipped", found: "first of s did not pass" },
      { id: "third", status: "skipped", found: "second of s did not pass" },
      { id: "free", status: "ok" },
    ]);
  });

  test("runs the checks that need a check with a warning", async () => {
    const warned = check("warned", () => ({ ...broken(), status: "warning" }));
    const results = await runChecks([[warned, check("next", fine, [warned])]]);
    expect(results.map(({ status }) => status)).toEqual(["warning", "ok"]);
  });

  test("reports an operating error as a problem, with its reason and without its cause", async () => {
    const dead = check("dead", () => {
      throw new OperatingError("RPC_UNAVAILABLE", "No answer.", {
        details: { reason: "timeout" },
        cause: new Error("http://user:canary@host"),
      });
    });
    const results = await runChecks([[dead]]);
    expect(results).toMatchObject([{ status: "problem", found: "No answer. (timeout)" }]);
    expect(JSON.stringify(results)).not.toContain("canary");
  });

  test("rejects with any other error instead of reporting a finding", async () => {
    await expect(runChecks([[check("bug", never)]])).rejects.toThrow("ran although");
  });

  test("delays only the checks that need a slow group", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = check("slow", async () => {
      await gate.promise;
      return fine();
    });
    const opens = check("opens", () => {
      gate.resolve();
      return fine();
    });
    const results = await runChecks([[slow], [opens], [check("last", fine, [slow, opens])]]);
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      ["slow", "ok"],
      ["opens", "ok"],
      ["last", "ok"],
    ]);
  });
});
