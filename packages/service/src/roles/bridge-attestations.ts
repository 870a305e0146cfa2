/** The client of Circle's attestation service, with its metrics. Only routes through the bridge use it. */
import type { Config } from "../config/index.ts";
import type { Clock, Http } from "../core/ports.ts";
import { remember } from "../core/remember.ts";
import {
  type BridgeAttestations,
  createBridgeAttestations,
  SERVICE_FAILURES,
} from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** How long fees and allowance are remembered, in milliseconds. */
const TERMS_AGE_MAX_MS = 15_000;

/**
 * Creates the client of Circle's attestation service, if one is configured, and counts its failures. It remembers fees and
 * allowance, once for all roles of the process, so that a burn has the terms of its quote.
 */
export function openBridgeAttestations(
  { cctp }: Config,
  {
    metrics,
    ...deps
  }: {
    readonly http: Http;
    readonly clock: Clock;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): BridgeAttestations | null {
  if (!cctp) return null;
  const { bridgeServiceFailures } = metrics;
  for (const reason of SERVICE_FAILURES) bridgeServiceFailures.inc({ reason }, 0);
  const onFailure = (reason: string) => bridgeServiceFailures.inc({ reason });
  const client = createBridgeAttestations({ apiUrl: cctp.apiUrl, ...deps, onFailure });
  const recently = { clock: deps.clock, forMs: TERMS_AGE_MAX_MS };
  return {
    ...client,
    getFees: remember(recently, client.getFees),
    getFastAllowance: remember(recently, client.getFastAllowance),
  };
}
