import { resendEvent, resendRange } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { withWebhooks } from "./endpoints.ts";

/** Queues events again: one by its id, or those of a range of time. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly event: string | undefined;
    readonly since: string | undefined;
    readonly until: string | undefined;
  },
): Promise<Result> {
  const { id, integrator, event, since, until } = input;
  if ((event === undefined) === (since === undefined)) {
    throw new UsageError("expected either --event, or --since with or without --until");
  }
  const queued = await withWebhooks(call, { integrator, id }, async (deps, integratorId) => {
    const ref = { integratorId, id };
    if (event !== undefined) {
      await resendEvent(deps, ref, event);
      return 1;
    }
    let total = 0;
    for (let from = since ?? null; from !== null;) {
      const done = await resendRange(deps, ref, { since: from, until });
      total += done.queued;
      from = done.nextCursor;
    }
    return total;
  });
  return { json: { queued }, text: `${queued} events are queued` };
}
