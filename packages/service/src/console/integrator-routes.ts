/** Integrators in the console: their terms, keys and webhooks, and what can be done to them. */
import {
  CONSOLE_INTEGRATOR_LISTS,
  type ConsoleIntegrator,
  type ConsoleIntegratorFile,
  type ConsoleKey,
  type ConsoleWebhooks,
  KEY_SCOPES,
  TIMESTAMP_PATTERN,
  UUID_PATTERN,
} from "@sluice/sdk/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalid, parseBody } from "../api/index.ts";
import { type Config, isLocal } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import {
  createKeyByHand,
  listIntegrators,
  listKeys,
  revokeKeyByHand,
  rotateKeyByHand,
} from "../integrators/index.ts";
import {
  changeByHand,
  createAddressRules,
  DELIVERY_STATES,
  type EndpointDeps,
  insertTest,
  listDeliveries,
  listEndpoints,
  resendByHand,
  updateEndpoint,
} from "../webhooks/index.ts";
import { INTEGRATOR_LISTS, type ListDeps } from "./integrator-lists.ts";
import { type Access, paramsOf, queryOf, readId, readPosition, trimReason } from "./access.ts";

/** No integrator has more endpoints: the maximum of the setting. */
const ENDPOINTS_MAX = 10_000;
const DELIVERIES_MAX = 50;
/** Parts of a range that is sent again: an answer must come while a browser waits. */
const RESEND_PARTS_MAX = 20;
const HOUR_MS = 3_600_000;
const strict = { additionalProperties: false } as const;
const reason = Type.String({ minLength: 1, maxLength: 500, description: "Why" });
const stamp = Type.String({ pattern: TIMESTAMP_PATTERN, description: "A time in UTC" });
const WithReason = Type.Object({ reason }, strict);
const Key = Type.Object(
  {
    label: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: "A name for people" }),
    ),
    scopes: Type.Optional(
      Type.Array(Type.Enum([...KEY_SCOPES]), {
        minItems: 1,
        description: `Some of ${KEY_SCOPES.join(", ")}; all without it`,
      }),
    ),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3_650, description: "Days until it is refused" }),
    ),
    reason,
  },
  strict,
);
const Rotation = Type.Object(
  {
    overlapHours: Type.Integer({
      minimum: 0,
      maximum: 8_760,
      description: "Hours for which both keys are valid",
    }),
    reason,
  },
  strict,
);
const Resend = Type.Object(
  {
    event: Type.Optional(Type.String({ pattern: UUID_PATTERN, description: "An event's id" })),
    since: Type.Optional(stamp),
    until: Type.Optional(stamp),
    reason,
  },
  strict,
);
const Switch = Type.Object({ enabled: Type.Boolean(), reason }, strict);

/** Dependencies of the routes of integrators. */
export interface IntegratorRoutesDeps extends ListDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Keys the hashes of API keys. */
  readonly pepper: Secret;
  readonly config: Pick<Config, "chains" | "webhooks">;
}

