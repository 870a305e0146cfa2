import { listEndpoints } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { formatEndpoint, withWebhooks } from "./endpoints.ts";

/** No integrator has more: the maximum of the setting. */
const ENDPOINTS_MAX = 10_000;

/** Lists the endpoints of an integrator, newest first. */
export async function run(
  call: Call,
  { integrator }: { readonly integrator: string },
): Promise<Result> {
  const { items } = await withWebhooks(call, { integrator }, ({ db }, integratorId) =>
    listEndpoints(db, integratorId, { limit: ENDPOINTS_MAX, cursor: undefined }),
  );
  return { json: { endpoints: items }, text: items.map(formatEndpoint).join("\n") };
}
