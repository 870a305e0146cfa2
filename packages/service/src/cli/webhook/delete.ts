import { deleteEndpoint } from "../../webhooks/index.ts";
import type { Call, Result } from "../command.ts";
import { changeEndpoint, type EndpointInput } from "./endpoints.ts";

/** Deletes an endpoint and its secrets. */
export async function run(call: Call, input: EndpointInput): Promise<Result> {
  await changeEndpoint(call, input, "delete webhook", ({ db }, ref) => deleteEndpoint(db, ref));
  return { json: { deleted: input.id }, text: `the endpoint ${input.id} is deleted` };
}
