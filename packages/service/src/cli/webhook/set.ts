import { updateEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { formatEndpoint, withWebhooks } from "./endpoints.ts";

/** Changes an endpoint; settings that are not given stay. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly url: string | undefined;
    readonly enabled: boolean | undefined;
  },
): Promise<Result> {
  const { id, integrator, ...change } = input;
  const changed = await withWebhooks(call, { integrator, id }, (deps, integratorId) =>
    updateEndpoint(deps, { ...change, integratorId, id }),
  );
  return { json: changed, text: formatEndpoint(changed) };
}
