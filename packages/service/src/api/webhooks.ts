/** `/webhooks`: endpoints, their secrets, and the log of deliveries. Additions to the published interface. */
import {
  DEPOSIT_CURSOR_PATTERN,
  WEBHOOK_DELIVERY_STATES,
  WEBHOOK_OVERLAP_S,
  WebhookDeleted,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointChange,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
  WebhookResend,
  WebhookResent,
  WebhookRotation,
  WebhookTestBody,
} from "@sluice/sdk/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { OperatingError } from "../core/errors.ts";
import {
  createEndpoint,
  deleteEndpoint,
  type DeliveryState,
  type EndpointDeps,
  getDelivery,
  getEndpoint,
  insertTest,
  listDeliveries,
  listEndpoints,
  resendEvent,
  resendRange,
  rotateSecret,
  updateEndpoint,
} from "../webhooks/index.ts";
import type { Admission, Admitted } from "./admission.ts";
import { invalid, parseBody } from "./body.ts";
import { parseId, parseListQuery, parseRange } from "./query.ts";
import { parseStamp, type Rounding } from "./stamp-input.ts";

export interface WebhookRoutesDeps extends EndpointDeps {
  /** Wakes the senders after a request for a test or for events again. */
  readonly wakeWebhooks: () => void;
}

/** Adds the routes to the application. */
export function serveWebhooks(
  app: FastifyInstance,
  config: { readonly admission: Admission },
  { principalOf }: Pick<Admitted, "principalOf">,
  deps: WebhookRoutesDeps,
): void {
  const { db } = deps;
  const answers = (schema: TSchema) => ({ schema: { response: { 200: schema } }, config });
  // CAST: the query string is an object of strings and arrays of strings.
  const queryOf = (request: FastifyRequest) => request.query as Record<string, unknown>;
  const refOf = (request: FastifyRequest) => ({
    integratorId: principalOf(request).integratorId,
    id: idOf(request, "id"),
  });

  app.post("/webhooks", answers(WebhookEndpointWithSecret), async (request) => {
    const { integratorId } = principalOf(request);
    const body = parseBody(WebhookEndpointBody, request);
    return createEndpoint(deps, {
      integratorId,
      url: body.url,
      description: body.description ?? null,
      types: body.types ?? null,
      extended: body.extended ?? false,
      ordered: body.ordered ?? false,
      scheme: body.scheme ?? "v1a",
    });
  });

  app.get("/webhooks", answers(WebhookEndpointPage), async (request) => {
    const { integratorId } = principalOf(request);
    const query = queryOf(request);
    const { items, more } = await listEndpoints(db, integratorId, parsePage(query));
    const last = items.at(-1);
    return { items, nextCursor: more && last ? `${last.createdAt}_${last.id}` : null };
  });

  app.get("/webhooks/:id", answers(WebhookEndpoint), async (request) =>
    getEndpoint(db, refOf(request)),
  );

  app.post("/webhooks/:id", answers(WebhookEndpoint), async (request) => {
    const ref = refOf(request);
    return updateEndpoint(deps, { ...ref, ...parseBody(WebhookEndpointChange, request) });
  });

  app.delete("/webhooks/:id", answers(WebhookDeleted), async (request) => {
    const ref = refOf(request);
    await deleteEndpoint(db, ref);
    return { deleted: ref.id };
  });

  app.post("/webhooks/:id/rotate", answers(WebhookEndpointWithSecret), async (request) => {
    const ref = refOf(request);
    const { scheme, overlapSeconds = WEBHOOK_OVERLAP_S } = parseBody(WebhookRotation, request);
    return rotateSecret(deps, { ...ref, scheme, overlapSeconds });
  });

  app.post("/webhooks/:id/test", answers(WebhookDelivery), async (request) => {
    const ref = refOf(request);
    parseBody(WebhookTestBody, request);
    const delivery = await insertTest(deps, ref);
    deps.wakeWebhooks();
    return delivery;
  });

  app.post("/webhooks/:id/resend", answers(WebhookResent), async (request) => {
    const ref = refOf(request);
    const asked = parseBody(WebhookResend, request);
    const isRange = asked.since !== undefined;
    if (isRange === (asked.eventId !== undefined) || (!isRange && asked.until !== undefined)) {
      throw invalid("eventId", "either eventId, or since with or without until");
    }
    const done = isRange
      ? await resendRange(deps, ref, {
          since: parseTime(asked.since, "since", "down") ?? "",
          until: parseTime(asked.until, "until", "down"),
        })
      : { queued: 1, nextCursor: null };
    if (!isRange) await resendEvent(deps, ref, (asked.eventId ?? "").toLowerCase());
    deps.wakeWebhooks();
    return done;
  });

  app.get("/webhooks/:id/deliveries", answers(WebhookDeliveryPage), async (request) => {
    const ref = refOf(request);
    const query = queryOf(request);
    const page = { ...parsePage(query), state: parseState(query), ...parseRange(query) };
    const { items, more } = await listDeliveries(db, ref, page);
    const last = items.at(-1);
    return { items, nextCursor: more && last ? `${last.timestamp}_${last.eventId}` : null };
  });

  app.get("/webhooks/:id/deliveries/:eventId", answers(WebhookDelivery), async (request) =>
    getDelivery(db, refOf(request), idOf(request, "eventId")),
  );
}

/** Returns an id of the path. @throws OperatingError NOT_FOUND if no object can have it. */
function idOf(request: FastifyRequest, name: string): string {
  // CAST: the route's path has a parameter of that name.
  const id = parseId((request.params as Record<string, unknown>)[name]);
  if (id !== null) return id;
  throw new OperatingError("NOT_FOUND", "There is no such webhook endpoint or delivery of yours.");
}

function parsePage({ limit, cursor }: Readonly<Record<string, unknown>>) {
  const page = parseListQuery(limit === undefined ? {} : { limit });
  if (cursor === undefined) return { ...page, cursor: undefined };
  if (typeof cursor === "string" && new RegExp(DEPOSIT_CURSOR_PATTERN).test(cursor)) {
    const [text = "", id = ""] = cursor.split("_");
    const stamp = parseStamp(text, "down");
    if (stamp !== undefined) return { ...page, cursor: { stamp, id } };
  }
  throw invalid("cursor", "the nextCursor of the previous page");
}

function parseState({ state }: Readonly<Record<string, unknown>>): DeliveryState | undefined {
  if (state === undefined) return undefined;
  const known = WEBHOOK_DELIVERY_STATES.find((one) => one === state);
  if (known) return known;
  throw invalid("state", `one of ${WEBHOOK_DELIVERY_STATES.join(", ")}`);
}

function parseTime(
  text: string | undefined,
  field: string,
  rounding: Rounding,
): string | undefined {
  if (text === undefined) return undefined;
  const stamp = parseStamp(text, rounding);
  if (stamp !== undefined) return stamp;
  throw invalid(field, "a calendar date and time of ISO 8601, such as 2026-01-31T12:00:00.000Z");
}
