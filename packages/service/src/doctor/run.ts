import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Check, CheckResult, Finding } from "../core/check.ts";

/**
 * Runs groups of checks and returns every result in the given order. Groups run in parallel, so that a dead node delays
 * only its own chain; the checks of a group run in sequence, which limits the load on its node.
 *
 * Invariant: the checks that a check needs come before it in its group, or are in a group that needs nothing of this one.
 */
export async function runChecks(
  groups: readonly (readonly Check[])[],
): Promise<readonly CheckResult[]> {
  const results = new Map(
    groups.flat().map((check) => [check, Promise.withResolvers<CheckResult>()]),
  );
  const resultOf = (check: Check) => {
    const result = results.get(check);
    assert(result, "a needed check is missing from the groups");
    return result;
  };

  async function runGroup(group: readonly Check[]): Promise<void> {
    for (const check of group) {
      const needed = await Promise.all(check.needs.map((need) => resultOf(need).promise));
      resultOf(check).resolve({ ...nameOf(check), ...(await lookUnless(check, needed)) });
    }
  }

  await Promise.all(groups.map(runGroup));
  return Promise.all(groups.flat().map((check) => resultOf(check).promise));
}

async function lookUnless(check: Check, needed: readonly CheckResult[]): Promise<Finding> {
  const broken = needed.find(({ status }) => status === "problem" || status === "skipped");
  if (broken) {
    const why = `${describe(broken)} of ${broken.subject} did not pass`;
    return {
      status: "skipped",
      found: why,
      expected: "the check that this one needs to pass",
      advice: null,
    };
  }
  try {
    return await check.run();
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return toProblem(error);
  }
}

function toProblem(error: OperatingError): Finding {
  const reason = error.details?.["reason"];
  const found = reason === undefined ? error.message : `${error.message} (${reason})`;
  return {
    status: "problem",
    found,
    expected: "an answer",
    advice:
      error.code === "RPC_UNAVAILABLE"
        ? "Start the node, or configure the URL of one that answers."
        : "Correct the setting that the message names.",
  };
}

function nameOf({ id, subject, item }: Check) {
  return item === undefined ? { id, subject } : { id, subject, item };
}

function describe({ id, item }: CheckResult): string {
  return item === undefined ? id : `${id} ${item}`;
}
