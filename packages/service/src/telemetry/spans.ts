/**
 * Spans of work, by the API of OpenTelemetry. They cost next to nothing unless the process exports them (`tracing.ts`): without
 * an exporter the API's tracer does nothing.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";

/** Of the process's exporter, if it has one by now. */
const getTracer = () => trace.getTracer("sluice");

/** What a span is about. */
export interface SpanSubject {
  /** The settlement to which the work belongs; null for none. */
  readonly settlementId: string | null;
  readonly [attribute: string]: string | number | boolean | null;
}

/** Runs work as a trace of its own, which is linked to the settlement to which the work belongs. */
export function inSpan<Result>(
  name: string,
  { settlementId, ...subject }: SpanSubject,
  work: () => Promise<Result>,
): Promise<Result> {
  const attributes: Attributes = {};
  for (const [key, value] of Object.entries(subject)) {
    if (value !== null) attributes[`sluice.${key}`] = value;
  }
  if (settlementId !== null) attributes["sluice.settlementId"] = settlementId;
  const links = settlementId === null ? [] : [{ context: spanContextOf(settlementId) }];
  return getTracer().startActiveSpan(name, { attributes, links, root: true }, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Marks the span of the current work as failed, where the error is handled and not thrown. */
export function failSpan(message: string): void {
  trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Says that the current work came to a result, where its rows do not show it. */
export function keepSpan(): void {
  trace.getActiveSpan()?.setAttribute(KEPT, true);
}

/** Attribute of spans that came to a result. */
export const KEPT = "sluice.result";

/** Adds a part of the current work that has just ended, of a duration in milliseconds. */
export function addPart(
  name: string,
  part: { readonly nowMs: number; readonly durationMs: number; readonly attributes: Attributes },
): void {
  const current = trace.getActiveSpan();
  if (!current?.isRecording()) return;
  const { nowMs, durationMs, attributes } = part;
  const startTime = nowMs - durationMs;
  getTracer()
    .startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime }, context.active())
    .end(nowMs);
}

/**
 * Returns the context to which the spans of a settlement link, on every machine and after every restart: the trace id is the
 * settlement's id without dashes, and the parent its last 16 digits.
 */
function spanContextOf(settlementId: string) {
  const traceId = settlementId.replaceAll("-", "");
  const found = { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.SAMPLED };
  return isSpanContextValid(found) ? found : { ...found, traceFlags: TraceFlags.NONE };
}
