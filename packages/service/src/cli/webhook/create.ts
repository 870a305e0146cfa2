import { createByHand, type WebhookScheme } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { formatEndpoint, formatSecret, withWebhooks } from "./endpoints.ts";

/** Creates an endpoint, whose secret is shown only this once. */
export async function run(
  call: Call,
  input: {
    readonly integrator: string;
    readonly url: string;
    readonly types: readonly string[] | undefined;
    readonly scheme: WebhookScheme;
    readonly extended: boolean;
    readonly ordered: boolean;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const { integrator, types = null, reason, ...settings } = input;
  const made = await withWebhooks(call, { integrator }, (deps, integratorId) =>
    createByHand(deps, { ...settings, types, integratorId, description: null }, nameByHand(reason)),
  );
  return { json: made, text: `${formatEndpoint(made)}\n${formatSecret(made)}` };
}
