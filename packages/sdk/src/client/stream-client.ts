/**
 * The live stream. Delivery is best-effort: events emitted while the socket is down are not sent again; read them from
 * `GET /events`.
 *
 * The stream is up once the server has sent `connected`. It reconnects automatically: socket.io does so after a lost
 * connection, and the code here after a rejected handshake or a disconnect by the server. A rejection that is not
 * retryable (missing or invalid key) is final.
 */
import { io } from "socket.io-client";
import { Value } from "typebox/value";
import {
  ConnectedPayload,
  ErrorObject,
  ExtendedStreamEvent,
  STREAM_CONNECTED_CHANNEL,
  STREAM_EVENT_CHANNEL,
  StreamEvent,
} from "../wire/index.ts";
import { checkShape } from "./check.ts";
import { SluiceApiError, SluiceResponseError } from "./errors.ts";

/** Address, key and callbacks of a stream. Callbacks must not throw. */
export interface StreamOptions extends ConnectionOptions {
  /** Called with every event, in order. */
  readonly onEvent: (event: StreamEvent) => void;
  readonly extended?: false;
}

/** As `StreamOptions`, for a stream whose events have details. */
export interface ExtendedStreamOptions extends ConnectionOptions {
  /** Called with every event, in order. */
  readonly onEvent: (event: ExtendedStreamEvent) => void;
  readonly extended: true;
}

/** Options of every stream. */
export interface ConnectionOptions {
  /** Base address of the service, with or without a path. */
  readonly baseUrl: string;
  /** The integrator's key, a UUID. */
  readonly apiKey: string;
  /** Called when the stream has connected or reconnected. */
  readonly onConnected?: (greeting: ConnectedPayload) => void;
  /** Called when the stream has disconnected. It reconnects automatically unless it was closed by `close`. */
  readonly onDisconnected?: (reason: string) => void;
  /** Called when connecting fails or a message does not match the interface. `willRetry` is false if the error is final. */
  readonly onError?: (error: SluiceApiError | SluiceResponseError, willRetry: boolean) => void;
}

/** An open stream. */
export interface Stream {
  /** True while the socket is up. */
  readonly connected: boolean;
  /** Closes the stream permanently. */
  close(): void;
}

/** Backoff before the first reconnect; it doubles with each attempt until the server sends `connected`. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** Maximum of a rejection's `retryAfterSeconds` that is respected. */
const RETRY_AFTER_MAX_MS = 300_000;

/** Opens the stream over a WebSocket. */
export function connectStream(options: StreamOptions | ExtendedStreamOptions): Stream {
  const { origin, pathname } = new URL(options.baseUrl);
  const socket = io(origin, {
    path: `${pathname.replace(/\/+$/, "")}/socket.io`,
    transports: ["websocket"],
    auth: { apiKey: options.apiKey, ...(options.extended ? { extended: true } : {}) },
    forceNew: true,
  });
  let attempts = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Reconnects after the backoff, with jitter so that clients rejected together do not return together. */
  const scheduleReconnect = (delayMinMs = 0) => {
    const ms = Math.min(RETRY_MS * 2 ** attempts, RETRY_MAX_MS) * (0.5 + Math.random() / 2);
    attempts += 1;
    retry = setTimeout(
      () => {
        retry = undefined;
        socket.connect();
      },
      Math.max(ms, delayMinMs),
    );
  };
  const reportError = (error: SluiceApiError | SluiceResponseError) =>
    options.onError?.(error, socket.active || retry !== undefined);

  /** Delivers a message that matches its schema, reports any other. */
  const receive = <T>(check: () => T, deliver: ((value: T) => void) | undefined) => {
    let value: T;
    try {
      value = check();
    } catch (error) {
      if (!(error instanceof SluiceResponseError)) throw error;
      reportError(error);
      return;
    }
    deliver?.(value);
  };

  socket.on(STREAM_CONNECTED_CHANNEL, (payload: unknown) => {
    attempts = 0;
    const source = { source: "stream connected" };
    receive(() => checkShape(ConnectedPayload, payload, source), options.onConnected);
  });
  socket.on(STREAM_EVENT_CHANNEL, (payload: unknown) => {
    const source = { source: "stream event" };
    if (options.extended) {
      receive(() => checkShape(ExtendedStreamEvent, payload, source), options.onEvent);
    } else {
      receive(() => checkShape(StreamEvent, payload, source), options.onEvent);
    }
  });
  socket.on("disconnect", (reason) => {
    if (reason === "io server disconnect") scheduleReconnect();
    options.onDisconnected?.(reason);
  });
  socket.on("connect_error", (thrown) => {
    const error = toStreamError(thrown);
    if (!socket.active && error.retryable) scheduleReconnect(retryAfterMs(error));
    reportError(error);
  });

  return {
    get connected() {
      return socket.connected;
    },
    close() {
      clearTimeout(retry);
      retry = undefined;
      socket.disconnect();
    },
  };
}

/** Returns the rejection's `retryAfterSeconds` in milliseconds; 0 if it has none. */
function retryAfterMs(error: SluiceApiError | SluiceResponseError): number {
  const seconds = error instanceof SluiceApiError ? error.details?.["retryAfterSeconds"] : 0;
  return typeof seconds === "number" ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : 0;
}

/** Converts an error of socket.io: one with an error object becomes `SluiceApiError`, any other `SluiceResponseError`. */
function toStreamError(error: Error): SluiceApiError | SluiceResponseError {
  const data: unknown = "data" in error ? error.data : undefined;
  if (Value.Check(ErrorObject, data)) return new SluiceApiError(data, undefined);
  return new SluiceResponseError("stream handshake", error.message);
}
