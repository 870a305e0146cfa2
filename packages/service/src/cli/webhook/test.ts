import { changeByHand, insertTest } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { withWebhooks } from "./endpoints.ts";

/** Queues a test, which the running service sends once. */
export async function run(
  call: Call,
  {
    id,
    integrator,
    reason,
  }: {
    readonly id: string;
    readonly integrator: string;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const delivery = await withWebhooks(call, { integrator, id }, (deps, integratorId) => {
    const ref = { integratorId, id };
    const record = { ref, action: "test webhook", by: nameByHand(reason) };
    return changeByHand(deps, record, (own) => insertTest(own, ref));
  });
  const text = `test ${delivery.eventId} is queued; \`sluice webhook deliveries ${id}\` shows its outcome`;
  return { json: delivery, text };
}
