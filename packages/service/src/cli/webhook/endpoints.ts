/** What the commands of webhooks share: the dependencies, and an endpoint as a line. */
import { UUID_PATTERN } from "@sluice/sdk/wire";
import type { Config } from "../../config/index.ts";
import { findIntegrator } from "../../integrators/index.ts";
import { systemClock, systemRandom } from "../../roles/system-ports.ts";
import {
  changeByHand,
  createAddressRules,
  type EndpointDeps,
  type EndpointFacts,
  type EndpointRef,
} from "../../webhooks/index.ts";
import type { Call } from "../command.ts";
import { UsageError } from "../failure.ts";
import { nameByHand } from "../operator.ts";
import { withDatabase } from "../with-database.ts";

/** Runs the work of a command for an integrator, given by name or id. */
export async function withWebhooks<Done>(
  call: Call,
  { integrator, id }: { readonly integrator: string; readonly id?: string },
  work: (deps: EndpointDeps, integratorId: string) => Promise<Done>,
): Promise<Done> {
  if (id !== undefined && !new RegExp(UUID_PATTERN).test(id)) {
    throw new UsageError("expected the id of an endpoint; `sluice webhook list` shows them");
  }
  const config = call.readConfig();
  return withDatabase(config, async ({ db }) =>
    work({ ...depsOf(config), db }, await findIntegrator(db, integrator)),
  );
}

/** An endpoint that a command changes, and why. */
export interface EndpointInput {
  readonly id: string;
  readonly integrator: string;
  readonly reason: string | undefined;
}

/** Changes an endpoint, on record. */
export async function changeEndpoint<Done>(
  call: Call,
  { id, integrator, reason }: EndpointInput,
  action: string,
  change: (deps: EndpointDeps, ref: EndpointRef) => Promise<Done>,
): Promise<Done> {
  return withWebhooks(call, { integrator, id }, (deps, integratorId) => {
    const ref = { integratorId, id };
    return changeByHand(deps, { ref, action, by: nameByHand(reason) }, (own) => change(own, ref));
  });
}

function depsOf({ webhooks, apiKeyPepper }: Config): Omit<EndpointDeps, "db"> {
  return {
    clock: systemClock,
    random: systemRandom,
    pepper: apiKeyPepper,
    rules: createAddressRules(webhooks.allowedRanges),
    endpointsMax: webhooks.endpointsPerIntegrator,
  };
}

/** Returns an endpoint as a line of text. */
export function formatEndpoint(endpoint: EndpointFacts): string {
  const { id, url, state, disabledReason, failingSince, types, extended, ordered } = endpoint;
  return [
    id,
    url,
    state === "enabled" ? state : `disabled (${disabledReason ?? ""})`,
    ...(failingSince === null ? [] : [`failing since ${failingSince}`]),
    types === null ? "all events" : types.join(","),
    ...(extended ? ["extended"] : []),
    ...(ordered ? ["ordered"] : []),
  ].join("  ");
}

/** Returns the text of a new secret: the secret, or the public key that verifies. */
export function formatSecret(endpoint: EndpointFacts & { readonly secret: string | null }): string {
  return endpoint.secret === null
    ? `public key: ${endpoint.secrets[0]?.publicKey ?? ""}`
    : `secret (shown once): ${endpoint.secret}`;
}
