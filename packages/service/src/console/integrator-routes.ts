/** Integrators in the console: their terms, keys and webhooks. */
import type { ConsoleIntegrator, ConsoleIntegratorFile, ConsoleWebhooks } from "@sluice/sdk/wire";
import type { FastifyInstance } from "fastify";
import { OperatingError } from "../core/errors.ts";
import type { Db } from "../db/schema.ts";
import { listIntegrators, listKeys } from "../integrators/index.ts";
import { DELIVERY_STATES, listDeliveries, listEndpoints } from "../webhooks/index.ts";
import { type Access, paramsOf, queryOf, readId } from "./access.ts";

/** No integrator has more endpoints: the maximum of the setting. */
const ENDPOINTS_MAX = 10_000;
const DELIVERIES_MAX = 50;

/** Adds the routes of integrators. */
export function addIntegratorRoutes(
  app: FastifyInstance,
  { db }: { readonly db: Db },
  { viewer }: Access,
): void {
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
