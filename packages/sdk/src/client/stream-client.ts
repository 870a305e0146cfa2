/**
 * The live stream. Delivery is best-effort: what is emitted while the socket is down is not sent again and has to be
 * read from `GET /events`.
 *
 * The connection is `down`, then `up` with the greeting, and reconnects by itself after a loss. A refused handshake
 * (missing or invalid key) is final.
 */
import { io } from "socket.io-client";
import { Value } from "typebox/value";
import {
  ConnectedPayload,
  ErrorObject,
  STREAM_CONNECTED_CHANNEL,
  STREAM_EVENT_CHANNEL,
  StreamEvent,
} from "../wire/index.ts";
import { checkShape } from "./check.ts";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";

/** How to reach the stream, and what to do with what comes. Callbacks must not throw. */
export interface StreamOptions {
  /** Base address of the service. */
  readonly baseUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** Every event, in order. */
  readonly onEvent: (event: StreamEvent) => void;
  /** The stream is open, for the first time or again. */
  readonly onConnected?: (greeting: ConnectedPayload) => void;
  /** The stream is closed; it comes back by itself unless it was closed on purpose. */
  readonly onDisconnected?: (reason: string) => void;
  /** A failed attempt to connect, or a message of another shape. `willRetry` is false when nothing more will come. */
  readonly onError?: (error: SluiceApiError | SluiceResponseError, willRetry: boolean) => void;
}

/** An open stream. */
export interface Stream {
  /** True while the socket is up. */
  readonly connected: boolean;
  /** Closes the stream for good. */
  close(): void;
}

/** Opens the stream over a websocket. */
export function connectStream(options: StreamOptions): Stream {
  const socket = io(options.baseUrl, {
    transports: ["websocket"],
    auth: { apiKey: options.apiKey },
    forceNew: true,
  });
  const fail = (error: SluiceApiError | SluiceResponseError) =>
    options.onError?.(error, socket.active);

  /** Hands on a message that fits, reports one that does not. */
  const receive = <T>(check: () => T, deliver: ((value: T) => void) | undefined) => {
    let value: T;
    try {
      value = check();
    } catch (error) {
      if (!(error instanceof SluiceResponseError)) throw error;
      fail(error);
      return;
    }
    deliver?.(value);
  };

  socket.on(STREAM_CONNECTED_CHANNEL, (payload: unknown) => {
    const source = { source: "stream connected" };
    receive(() => checkShape(ConnectedPayload, payload, source), options.onConnected);
  });
  socket.on(STREAM_EVENT_CHANNEL, (payload: unknown) => {
    const source = { source: "stream event" };
    receive(() => checkShape(StreamEvent, payload, source), options.onEvent);
  });
  socket.on("disconnect", (reason) => options.onDisconnected?.(reason));
  socket.on("connect_error", (error) => fail(toStreamError(error)));

  return {
    get connected() {
      return socket.connected;
    },
    close() {
      socket.disconnect();
    },
  };
}

/** A refusal with an error object as the service's error; anything else has no more than its text. */
function toStreamError(error: Error): SluiceApiError | SluiceResponseError {
  const data: unknown = "data" in error ? error.data : undefined;
  if (Value.Check(ErrorObject, data)) return new SluiceApiError(data, undefined);
  return new SluiceResponseError("stream handshake", error.message);
}
