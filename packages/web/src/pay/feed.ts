/**
 * Follows the status of one link: server-sent events, and polling while they do not come through. Both carry the whole status,
 * so whatever was missed is in the next one.
 */
import type { ErrorResponse, PayStatus, PayTerms } from "@sluice/sdk/wire";
import { signal, type ReadonlySignal } from "@preact/signals";

/** How the page follows the status at present. */
export type Connection = "connecting" | "live" | "polling" | "offline";

/** Why there is no status: the link is refused, or the service cannot be reached yet. */
export type Problem = "unknown" | "expired" | "revoked" | "unreachable";

export interface Feed {
  readonly status: ReadonlySignal<PayStatus | null>;
  readonly connection: ReadonlySignal<Connection>;
  readonly problem: ReadonlySignal<Problem | null>;
  /** Returns what would arrive of a payment, or why nobody can say. Never throws. */
  readTerms(
    asked: { readonly chainId: number; readonly tokenAddress: string; readonly amount: bigint },
    signal: AbortSignal,
  ): Promise<{
    readonly value: PayTerms | null;
    readonly problem: "small" | "unavailable" | null;
  }>;
  close(): void;
}

/** Errors of amounts that are too small for their fees. */
const TOO_SMALL = ["AMOUNT_TOO_SMALL", "FEE_NOT_COVERED"];

/** The first event comes at once. Without it for this long, something on the way holds events back. */
const SILENCE_MS = 8_000;
const POLL_MS = 4_000;
/** Also after a long outage: the payer looks at the page. */
const POLL_MAX_MS = 10_000;
/** Interval at which a polling page tries events again. */
const AGAIN_MS = 60_000;

/** Begins to follow. `base` ends with `/` and precedes the token. */
export function openFeed(base: string, token: string): Feed {
  const status = signal<PayStatus | null>(null);
  const connection = signal<Connection>("connecting");
  const problem = signal<Problem | null>(null);
  const root = `${base}${encodeURIComponent(token)}`;
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let source: EventSource | null = null;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let pollDelay = POLL_MS;
  let isClosed = false;

  function later(work: () => void, ms: number) {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!isClosed) work();
    }, ms);
    timers.add(timer);
    return timer;
  }

  function take(next: PayStatus): void {
    problem.value = null;
    if (status.peek()?.version !== next.version) status.value = next;
  }

  function refuse(reason: Problem): void {
    problem.value = reason;
    stopSource();
  }

  /** Fetches the status once. Returns whether the link may still be shown. */
  async function fetchOnce(): Promise<boolean> {
    const response = await fetch(`${root}/status`, { cache: "no-store", credentials: "omit" });
    if (response.ok) {
      take(await response.json());
      return true;
    }
    if (response.status !== 404) throw new Error(`status ${response.status}`);
    const body: ErrorResponse = await response.json();
    const reason = body.error.details?.["reason"];
    refuse(reason === "expired" || reason === "revoked" ? reason : "unknown");
    return false;
  }

  async function poll(): Promise<void> {
    try {
      if (!(await fetchOnce())) return;
      pollDelay = POLL_MS;
      connection.value = "polling";
    } catch {
      // Every failure to reach the service is the same to a payer, and is tried again.
      pollDelay = Math.min(pollDelay * 2, POLL_MAX_MS);
      connection.value = "offline";
      if (status.peek() === null) problem.value = "unreachable";
    }
    if (!isClosed && source === null) pollTimer = later(() => void poll(), pollDelay);
  }

  function startPolling(): void {
    stopSource();
    clearTimeout(pollTimer);
    void poll();
    later(() => {
      if (source === null && problem.peek() === null) listen();
    }, AGAIN_MS);
  }

  function stopSource(): void {
    source?.close();
    source = null;
  }

  function listen(): void {
    clearTimeout(pollTimer);
    const events = new EventSource(`${root}/events`);
    source = events;
    let isOpen = false;
    const silence = later(() => {
      if (source === events && connection.peek() !== "live") startPolling();
    }, SILENCE_MS);
    events.addEventListener("status", (event) => {
      clearTimeout(silence);
      isOpen = true;
      connection.value = "live";
      take(JSON.parse(event.data));
    });
    events.addEventListener("ended", () => void fetchOnce().catch(() => startPolling()));
    events.addEventListener("error", () => {
      if (source !== events) return;
      // Closed for good, or never open: something on the way lets no stream through.
      if (events.readyState === EventSource.CLOSED || !isOpen) return startPolling();
      // The browser connects again by itself, with the last id. A request tells whether there is a network meanwhile.
      void fetchOnce().catch(() => {
        connection.value = "offline";
      });
    });
  }

  const onOnline = () => {
    if (source === null || connection.peek() !== "live") startOver();
  };
  function startOver(): void {
    stopSource();
    void fetchOnce().then(
      (isShown) => {
        if (isShown && !isClosed) listen();
      },
      () => {
        connection.value = "offline";
        if (status.peek() === null) problem.value = "unreachable";
        if (!isClosed) later(startOver, POLL_MS);
      },
    );
  }
  addEventListener("online", onOnline);
  startOver();

  return {
    status,
    connection,
    problem,
    async readTerms({ chainId, tokenAddress, amount }, signal) {
      const query = new URLSearchParams({
        chainId: String(chainId),
        tokenAddress,
        amount: String(amount),
      });
      try {
        const response = await fetch(`${root}/terms?${query}`, { signal, credentials: "omit" });
        const body = await response.json();
        if (!response.ok) {
          const isSmall = TOO_SMALL.includes(body?.error?.code);
          return { value: null, problem: isSmall ? "small" : "unavailable" };
        }
        return { value: body, problem: body.isBelowMinimum ? "small" : null };
      } catch {
        // Aborted, or no connection: the estimate is a help, and the address works without it.
        return { value: null, problem: "unavailable" };
      }
    },
    close() {
      isClosed = true;
      removeEventListener("online", onOnline);
      for (const timer of timers) clearTimeout(timer);
      stopSource();
    },
  };
}
