/** Generates the AsyncAPI 3.0 document of the stream from the interface's schemas. */
import {
  ConnectedPayload,
  ErrorObject,
  ExtendedStreamEvent,
  STREAM_CONNECTED_CHANNEL,
  STREAM_EVENT_CHANNEL,
  StreamEvent,
} from "../wire/index.ts";
import type { ServedBy } from "./openapi.ts";
import { type JsonSchema, listSchemas, schemaOf } from "./schemas.ts";

/** Returns the AsyncAPI document of a service. */
export function createAsyncApi({ version, serviceUrl }: ServedBy): JsonSchema {
  const { host, protocol } = new URL(serviceUrl);
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Sluice stream",
      version,
      description:
        "Socket.IO 4, websocket transport only. The key goes into the handshake's `auth` as `apiKey`, or into the query. " +
        "Delivery is live: read missed events from `GET /events`.",
      license: { name: "Apache-2.0" },
    },
    servers: {
      service: {
        host,
        protocol: protocol === "https:" ? "wss" : "ws",
        protocolVersion: "Socket.IO 4",
        pathname: "/socket.io/",
        security: [
          { type: "apiKey", in: "user", description: "`apiKey` of the handshake's auth, a UUID" },
        ],
      },
    },
    channels: {
      [STREAM_CONNECTED_CHANNEL]: {
        address: STREAM_CONNECTED_CHANNEL,
        messages: { connected: { $ref: "#/components/messages/connected" } },
      },
      [STREAM_EVENT_CHANNEL]: {
        address: STREAM_EVENT_CHANNEL,
        messages: {
          event: { $ref: "#/components/messages/event" },
          extended: { $ref: "#/components/messages/extended" },
        },
      },
      connect_error: {
        address: "connect_error",
        messages: { refused: { $ref: "#/components/messages/refused" } },
      },
    },
    operations: {
      greet: {
        action: "send",
        summary: "Sent once, after the key was accepted",
        channel: { $ref: `#/channels/${STREAM_CONNECTED_CHANNEL}` },
      },
      tell: {
        action: "send",
        summary: "Sent for every event of the integrator when it is committed",
        channel: { $ref: `#/channels/${STREAM_EVENT_CHANNEL}` },
      },
      refuse: {
        action: "send",
        summary:
          "Sent when the key is missing or invalid, for too many handshakes or open sockets, or after an internal error. The " +
          "error object is in `data`. If it is retryable, reconnect later: Socket.IO does not do so automatically",
        channel: { $ref: "#/channels/connect_error" },
      },
    },
    components: {
      messages: {
        connected: { payload: schemaOf(ConnectedPayload) },
        event: { payload: schemaOf(StreamEvent) },
        extended: {
          summary:
            "In place of `event`, if the handshake has `extended: true` in its auth or query",
          payload: schemaOf(ExtendedStreamEvent),
        },
        refused: {
          payload: {
            type: "object",
            properties: { message: { type: "string" }, data: schemaOf(ErrorObject) },
            required: ["message", "data"],
          },
        },
      },
      schemas: listSchemas(),
    },
  };
}
