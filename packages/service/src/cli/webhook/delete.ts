import { deleteEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { withWebhooks } from "./endpoints.ts";

/** Deletes an endpoint and its secrets. */
export async function run(
  call: Call,
  { id, integrator }: { readonly id: string; readonly integrator: string },
): Promise<Result> {
  await withWebhooks(call, { integrator, id }, ({ db }, integratorId) =>
    deleteEndpoint(db, { integratorId, id }),
  );
  return { json: { deleted: id }, text: `the endpoint ${id} is deleted` };
}
