import { changeByHand, updateEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { formatEndpoint, withWebhooks } from "./endpoints.ts";

/** Changes an endpoint; settings that are not given stay. */
export async function run(
  call: Call,
  input: {
    readonly id: string;
    readonly integrator: string;
    readonly url: string | undefined;
    readonly enabled: boolean | undefined;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  const { id, integrator, reason, ...change } = input;
  const changed = await withWebhooks(call, { integrator, id }, (deps, integratorId) => {
    const ref = { integratorId, id };
    const record = { ref, action: "set webhook", by: nameByHand(reason) };
    return changeByHand(deps, record, (own) => updateEndpoint(own, { ...change, ...ref }));
  });
  return { json: changed, text: formatEndpoint(changed) };
}
