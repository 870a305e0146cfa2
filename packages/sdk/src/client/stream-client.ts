/**
 * The live stream. Delivery is best-effort: what is emitted while the socket is down is not sent again and has to be
 * read from `GET /events`.
 *
 * The connection is `down`, then `up` with the greeting, and comes back by itself: socket.io does it after a loss, and
 * leaves to us a refused handshake and a cut by the server. A refusal that is not retryable (missing or invalid key) is
 * final.
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
  /** Base address of the service, with or without a path. */
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

/** Before the first attempt of ours; each further one waits twice as long, until the server greets. */
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** The longest that a refusal can make us wait. */
const WAIT_MAX_MS = 300_000;

/** Opens the stream over a websocket. */
export function connectStream(options: StreamOptions): Stream {
  const { origin, pathname } = new URL(options.baseUrl);
  const socket = io(origin, {
    path: `${pathname.replace(/\/+$/, "")}/socket.io`,
    transports: ["websocket"],
    auth: { apiKey: options.apiKey },
    forceNew: true,
  });
  let attempts = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Connects again after a while, which differs between clients that were refused together. */
  const connectLater = (atLeastMs = 0) => {
    const ms = Math.min(RETRY_MS * 2 ** attempts, RETRY_MAX_MS) * (0.5 + Math.random() / 2);
    attempts += 1;
    retry = setTimeout(
      () => {
        retry = undefined;
        socket.connect();
      },
      Math.max(ms, atLeastMs),
    );
  };
  const fail = (error: SluiceApiError | SluiceResponseError) =>
    options.onError?.(error, socket.active || retry !== undefined);

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
    attempts = 0;
    const source = { source: "stream connected" };
    receive(() => checkShape(ConnectedPayload, payload, source), options.onConnected);
  });
  socket.on(STREAM_EVENT_CHANNEL, (payload: unknown) => {
    const source = { source: "stream event" };
    receive(() => checkShape(StreamEvent, payload, source), options.onEvent);
  });
  socket.on("disconnect", (reason) => {
    if (reason === "io server disconnect") connectLater();
    options.onDisconnected?.(reason);
  });
  socket.on("connect_error", (thrown) => {
    const error = toStreamError(thrown);
    if (!socket.active && error.retryable) connectLater(waitOf(error));
    fail(error);
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

/** What a refusal says about when to come back, in milliseconds; 0 where it does not. */
function waitOf(error: SluiceApiError | SluiceResponseError): number {
  const seconds = error instanceof SluiceApiError ? error.details?.["retryAfterSeconds"] : 0;
  return typeof seconds === "number" ? Math.min(seconds * 1_000, WAIT_MAX_MS) : 0;
}

/** A refusal with an error object as the service's error; anything else has no more than its text. */
function toStreamError(error: Error): SluiceApiError | SluiceResponseError {
  const data: unknown = "data" in error ? error.data : undefined;
  if (Value.Check(ErrorObject, data)) return new SluiceApiError(data, undefined);
  return new SluiceResponseError("stream handshake", error.message);
}
