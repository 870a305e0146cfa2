/**
 * A call of gRPC in which both sides stream, over HTTP/2: one connection with one request, whose body is frames of a flag, a
 * length and a message.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import { gunzipSync } from "node:zlib";
import { reasonOfFailure } from "../../rpc/errors.ts";

export interface CallOptions {
  /** Origin of the server. May contain credentials; never displayed. */
  readonly url: string;
  /** Service and method, such as `/geyser.Geyser/Subscribe`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called for each message. May throw `TypeError`, which ends the call as malformed. */
  readonly onMessage: (message: Uint8Array) => void;
  /** Called once, with a short reason of ours. */
  readonly onEnd: (reason: string) => void;
}

export interface Call {
  send(message: Uint8Array): void;
  /** Ends the call, and then calls `onEnd` with the reason. */
  end(reason: string): void;
}

/** A transaction has some kilobytes, with logs and inner instructions some dozens. */
const MESSAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Bytes in flight. With HTTP/2's own 64 KiB and 80 ms of latency, a stream would bring less than a megabyte per second. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const PREFIX_BYTES = 5;
const OK = "0";

/** Opens a call. */
export function openCall(options: CallOptions): Call {
  const { onMessage, onEnd } = options;
  let session: ClientHttp2Session | undefined;
  let stream: ClientHttp2Stream | undefined;
  let isOver = false;

  function end(reason: string): void {
    if (isOver) return;
    isOver = true;
    stream?.close(constants.NGHTTP2_CANCEL);
    session?.destroy();
    onEnd(reason);
  }

  const split = createSplitter(onMessage);
  try {
    session = connect(new URL(options.url).origin, {
      settings: { initialWindowSize: WINDOW_BYTES },
    });
    session.on("error", (error) => end(reasonOfFailure(error)));
    session.on("close", () => end("closed"));
    session.on("connect", (connected) => connected.setLocalWindowSize(WINDOW_BYTES));
    stream = session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: options.path,
        "content-type": "application/grpc",
        te: "trailers",
        "grpc-accept-encoding": "gzip",
        "user-agent": "sluice",
        ...options.headers,
      },
      { endStream: false },
    );
  } catch {
    // Its message quotes the URL. The caller has no call yet, so that it learns of the end in a moment.
    queueMicrotask(() => end("invalid URL"));
    return { send: () => undefined, end };
  }
  stream.on("response", (headers) => {
    const reason = refusalOf(headers);
    if (reason !== null) end(reason);
  });
  stream.on("trailers", (trailers) => end(statusOf(trailers) ?? "ended by the server"));
  stream.on("data", (chunk: Buffer) => {
    if (isOver) return;
    try {
      split(chunk);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
      end("malformed message");
    }
  });
  stream.on("error", (error) => end(reasonOfFailure(error)));
  stream.on("close", () => end("closed"));
  const opened = stream;
  return {
    send(message) {
      if (!isOver) opened.write(frameOf(message));
    },
    end,
  };
}

/** Returns why a server refused the call; null if it accepted it. */
function refusalOf(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): string | null {
  const status = headers[":status"];
  if (status !== 200) return `HTTP status ${status}`;
  return statusOf(headers);
}

/** Returns the status of a call that ended with an error, otherwise null. Never the server's text. */
function statusOf(headers: IncomingHttpHeaders): string | null {
  const status = headers["grpc-status"];
  if (status === undefined || status === OK) return null;
  return /^\d{1,3}$/.test(String(status)) ? `gRPC status ${String(status)}` : "malformed status";
}

function frameOf(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Returns a function that takes the chunks of a body and calls back for each message in them. */
function createSplitter(onMessage: (message: Uint8Array) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  /** Bytes until there is something to do: a prefix, or a message with its prefix. */
  let needed = PREFIX_BYTES;

  return (chunk) => {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return;
    let rest = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    for (;;) {
      needed = PREFIX_BYTES;
      if (rest.length < needed) break;
      const length = rest.readUInt32BE(1);
      if (length > MESSAGE_BYTES_MAX) throw new TypeError("a message is too large");
      needed += length;
      if (rest.length < needed) break;
      onMessage(unpack(rest.subarray(PREFIX_BYTES, needed), rest.readUInt8(0)));
      rest = rest.subarray(needed);
    }
    pieces = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
  };
}

/** Decompresses a message if its flag says so. */
function unpack(message: Buffer, flag: number): Buffer {
  if (flag === 0) return message;
  if (flag !== 1) throw new TypeError("unknown flag of a message");
  try {
    return gunzipSync(message, { maxOutputLength: MESSAGE_BYTES_MAX });
  } catch {
    throw new TypeError("a message is not compressed as announced");
  }
}
