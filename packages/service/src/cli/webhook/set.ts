import { updateEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { changeEndpoint, type EndpointInput, formatEndpoint } from "./endpoints.ts";

/** Changes an endpoint; settings that are not given stay. */
export async function run(
  call: Call,
  input: EndpointInput & {
    readonly url: string | undefined;
    readonly enabled: boolean | undefined;
  },
): Promise<Result> {
  const { url, enabled } = input;
  const changed = await changeEndpoint(call, input, "set webhook", (deps, ref) =>
    updateEndpoint(deps, { url, enabled, ...ref }),
  );
  return { json: changed, text: formatEndpoint(changed) };
}
