/**
 * Decides which requests become sockets of the stream. All others, including other upgrades, are answered as plain HTTP: the
 * library would answer them in another form, or not at all.
 */
import type { IncomingMessage } from "node:http";

/** Path of the stream. */
export const STREAM_PATH = "/socket.io/";

/** Returns whether a request is a handshake that the stream's library accepts: a new websocket of protocol 4. */
export function isHandshake({ method, url = "", headers }: IncomingMessage): boolean {
  if (method !== "GET" || headers.host === undefined || !url.startsWith(STREAM_PATH)) return false;
  const { pathname, searchParams } = new URL(url, "http://stream");
  // Of repeated parameters the last one counts, as in the library.
  const query = new Map(searchParams);
  return (
    pathname === STREAM_PATH &&
    query.get("EIO") === "4" &&
    query.get("transport") === "websocket" &&
    !query.has("sid") &&
    /^websocket$/i.test(headers.upgrade ?? "") &&
    /^(13|8)$/.test(headers["sec-websocket-version"] ?? "") &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "") &&
    headers["sec-websocket-protocol"] === undefined
  );
}