/** Adds the routes of integrators. */
export function addIntegratorRoutes(
  app: FastifyInstance,
  deps: IntegratorRoutesDeps,
  { viewer, confirmed, admin, operatorOf }: Access,
): void {
  const { db, config } = deps;
  const byHand = (request: FastifyRequest, why: string) => ({
    operator: operatorOf(request),
    reason: trimReason(why),
  });
  const webhooks: EndpointDeps = {
    ...deps,
    rules: createAddressRules(config.webhooks.allowedRanges),
    endpointsMax: config.webhooks.endpointsPerIntegrator,
  };

  app.get("/api/integrators", viewer, async () => ({
    integrators: (await listIntegrators(db)).map(
      ({ name, addressesIssued, gas, createdAt }): ConsoleIntegrator => ({
        name,
        addressesIssued,
        gas: gas ?? "as configured",
        createdAt,
      }),
    ),
  }));
  app.get("/api/integrators/:name", viewer, async (request): Promise<ConsoleIntegratorFile> => {
    const found = await get(paramsOf(request)["name"]);
    const { name, integratorId } = found;
    const [keys, endpoints] = await Promise.all([
      listKeys(db, { integrator: name }),
      listEndpoints(db, integratorId, { limit: ENDPOINTS_MAX, cursor: undefined }),
    ]);
    return {
      name,
      facts: listFacts(found),
      keys: keys.map(({ keyId: id, label, prefix, state, scopes, lastUsedAt, expiresAt }) => ({
        id,
        label,
        prefix,
        state,
        scopes,
        lastUsedAt,
        expiresAt,
      })),
      endpoints: endpoints.items.map(({ id, url, state, disabledReason, failingSince }) => ({
        id,
        url,
        state,
        disabledReason,
        failingSince,
      })),
    };
  });
  app.get("/api/integrators/:name/endpoints/:id", viewer, async (request) => {
    const { name, ...params } = paramsOf(request);
    const { integratorId } = await get(name);
    const id = readId(params["id"], "There is no such webhook endpoint.");
    const wanted = queryOf(request)["state"];
    const state = DELIVERY_STATES.find((one) => one === wanted);
    const page = { limit: DELIVERIES_MAX, cursor: undefined, state };
    const { items, more } = await listDeliveries(db, { integratorId, id }, page);
    return {
      items: items.map(({ eventId, type, timestamp, attempts, ...delivery }) => {
        const [last] = attempts;
        return {
          eventId,
          type,
          at: timestamp,
          state: delivery.state,
          attempts: delivery.attemptCount,
          last: last ? (last.error ?? `status ${last.status}`) : null,
          latencyMs: last?.latencyMs ?? null,
          nextAttemptAt: delivery.nextAttemptAt,
        };
      }),
      isMore: more,
    } satisfies ConsoleWebhooks;
  });

  app.get("/api/integrators/:name/lists/:list", viewer, async (request) => {
    const { name, list } = paramsOf(request);
    const { integratorId } = await get(name);
    const known = CONSOLE_INTEGRATOR_LISTS.find((one) => one === list);
    if (!known) throw new OperatingError("NOT_FOUND", "There is no such list.");
    const after = readPosition(queryOf(request)["cursor"]);
    return INTEGRATOR_LISTS[known](deps, integratorId, after);
  });
  // A key acts as the integrator: only admins hand it out.
  app.post("/api/integrators/:name/keys", admin, async (request): Promise<ConsoleKey> => {
    const { name } = await get(paramsOf(request)["name"]);
    const { reason: why, days, ...settings } = parseBody(Key, request);
    const expires = days === undefined ? {} : { expiresInMs: days * 24 * HOUR_MS };
    const prefix = config.chains.every(isLocal) ? "sk_test_" : "sk_live_";
    const key = {
      ...settings,
      ...expires,
      integrator: name,
      depositAddresses: true,
      prefix,
    } as const;
    return createKeyByHand(deps, key, byHand(request, why));
  });
  app.post("/api/keys/:id/rotate", admin, async (request): Promise<ConsoleKey> => {
    const keyId = readKeyId(request);
    const { reason: why, overlapHours } = parseBody(Rotation, request);
    const rotation = { keyId, overlapMs: overlapHours * HOUR_MS };
    const { replacedExpiresAt: _, ...key } = await rotateKeyByHand(
      deps,
      rotation,
      byHand(request, why),
    );
    return key;
  });
  app.post("/api/keys/:id/revoke", admin, async (request) => {
    const keyId = readKeyId(request);
    await revokeKeyByHand(db, { keyId }, byHand(request, parseBody(WithReason, request).reason));
    return {};
  });
  app.post("/api/integrators/:name/endpoints/:id/test", confirmed, async (request) => {
    const ref = await readRef(request);
    const by = byHand(request, parseBody(WithReason, request).reason);
    const record = { ref, action: "test webhook", by };
    await changeByHand(webhooks, record, (own) => insertTest(own, ref));
    return {};
  });
  app.post("/api/integrators/:name/endpoints/:id/resend", confirmed, async (request) => {
    const ref = await readRef(request);
    const { event, since, until, reason: why } = parseBody(Resend, request);
    const resent =
      event === undefined
        ? since !== undefined && { since, until }
        : since === undefined && until === undefined && { event };
    if (!resent) throw invalid("event", "an event, or since with or without until");
    const by = { ...byHand(request, why), partsMax: RESEND_PARTS_MAX };
    return resendByHand(webhooks, ref, resent, by);
  });
  app.post("/api/integrators/:name/endpoints/:id/enabled", confirmed, async (request) => {
    const ref = await readRef(request);
    const { enabled, reason: why } = parseBody(Switch, request);
    const record = { ref, action: enabled ? "enable webhook" : "disable webhook" };
    await changeByHand(webhooks, { ...record, by: byHand(request, why) }, (own) =>
      updateEndpoint(own, { ...ref, enabled }),
    );
    return {};
  });

  function readKeyId(request: FastifyRequest): string {
    return readId(paramsOf(request)["id"], "There is no such key.");
  }

  async function readRef(request: FastifyRequest) {
    const { name, id } = paramsOf(request);
    const { integratorId } = await get(name);
    return { integratorId, id: readId(id, "There is no such webhook endpoint.") };
  }

  async function get(name: string | undefined) {
    const found = (await listIntegrators(db)).find((one) => one.name === name);
    if (!found) throw new OperatingError("NOT_FOUND", "There is no such integrator.");
    return found;
  }
}

function listFacts(
  integrator: Awaited<ReturnType<typeof listIntegrators>>[number],
): readonly (readonly [string, string])[] {
  const { refundEvm, refundSolana, maxFeeBps, maxSlippageBps, gas, routes } = integrator;
  const { addressesIssued, addressesMax, openSettlementsMax, weight, unattended } = integrator;
  const configured = "as configured";
  return [
    ["Refund authority", refundEvm],
    ["Refund authority on Solana", refundSolana ?? "none: it cannot take deposits there"],
    ["Fee cap", `${maxFeeBps} basis points`],
    ["Slippage cap", `${maxSlippageBps} basis points`],
    ["Gas", gas ?? configured],
    ["Routes of new addresses", routes],
    ["Unattended settlement", unattended ? "on" : "off"],
    ["Addresses", `${addressesIssued} issued, quota ${addressesMax ?? configured}`],
    ["Open settlements", `quota ${openSettlementsMax ?? configured}`],
    ["Turns in queues", `${weight}`],
  ];
}
