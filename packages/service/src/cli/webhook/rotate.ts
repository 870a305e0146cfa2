import { rotateSecret, type WebhookScheme } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { formatSecret, withWebhooks } from "./endpoints.ts";

/** Creates a new secret of an endpoint; the one before stays valid for the overlap. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly overlapSeconds: number;
    readonly scheme: WebhookScheme | undefined;
  },
): Promise<Result> {
  const { id, integrator, ...rotation } = input;
  const rotated = await withWebhooks(call, { integrator, id }, (deps, integratorId) =>
    rotateSecret(deps, { ...rotation, integratorId, id }),
  );
  return { json: rotated, text: formatSecret(rotated) };
}
