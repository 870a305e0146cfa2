import { rotateSecret, type WebhookScheme } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { changeEndpoint, type EndpointInput, formatSecret } from "./endpoints.ts";

/** Creates a new secret of an endpoint; the one before stays valid for the overlap. */
export async function run(
  call: Call,
  input: EndpointInput & {
    readonly overlapSeconds: number;
    readonly scheme: WebhookScheme | undefined;
  },
): Promise<Result> {
  const { overlapSeconds, scheme } = input;
  const rotated = await changeEndpoint(call, input, "rotate webhook", (deps, ref) =>
    rotateSecret(deps, { overlapSeconds, scheme, ...ref }),
  );
  return { json: rotated, text: formatSecret(rotated) };
}
