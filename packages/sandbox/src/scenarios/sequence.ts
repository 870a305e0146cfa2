/** Documented sequences of events, and the comparison of a played sequence with one. */
import type { ExtendedEventItem } from "@sluice/sdk";

/** How often an event comes: once, at most once, at least once, or any number of times. */
export type Times = "once" | "maybe" | "repeated" | "any";

/** An event of a deposit address. */
export type AddressEvent = Exclude<ExtendedEventItem, { readonly type: "endpoint.disabled" }>;

/** One event of a documented sequence. */
export interface ExpectedEvent {
  readonly type: AddressEvent["type"];
  /**
   * `queued` or the reason of an ignored deposit; the status of a settlement; the state of a refund of the service; empty for a refund
   * that a block shows.
   */
  readonly state: string;
  /** Code of the error; any or none unless given. */
  readonly error?: string;
  readonly times: Times;
  /** Facts that the event tells. */
  readonly note: string;
}

/** Names of an event, as the sequence compares them. */
export interface EventState {
  readonly type: AddressEvent["type"];
  readonly state: string;
  readonly error: string | null;
}

/** Returns the names of an event. */
export function readState(event: AddressEvent): EventState {
  const { type } = event;
  if (type === "deposit_detected") {
    const state = event.data.queued ? "queued" : event.data.ignoredReason;
    return { type, state, error: null };
  }
  if (type === "refund_changed") return { type, state: event.data.state, error: null };
  if (type !== "status_changed") return { type, state: "", error: null };
  return { type, state: event.data.status, error: event.data.error?.code ?? null };
}

/** Returns an event as one word per name, for messages. */
export function formatState({ type, state, error }: EventState): string {
  return [type, state, error ?? ""].filter((word) => word !== "").join(" ");
}

const QUANTIFIERS = { once: "", maybe: "?", repeated: "+", any: "*" } as const;

/** Reports whether events are a complete documented sequence. */
export function isSequence(
  expected: readonly ExpectedEvent[],
  events: readonly EventState[],
): boolean {
  const pattern = expected
    .map(({ type, state, error, times }) => {
      const code = error ?? "[^;]*";
      return `(?:${type},${state},${code};)${QUANTIFIERS[times]}`;
    })
    .join("");
  const played = events
    .map(({ type, state, error }) => `${type},${state},${error ?? ""};`)
    .join("");
  return new RegExp(`^${pattern}$`).test(played);
}
