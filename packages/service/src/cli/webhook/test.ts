import { insertTest } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { withWebhooks } from "./endpoints.ts";

/** Queues a test, which the running service sends once. */
export async function run(
  call: Call,
  { id, integrator }: { readonly id: string; readonly integrator: string },
): Promise<Result> {
  const delivery = await withWebhooks(call, { integrator, id }, (deps, integratorId) =>
    insertTest(deps, { integratorId, id }),
  );
  const text = `test ${delivery.eventId} is queued; \`sluice webhook deliveries ${id}\` shows its outcome`;
  return { json: delivery, text };
}
