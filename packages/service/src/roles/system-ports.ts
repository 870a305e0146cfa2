/** The system ports: the only code that reads the clock, draws randomness and makes outbound HTTP calls. */
import { randomUUID } from "node:crypto";
import type { Clock, CrashPoint, Http, Random } from "../core/ports.ts";

/** The clock and timers of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // The sleep of `node:timers/promises` rejects with a new exception when it is ended early, as most sleeps are.
  sleep(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    return promise;
  },
};

/** Random UUIDs (version 4) from the system's secure generator. */
export const systemRandom: Random = { uuid: () => randomUUID() };

/** Sends requests of prices and of the bridge's service. Limits time and size; failures are values, not exceptions. */
export const systemHttp: Http = async (request) => {
  const { method = "GET", body: sent, url, headers, timeoutMs, bytesMax } = request;
  try {
    const response = await fetch(url, {
      method,
      ...(sent !== undefined && { body: sent }),
      headers: {
        accept: "application/json",
        "user-agent": "sluice",
        ...Object.fromEntries([...headers].map(([name, secret]) => [name, secret.reveal()])),
      },
      // A redirect could lead into the operator's network; the caller sees its status instead.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await readBody(response, bytesMax);
    if (body === null) return { kind: "failed", reason: "too_large" };
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"));
    return { kind: "answered", status: response.status, body, retryAfterMs };
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") {
      return { kind: "failed", reason: "timed_out" };
    }
    // `fetch` throws a TypeError for every failed connection, before the response's head or in its body.
    if (error instanceof TypeError) return { kind: "failed", reason: "unreachable" };
    throw error;
  }
};

/** Parses `Retry-After` in seconds, at most a day. Dates are ignored, since they need synchronised clocks. */
function parseRetryAfter(value: string | null): number | undefined {
  if (value === null || !/^\d{1,9}$/.test(value)) return undefined;
  return Math.min(Number(value), 86_400) * 1000;
}

/** Reads the body as text; returns null without reading the rest if it is larger than the limit. */
async function readBody(response: Response, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The crash points of a process. They do nothing unless a test names one: there the process kills itself with SIGKILL, as
 * in a power failure.
 */
export function createCrashPoint(crashAt: string | undefined): CrashPoint {
  if (crashAt === undefined) return () => {};
  return (name) => {
    if (name === crashAt) process.kill(process.pid, "SIGKILL");
  };
}

const DESCRIPTORS_UNKNOWN = 1_024;

/** Returns the number of files and connections that the system lets this process open. */
export function readDescriptorsMax(): number {
  // Without this the report looks up the names of the machine's connections.
  Reflect.set(process.report, "excludeNetwork", true);
  const report: unknown = process.report.getReport();
  const limits = Reflect.get(Object(report), "userLimits");
  const soft: unknown = Reflect.get(Object(Reflect.get(Object(limits), "open_files")), "soft");
  if (soft === "unlimited") return Number.MAX_SAFE_INTEGER;
  return typeof soft === "number" ? soft : DESCRIPTORS_UNKNOWN;
}
