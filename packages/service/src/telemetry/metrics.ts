/**
 * What a process counts and shows to Prometheus. Values that are rows or facts of a chain are gauges, set when somebody
 * asks; values that are events are counters of this process, counted where they happen: what a database transaction
 * that was rolled back counted, the next one counts again.
 *
 * Amounts are in base units. No label names a customer, an address of theirs, a key or a path: each has few values, all
 * from the configuration or the code.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { SETTLEMENT_STATUS_NAMES } from "@sluice/sdk/wire";
import { findChainById } from "../core/chain-registry.ts";

/** From a query that is in memory to a look that waits for a node until its timeout. */
const SECONDS_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type Metrics = ReturnType<typeof createMetrics>;

/** A chain as labels name it: by the name in the bridge's registry. */
export function chainLabel(chainId: number): string {
  return findChainById(chainId)?.name ?? String(chainId);
}

/** The metrics of one process, in a registry of their own. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const gauge = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ) => new Gauge<Label>({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers });
  const counter = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ) => new Counter<Label>({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <const Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ) =>
    new Histogram<Label>({
      name: `sluice_${name}`,
      help,
      labelNames: [...labelNames],
      buckets: SECONDS_BUCKETS,
      registers,
    });
  const lane = ["chain", "purpose", "account"] as const;
  const inventory = ["chain", "token"] as const;

  return {
    registry,

    roleRunning: gauge("role_running", "1 for a role that this process has; 0 while it waits.", [
      "role",
    ]),
    databaseUp: gauge("database_up", "Whether the database answered this scrape."),
    databaseConnections: gauge(
      "database_pool_connections",
      "Connections of this process to the database, idle and busy.",
      ["state"],
    ),
    databaseWaiting: gauge(
      "database_pool_waiting",
      "Queries that wait for a connection to the database.",
    ),

    scannerHead: gauge("scanner_head_height", "Height of the node's newest block.", ["chain"]),
    scannerScanned: gauge("scanner_scanned_height", "Height of the newest scanned block.", [
      "chain",
    ]),
    scannerFinal: gauge(
      "scanner_final_height",
      "Height up to which the scanned chain is known to be final.",
      ["chain"],
    ),
    scannerLag: gauge("scanner_lag_blocks", "Blocks between the node's newest and the scanned.", [
      "chain",
    ]),
    scannerFinalLag: gauge(
      "scanner_final_lag_blocks",
      "Blocks between the node's newest and the newest that is known to be final.",
      ["chain"],
    ),
    scannerBlockAge: gauge(
      "scanner_last_block_age_seconds",
      "Seconds since a block was scanned, or since the start.",
      ["chain"],
    ),
    scannedBlocks: counter("scanner_scanned_blocks_total", "Blocks that were scanned.", ["chain"]),

    depositsDetected: counter(
      "deposits_detected_total",
      "Deposits that were detected, per wallet, token and block.",
      ["chain"],
    ),
    depositsIgnored: counter(
      "deposits_ignored_total",
      "Those of them that no settlement takes for now, by reason.",
      ["chain", "reason"],
    ),

    settlements: gauge("settlements", "Settlements that have not ended, by status.", [
      "chain",
      "status",
    ]),
    settlementsOldest: gauge(
      "settlements_oldest_active_age_seconds",
      "Age of the oldest settlement that has not ended.",
      ["chain"],
    ),
    transitions: counter(
      "settlement_transitions_total",
      "Changes of a settlement's status, by the new one.",
      ["chain", "status"],
    ),

    laneOpen: gauge("lane_open_nonces", "Nonces that are given out and not mined.", lane),
    laneQueued: gauge("lane_queued_transactions", "Transactions without a nonce yet.", lane),
    laneNextNonce: gauge("lane_next_nonce", "The nonce that is given out next.", lane),
    laneChainNonce: gauge("lane_chain_nonce", "How many nonces the chain has used.", lane),
    laneNonceGap: gauge(
      "lane_nonce_gap",
      "Nonces that are given out and the chain has not used; below zero when it used some that were not.",
      lane,
    ),
    laneStuck: gauge(
      "lane_stuck_attempts",
      "Open nonces whose first attempt was signed more than five minutes ago.",
      lane,
    ),
    laneOldest: gauge(
      "lane_oldest_open_nonce_age_seconds",
      "Age of the oldest transaction among the open nonces.",
      lane,
    ),
    laneBalance: gauge("lane_balance_wei", "Native coin of the lane's account, for gas.", lane),
    laneReplacements: counter(
      "lane_replacements_total",
      "Transactions that were signed again with higher fees.",
      lane,
    ),
    laneReverts: counter("lane_reverts_total", "Mined transactions that reverted.", lane),

    pricesUnavailable: counter(
      "prices_unavailable_total",
      "Looks for the price of a token that found none to trust, by reason.",
      ["chain", "token", "reason"],
    ),
    priceSourceFaults: counter(
      "price_source_faults_total",
      "Times that one source of a token's price had none that could be used.",
      ["chain", "token"],
    ),

    auditBreaches: gauge("audit_breaches", "Breaches of the books that are open.", ["chain"]),
    auditAge: gauge(
      "audit_age_seconds",
      "Seconds since the books were last compared with a final block.",
      ["chain"],
    ),

    inventoryBalance: gauge(
      "inventory_balance_base_units",
      "What a Delivery contract holds of a token.",
      inventory,
    ),
    inventoryReserved: gauge(
      "inventory_reserved_base_units",
      "What is set aside of it for settlements under way.",
      inventory,
    ),
    inventoryMin: gauge(
      "inventory_min_base_units",
      "What the operator wants it never to fall below (`inventoryMin`).",
      inventory,
    ),
    inventoryCapLeft: gauge(
      "inventory_daily_cap_left_base_units",
      "What the cap over 24 hours still lets through.",
      inventory,
    ),

    bridgeServiceFailures: counter(
      "bridge_service_failures_total",
      "Requests to the bridge's attestation service without an answer that can be used, by reason.",
      ["reason"],
    ),
    routesPaused: gauge(
      "routes_paused",
      "Routes that are left alone because they failed again and again, by the source chain.",
      ["chain", "kind"],
    ),

    attestationsSigned: counter("attestation_requests_signed_total", "Requests that were signed.", [
      "kind",
    ]),
    attestationsRefused: counter(
      "attestation_requests_refused_total",
      "Requests that were refused.",
      ["kind"],
    ),

    signerRefusals: counter(
      "signer_refusals_total",
      "What the policy of a signer did not allow, by the lane's purpose, or `attest`.",
      ["chain", "purpose"],
    ),

    eventsAppended: counter("events_appended_total", "Events of integrators, by type.", ["type"]),
    streamSockets: gauge("stream_sockets", "Sockets of the live stream that are connected."),

    httpRequests: counter("http_requests_total", "Answered requests, by template of their route.", [
      "service",
      "method",
      "route",
      "status",
    ]),
    httpSeconds: histogram("http_request_duration_seconds", "Time until the answer was sent.", [
      "service",
      "method",
      "route",
    ]),

    lookSeconds: histogram("loop_look_duration_seconds", "How long the looks of a loop take.", [
      "loop",
    ]),
    lookFailures: counter("loop_look_failures_total", "Looks that failed and are repeated.", [
      "loop",
    ]),
  };
}

/** Adds what is usual of every process: `process_*` and `nodejs_*`. */
export function collectProcessMetrics({ registry }: Metrics): void {
  collectDefaultMetrics({ register: registry });
}

/**
 * Shows what has not happened yet as zero: a counter that appears with its first event shows no increase to whoever
 * watches for one.
 */
export function startCounters(metrics: Metrics, chainIds: readonly number[]): void {
  for (const chain of chainIds.map(chainLabel)) {
    metrics.depositsDetected.inc({ chain }, 0);
    for (const status of SETTLEMENT_STATUS_NAMES) metrics.transitions.inc({ chain, status }, 0);
    for (const purpose of ["deploy", "settle", "deliver", "attest"]) {
      metrics.signerRefusals.inc({ chain, purpose }, 0);
    }
  }
  for (const kind of ["delivery", "claim", "return", "price"]) {
    metrics.attestationsSigned.inc({ kind }, 0);
    metrics.attestationsRefused.inc({ kind }, 0);
  }
}
