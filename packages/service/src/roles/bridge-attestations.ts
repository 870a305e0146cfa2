/** The client of Circle's attestation service, with its metrics. Only routes through the bridge use it. */
import type { Config } from "../config/index.ts";
import type { Clock, Http } from "../core/ports.ts";
import {
  type BridgeAttestations,
  createBridgeAttestations,
  SERVICE_FAILURES,
} from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Creates the client of Circle's attestation service, if one is configured, and counts its failures. */
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
  return createBridgeAttestations({ apiUrl: cctp.apiUrl, ...deps, onFailure });
}
