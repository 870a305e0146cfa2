/** The limits of each configured node, one instance per process, and their metrics. */
import { createDayBudget } from "../chains/rpc/day-budget.ts";
import { createNodeTraffic } from "../chains/rpc/node-traffic.ts";
import type { Exchange, NodeTraffic } from "../chains/rpc/traffic.ts";
import { hostOf, type NodeConfig } from "../config/index.ts";
import type { Clock, Random } from "../core/ports.ts";
import { reserveRequests } from "../db/rpc-budgets.ts";
import type { Db } from "../db/schema.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import { addPart } from "../telemetry/spans.ts";

/** A node by its place in the configuration. */
export interface NodePlace {
  /** Bridge chain id. */
  readonly chainId: number;
  /** The service's nodes, or the attestor's own. */
  readonly view: "service" | "attestor";
  /** From 0, in the order of the file. */
  readonly position: number;
}

/** Returns the limits of a node; the same for each caller. */
export type TrafficOf = (place: NodePlace, node: NodeConfig) => NodeTraffic;

interface TrafficDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Absent in a command, which sends few requests: it waits its turn, and its requests are not counted. */
  readonly counted?: {
    readonly db: Db;
    readonly metrics: Metrics;
    /** Told of every request, so that those of a caller are counted to its key. */
    readonly onRequests?: (count: number) => void;
  };
}

/** Creates the limits of each node on first use. */
export function createTrafficOf(deps: TrafficDeps): TrafficOf {
  const known = new Map<string, NodeTraffic>();
  return (place, node) => {
    const key = `${place.chainId} ${labelOf(place)}`;
    const traffic = known.get(key) ?? openTraffic(deps, place, node);
    known.set(key, traffic);
    return traffic;
  };
}

function openTraffic(
  { clock, random, counted }: TrafficDeps,
  place: NodePlace,
  { url, requestsPerSecond, requestsPerDay }: NodeConfig,
): NodeTraffic {
  if (!counted) return createNodeTraffic({ clock, random, requestsPerSecond, observe: () => {} });
  const { db, metrics, onRequests } = counted;
  const { chainId } = place;
  const labels = { chain: chainLabel(chainId), node: labelOf(place) };
  const host = hostOf(url) ?? "";
  return createNodeTraffic({
    clock,
    random,
    onRequests,
    requestsPerSecond,
    dayBudget:
      requestsPerDay === undefined
        ? undefined
        : createDayBudget({
            clock,
            requestsPerDay,
            counted: { reserve: (wanted) => reserveRequests(db, { chainId, host, ...wanted }) },
            onUsed: (share) => metrics.rpcBudgetUsed.set(labels, share),
          }),
    observe(exchange) {
      count(metrics, labels, exchange);
      traceExchange(clock.now(), labels, exchange);
    },
  });
}

/** Returns the label of a node: never its URL. */
export function labelOf({ view, position }: NodePlace): string {
  return view === "service" ? `${position}` : `attestor-${position}`;
}

/** Adds an exchange with a node to the trace of the work that sent it. */
function traceExchange(
  nowMs: number,
  { chain, node }: { readonly chain: string; readonly node: string },
  { requests, durationMs }: Exchange,
): void {
  const methods = [...new Set(requests.map(({ method }) => method))];
  const outcomes = [...new Set(requests.map(({ outcome }) => outcome))];
  const attributes = {
    "rpc.system": "jsonrpc",
    "rpc.method": methods.join(" "),
    "sluice.outcome": outcomes.join(" "),
    "sluice.chain": chain,
    "sluice.node": node,
  };
  addPart(methods.length === 1 ? (methods[0] ?? "batch") : "batch", {
    nowMs,
    durationMs,
    attributes,
  });
}

function count(
  { rpcRequests, rpcSeconds, rpcBytes }: Metrics,
  labels: { readonly chain: string; readonly node: string },
  { requests, durationMs, bytesSent, bytesReceived }: Exchange,
): void {
  for (const { method, outcome } of requests) rpcRequests.inc({ ...labels, method, outcome });
  // Nothing was sent.
  if (bytesSent === 0) return;
  const [first, ...others] = requests;
  const method = others.length > 0 ? "batch" : (first?.method ?? "batch");
  rpcSeconds.observe({ ...labels, method }, durationMs / 1000);
  rpcBytes.inc({ ...labels, direction: "sent" }, bytesSent);
  rpcBytes.inc({ ...labels, direction: "received" }, bytesReceived);
}
