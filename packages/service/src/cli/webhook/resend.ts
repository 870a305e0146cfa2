import { resendByHand } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameByHand } from "../operator.ts";
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
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const { id, integrator, event, since, until, reason } = input;
  const resent =
    event === undefined
      ? since !== undefined && { since, until }
      : since === undefined && { event };
  if (!resent) {
    throw new UsageError("expected either --event, or --since with or without --until");
  }
  const { queued } = await withWebhooks(call, { integrator, id }, (deps, integratorId) =>
    resendByHand(deps, { integratorId, id }, resent, nameByHand(reason)),
  );
  return { json: { queued }, text: `${queued} events are queued` };
}
