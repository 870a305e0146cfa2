/**
 * The places of a process for requests under way. An endpoint that answers fast gets more of them, one that fails or is slow
 * gets one: it delays its own deliveries and takes none of the places of others.
 */
import type { FreePlaces, LeasedDelivery } from "./due.ts";

/** Requests under way in total; each is a socket. */
const TOTAL = 1_024;
/** Share of one integrator. */
const PER_INTEGRATOR = 256;
const PER_ENDPOINT_FIRST = 4;
const PER_ENDPOINT_MAX = 16;
/** An endpoint that answers later than this is slow. */
const SLOW_MS = 5_000;

export interface Places {
  read(): FreePlaces;
  started(delivery: LeasedDelivery): void;
  /** Adjusts the places of an endpoint by the outcome of an attempt. */
  ended(
    endpointId: string,
    outcome: { readonly isDelivered: boolean; readonly latencyMs: number },
  ): void;
  /** Frees the place of a delivery. Returns whose deliveries may have waited for it. */
  free(delivery: LeasedDelivery): "none" | "endpoint" | "all";
}

export function createPlaces(): Places {
  let total = 0;
  const byEndpoint = new Map<string, number>();
  const byIntegrator = new Map<string, number>();
  /** Places of endpoints that do not have the first number. */
  const windows = new Map<string, number>();
  /** Endpoints whose places were all taken since they last had no request under way. */
  const full = new Set<string>();
  let isFull = false;
  const windowOf = (id: string) => windows.get(id) ?? PER_ENDPOINT_FIRST;
  const setWindow = (id: string, size: number) => {
    if (size === PER_ENDPOINT_FIRST) windows.delete(id);
    else windows.set(id, size);
  };
  const add = (counts: Map<string, number>, id: string, by: number) => {
    const count = (counts.get(id) ?? 0) + by;
    if (count === 0) counts.delete(id);
    else counts.set(id, count);
  };

  return {
    read() {
      const endpoints = new Set([...windows.keys(), ...byEndpoint.keys()]);
      return {
        total: TOTAL - total,
        perEndpoint: PER_ENDPOINT_FIRST,
        perIntegrator: PER_INTEGRATOR,
        ofEndpoint: new Map(
          [...endpoints].map((id) => [id, Math.max(0, windowOf(id) - (byEndpoint.get(id) ?? 0))]),
        ),
        ofIntegrator: new Map(
          [...byIntegrator].map(([id, count]) => [id, Math.max(0, PER_INTEGRATOR - count)]),
        ),
      };
    },
    started({ endpointId, integratorId }) {
      total += 1;
      add(byEndpoint, endpointId, 1);
      add(byIntegrator, integratorId, 1);
      if ((byEndpoint.get(endpointId) ?? 0) >= windowOf(endpointId)) full.add(endpointId);
      if (total >= TOTAL || (byIntegrator.get(integratorId) ?? 0) >= PER_INTEGRATOR) isFull = true;
    },
    ended(endpointId, { isDelivered, latencyMs }) {
      if (!isDelivered || latencyMs > SLOW_MS) setWindow(endpointId, 1);
      else setWindow(endpointId, Math.min(windowOf(endpointId) + 1, PER_ENDPOINT_MAX));
    },
    free({ endpointId, integratorId }) {
      total -= 1;
      add(byEndpoint, endpointId, -1);
      add(byIntegrator, integratorId, -1);
      const waiting = isFull ? "all" : full.has(endpointId) ? "endpoint" : "none";
      isFull = false;
      if (!byEndpoint.has(endpointId)) full.delete(endpointId);
      return waiting;
    },
  };
}
