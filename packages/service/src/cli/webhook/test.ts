import { insertTest } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { changeEndpoint, type EndpointInput } from "./endpoints.ts";

/** Queues a test, which the running service sends once. */
export async function run(call: Call, input: EndpointInput): Promise<Result> {
  const delivery = await changeEndpoint(call, input, "test webhook", insertTest);
  const text = `test ${delivery.eventId} is queued; \`sluice webhook deliveries ${input.id}\` shows its outcome`;
  return { json: delivery, text };
}
