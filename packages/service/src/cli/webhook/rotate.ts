import { changeByHand, rotateSecret, type WebhookScheme } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { formatSecret, withWebhooks } from "./endpoints.ts";

/** Creates a new secret of an endpoint; the one before stays valid for the overlap. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly overlapSeconds: number;
    readonly scheme: WebhookScheme | undefined;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const { id, integrator, reason, ...rotation } = input;
  const rotated = await withWebhooks(call, { integrator, id }, (deps, integratorId) => {
    const ref = { integratorId, id };
    const record = { ref, action: "rotate webhook", by: nameByHand(reason) };
    return changeByHand(deps, record, (own) => rotateSecret(own, { ...rotation, ...ref }));
  });
  return { json: rotated, text: formatSecret(rotated) };
}
