/** The stream as an AsyncAPI 3.0 document, made from the wire's schemas. */
import {
  ConnectedPayload,
  ErrorObject,
  STREAM_CONNECTED_CHANNEL,
  STREAM_EVENT_CHANNEL,
  StreamEvent,
} from "../wire/index.ts";
import { INTERFACE_VERSION } from "./openapi.ts";
import { type JsonSchema, listSchemas, schemaOf } from "./schemas.ts";

/** The whole document. */
export function createAsyncApi(): JsonSchema {
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Sluice stream",
      version: INTERFACE_VERSION,
      description:
        "Socket.IO 4, websocket transport only. The key goes into the handshake's `auth` as `apiKey`, or into the query. " +
        "Delivery is live: what was missed is in `GET /events`.",
      license: { name: "Apache-2.0" },
    },
    servers: {
      service: {
        host: "127.0.0.1:3000",
        protocol: "socket.io",
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
        messages: { event: { $ref: "#/components/messages/event" } },
      },
      connect_error: {
        address: "connect_error",
        messages: { refused: { $ref: "#/components/messages/refused" } },
      },
    },
    operations: {
      greet: {
        action: "send",
        summary: "Once, when the key was accepted",
        channel: { $ref: `#/channels/${STREAM_CONNECTED_CHANNEL}` },
      },
      tell: {
        action: "send",
        summary: "Every event of the integrator, as it is committed",
        channel: { $ref: `#/channels/${STREAM_EVENT_CHANNEL}` },
      },
      refuse: {
        action: "send",
        summary:
          "A key that is missing or wrong, too many handshakes or open sockets, or trouble of the service; the error object is " +
          "in `data`. Where it is retryable, connect again later: Socket.IO does not by itself",
        channel: { $ref: "#/channels/connect_error" },
      },
    },
    components: {
      messages: {
        connected: { payload: schemaOf(ConnectedPayload) },
        event: { payload: schemaOf(StreamEvent) },
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
