/** Exports spans to a collector, by OTLP over HTTP. Polls that changed nothing are dropped, since a waiting settlement has many. */
import { context, type Context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type Span,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Secret } from "../core/secret.ts";
import { KEPT } from "./spans.ts";

/** Parts that a trace keeps; a step has few, and a fault must not fill the memory. */
const PARTS_MAX = 1_000;

/** Where spans are sent. */
export interface TracingConfig {
  /** The collector's endpoint for traces, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly token: Secret | undefined;
}

/** Starts exporting the spans of this process. */
export function startTracing(
  { url, token }: TracingConfig,
  { role, version }: { readonly role: string; readonly version: string },
): { stop(): Promise<void> } {
  const headers = token && { authorization: `Bearer ${token.reveal()}` };
  const exporter = new OTLPTraceExporter({ url, ...(headers && { headers }) });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "sluice",
      "service.version": version,
      "sluice.role": role,
    }),
    spanProcessors: [new WorkOnly(new BatchSpanProcessor({ exporter }))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return {
    async stop() {
      // A collector that is away keeps no process from ending.
      await provider.shutdown().catch(() => undefined);
      trace.disable();
      context.disable();
    },
  };
}

/** Passes on the traces in which something was written or failed, each when it ends. */
class WorkOnly implements SpanProcessor {
  readonly #next: SpanProcessor;
  /** Parts of the traces that have not ended, by trace id. */
  readonly #parts = new Map<string, ReadableSpan[]>();

  constructor(next: SpanProcessor) {
    this.#next = next;
  }

  onStart(span: Span, parent: Context): void {
    this.#next.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const parts = this.#parts.get(traceId) ?? [];
    if (span.parentSpanContext) {
      if (parts.length < PARTS_MAX) parts.push(span);
      this.#parts.set(traceId, parts);
      return;
    }
    this.#parts.delete(traceId);
    const isKept = span.status.code === SpanStatusCode.ERROR || span.attributes[KEPT] === true;
    if (!isKept && !parts.some(isWrite)) return;
    for (const one of [...parts, span]) this.#next.onEnd(one);
  }

  forceFlush(): Promise<void> {
    return this.#next.forceFlush();
  }

  shutdown(): Promise<void> {
    this.#parts.clear();
    return this.#next.shutdown();
  }
}

/** Every step that does something inserts a row: a change of status, a transaction, an attempt, a request. */
function isWrite({ name }: ReadableSpan): boolean {
  // The row of an answer also holds the time of the next poll.
  return name.startsWith("insert ") && name !== "insert attestation_answers";
}
