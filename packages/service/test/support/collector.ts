/** A collector of traces: a real HTTP server that keeps the spans it gets by OTLP. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span as OTLP writes it in JSON. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
  readonly status: { code: number; message?: string };
  readonly links: readonly { traceId: string; spanId: string }[];
}

/** Starts a collector. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const tokens = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    tokens.add(request.headers.authorization);
    // CAST: what the exporter sends, by OTLP.
    const body = (await json(request)) as {
      resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
    };
    spans.push(
      ...body.resourceSpans.flatMap((one) => one.scopeSpans).flatMap((scope) => scope.spans),
    );
    response.setHeader("content-type", "application/json").end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    tokens,
    close: () => void server.close(),
  };
}

/** Returns an attribute of a span. */
export const attributeOf = (span: CollectedSpan, key: string): string | undefined =>
  span.attributes.find((one) => one.key === key)?.value.stringValue;
