/** Counts the requests of keys in this process, and adds them to the database at intervals instead of per request. */
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { addKeyUse, type KeyUse } from "../integrators/index.ts";

export interface KeyUses {
  /** Counts one admitted request or handshake. */
  countRequest(keyId: string): void;
  /** Counts requests to nodes that a request caused. */
  countNodeRequests(keyId: string, count: number): void;
  /** Adds the counts to the database. If that fails, they are kept for the next time. */
  flush(): Promise<void>;
}

/** Creates empty counts. Only valid keys are counted, so that there are no more entries than keys. */
export function createKeyUses({ db, clock }: { readonly db: Db; readonly clock: Clock }): KeyUses {
  let counted = new Map<string, KeyUse>();

  function add({ keyId, lastUsedMs, requests, nodeRequests }: KeyUse): void {
    const known = counted.get(keyId);
    counted.set(keyId, {
      keyId,
      lastUsedMs: Math.max(lastUsedMs, known?.lastUsedMs ?? 0),
      requests: requests + (known?.requests ?? 0),
      nodeRequests: nodeRequests + (known?.nodeRequests ?? 0),
    });
  }

  return {
    countRequest: (keyId) => add({ keyId, lastUsedMs: clock.now(), requests: 1, nodeRequests: 0 }),
    countNodeRequests: (keyId, count) =>
      add({ keyId, lastUsedMs: clock.now(), requests: 0, nodeRequests: count }),
    async flush() {
      const flushed = counted;
      counted = new Map();
      try {
        await addKeyUse(db, [...flushed.values()]);
      } catch (error) {
        for (const use of flushed.values()) add(use);
        throw error;
      }
    },
  };
}
