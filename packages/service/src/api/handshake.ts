/**
 * Which requests become sockets of the stream. Everything else, other upgrades included, is answered as plain HTTP: the
 * library would answer what it refuses in a form of its own, or not at all.
 */
import type { IncomingMessage } from "node:http";

/** Where sockets are made. */
export const STREAM_PATH = "/socket.io/";

/** Whether a request is a handshake that the stream's library takes: a websocket of its protocol 4, and a new one. */
export function isHandshake({ method, url = "", headers }: IncomingMessage): boolean {
  if (method !== "GET" || headers.host === undefined || !url.startsWith(STREAM_PATH)) return false;
  const { pathname, searchParams } = new URL(url, "http://stream");
  // What is given twice is the last one, as for the library.
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
