/** Counts of a provider: the requests as the provider's bill would list them, and its faults. */

export interface ProviderStats {
  /** HTTP requests and WebSocket messages. */
  readonly messages: number;
  /** Calls; each item of a batch is one. */
  readonly requests: number;
  readonly byMethod: Readonly<Record<string, number>>;
  /** Refused calls by the id of the refusal. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly bytesIn: number;
  /** Bytes of the answers, before compression. */
  readonly bytesOut: number;
  /** Connections that clients opened. */
  readonly connections: number;
  readonly dropped: number;
  readonly stalled: number;
  readonly htmlErrors: number;
  readonly reorgs: number;
  readonly subscriptions: number;
  readonly notifications: number;
  /** Messages and polls of heads without an answer of the node. */
  readonly nodeFailures: number;
  /** Most messages in work at the same time. */
  readonly concurrentMax: number;
}

export interface Counter {
  count(call: { readonly method: string }): void;
  refuse(id: string, calls: number): void;
  add(field: CountedField, amount: number): void;
  start(): void;
  end(): void;
  read(): ProviderStats;
  reset(): void;
}

type CountedField = Exclude<
  keyof ProviderStats,
  "byMethod" | "refusals" | "requests" | "concurrentMax"
>;

const ZERO: Readonly<Record<CountedField, number>> = {
  messages: 0,
  bytesIn: 0,
  bytesOut: 0,
  connections: 0,
  dropped: 0,
  stalled: 0,
  htmlErrors: 0,
  reorgs: 0,
  subscriptions: 0,
  notifications: 0,
  nodeFailures: 0,
};

export function createCounter(): Counter {
  let fields = { ...ZERO };
  const byMethod = new Map<string, number>();
  const refusals = new Map<string, number>();
  let requests = 0;
  let concurrent = 0;
  let concurrentMax = 0;
  return {
    count: ({ method }) => {
      requests += 1;
      byMethod.set(method, (byMethod.get(method) ?? 0) + 1);
    },
    refuse: (id, calls) => refusals.set(id, (refusals.get(id) ?? 0) + calls),
    add: (field, amount) => {
      fields[field] += amount;
    },
    start: () => {
      concurrent += 1;
      concurrentMax = Math.max(concurrentMax, concurrent);
    },
    end: () => {
      concurrent -= 1;
    },
    read: () => ({
      ...fields,
      requests,
      byMethod: Object.fromEntries(byMethod),
      refusals: Object.fromEntries(refusals),
      concurrentMax,
    }),
    reset: () => {
      fields = { ...ZERO };
      byMethod.clear();
      refusals.clear();
      requests = 0;
      concurrentMax = concurrent;
    },
  };
}
