/** The calls for webhooks: endpoints, their secrets, tests, deliveries, and events to send again. */
import type { Static, TSchema } from "typebox";
import {
  WebhookDeleted,
  type WebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  type WebhookEndpointBody,
  type WebhookEndpointChange,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
  type WebhookResend,
  WebhookResent,
  type WebhookRotation,
  type WebhooksQuery,
} from "../wire/index.ts";
import { iterate } from "./iterate.ts";
import type { CallOptions, PostOptions } from "./options.ts";

/** Calls for webhooks. They need a key with the scope `webhooks`. */
export interface WebhookCalls {
  /** Creates an endpoint, which receives the events from now on. A `v1` secret is shown only in the answer. */
  createWebhook(
    endpoint: WebhookEndpointBody,
    options?: PostOptions,
  ): Promise<WebhookEndpointWithSecret>;
  /** Returns one page of endpoints, newest first. */
  listWebhooks(query?: WebhooksQuery, options?: CallOptions): Promise<WebhookEndpointPage>;
  /** Iterates over endpoints from `cursor` on, newest first, page by page. */
  iterateWebhooks(
    query?: WebhooksQuery,
    options?: CallOptions,
  ): AsyncGenerator<WebhookEndpoint, void>;
  /** Returns one endpoint. */
  getWebhook(id: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Changes settings of an endpoint, or enables or disables it; absent settings stay. */
  updateWebhook(
    id: string,
    change: WebhookEndpointChange,
    options?: PostOptions,
  ): Promise<WebhookEndpoint>;
  /** Deletes an endpoint. Nothing is sent to it any more. */
  deleteWebhook(id: string, options?: CallOptions): Promise<WebhookDeleted>;
  /** Creates a new secret. The one before signs as well for a day, or for `overlapSeconds`. */
  rotateWebhookSecret(
    id: string,
    rotation?: WebhookRotation,
    options?: PostOptions,
  ): Promise<WebhookEndpointWithSecret>;
  /** Sends a test once, also to a disabled endpoint. Returns its delivery, which `getWebhookDelivery` follows. */
  testWebhook(id: string, options?: PostOptions): Promise<WebhookDelivery>;
  /** Sends one event again (`eventId`), or those of a range: strictly after `since`, up to `until`. */
  resendWebhooks(id: string, events: WebhookResend, options?: PostOptions): Promise<WebhookResent>;
  /** Returns one page of deliveries with their attempts, newest event first. */
  listWebhookDeliveries(
    id: string,
    query?: WebhookDeliveriesQuery,
    options?: CallOptions,
  ): Promise<WebhookDeliveryPage>;
  /** Iterates over deliveries from `cursor` on, newest event first, page by page. */
  iterateWebhookDeliveries(
    id: string,
    query?: WebhookDeliveriesQuery,
    options?: CallOptions,
  ): AsyncGenerator<WebhookDelivery, void>;
  /** Returns one delivery with its attempts. */
  getWebhookDelivery(id: string, eventId: string, options?: CallOptions): Promise<WebhookDelivery>;
}

/** Sends one call to the service. */
export type Send = <T extends TSchema>(
  schema: T,
  path: string,
  call: PostOptions & {
    readonly method: "GET" | "POST" | "DELETE";
    readonly query?: Readonly<Record<string, string | number | undefined>>;
    readonly body?: object;
  },
) => Promise<Static<T>>;

/** Creates the calls. */
export function createWebhookCalls(send: Send): WebhookCalls {
  const pathOf = (id: string) => `/webhooks/${encodeURIComponent(id)}`;
  const listWebhooks: WebhookCalls["listWebhooks"] = (query = {}, options = {}) =>
    send(WebhookEndpointPage, "/webhooks", { ...options, method: "GET", query });
  const listWebhookDeliveries: WebhookCalls["listWebhookDeliveries"] = (
    id,
    query = {},
    options = {},
  ) => send(WebhookDeliveryPage, `${pathOf(id)}/deliveries`, { ...options, method: "GET", query });
  return {
    createWebhook: (body, options) =>
      send(WebhookEndpointWithSecret, "/webhooks", { ...options, method: "POST", body }),
    listWebhooks,
    iterateWebhooks: (query = {}, options = {}) =>
      iterate("GET /webhooks", query.cursor, (cursor) =>
        listWebhooks(cursor === undefined ? query : { ...query, cursor }, options),
      ),
    getWebhook: (id, options) => send(WebhookEndpoint, pathOf(id), { ...options, method: "GET" }),
    updateWebhook: (id, body, options) =>
      send(WebhookEndpoint, pathOf(id), { ...options, method: "POST", body }),
    deleteWebhook: (id, options) =>
      send(WebhookDeleted, pathOf(id), { ...options, method: "DELETE" }),
    rotateWebhookSecret: (id, body = {}, options = {}) =>
      send(WebhookEndpointWithSecret, `${pathOf(id)}/rotate`, { ...options, method: "POST", body }),
    testWebhook: (id, options) =>
      send(WebhookDelivery, `${pathOf(id)}/test`, { ...options, method: "POST", body: {} }),
    resendWebhooks: (id, body, options) =>
      send(WebhookResent, `${pathOf(id)}/resend`, { ...options, method: "POST", body }),
    listWebhookDeliveries,
    iterateWebhookDeliveries: (id, query = {}, options = {}) =>
      iterate(`GET ${pathOf(id)}/deliveries`, query.cursor, (cursor) =>
        listWebhookDeliveries(id, cursor === undefined ? query : { ...query, cursor }, options),
      ),
    getWebhookDelivery: (id, eventId, options) =>
      send(WebhookDelivery, `${pathOf(id)}/deliveries/${encodeURIComponent(eventId)}`, {
        ...options,
        method: "GET",
      }),
  };
}
