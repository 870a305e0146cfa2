import { changeByHand, deleteEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { nameByHand } from "../operator.ts";
import { withWebhooks } from "./endpoints.ts";

/** Deletes an endpoint and its secrets. */
export async function run(
  call: Call,
  {
    id,
    integrator,
    reason,
  }: {
    readonly id: string;
    readonly integrator: string;
    readonly reason: string | undefined;
  },
): Promise<Result> {
  await withWebhooks(call, { integrator, id }, (deps, integratorId) => {
    const ref = { integratorId, id };
    const record = { ref, action: "delete webhook", by: nameByHand(reason) };
    return changeByHand(deps, record, ({ db }) => deleteEndpoint(db, ref));
  });
  return { json: { deleted: id }, text: `the endpoint ${id} is deleted` };
}
