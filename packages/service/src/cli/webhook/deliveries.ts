import { type DeliveryFacts, type DeliveryState, listDeliveries } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { withWebhooks } from "./endpoints.ts";

/** Lists the newest deliveries of an endpoint with their last attempts. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly state: DeliveryState | undefined;
    readonly limit: number;
  },
): Promise<Result> {
  const { id, integrator, state, limit } = input;
  const { items } = await withWebhooks(call, { integrator, id }, ({ db }, integratorId) =>
    listDeliveries(db, { integratorId, id }, { limit, cursor: undefined, state }),
  );
  return { json: { deliveries: items }, text: items.map(format).join("\n") };
}

function format(delivery: DeliveryFacts): string {
  const { eventId, type, timestamp, state, attemptCount, nextAttemptAt, attempts } = delivery;
  const last = attempts[0];
  return [
    eventId,
    timestamp,
    type,
    state,
    `${attemptCount} attempts`,
    ...(last ? [`last ${last.status ?? last.error ?? ""} in ${last.latencyMs} ms`] : []),
    ...(nextAttemptAt === null ? [] : [`next ${nextAttemptAt}`]),
  ].join("  ");
}
