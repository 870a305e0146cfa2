/** Checks before the first money: a service works without these, and must have them to hold other people's money. */
import { isLocal, listLaneKeys, listSolanaChains } from "../config/index.ts";
import { type Check, judge } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

const SUBJECT = "going live";

/** What Prometheus does with alerts. */
export interface Alerting {
  /** Alert rules of ours that it has loaded. */
  readonly rules: number;
  /** Alertmanagers that it sends alerts to. */
  readonly receivers: number;
}

/** Returns the checks of `doctor --go-live`; none without it. */
export function checkGoingLive(deps: DoctorDeps): readonly Check[] {
  const { config, live } = deps;
  if (!live) return [];
  const check = (id: string, run: Check["run"]): Check => ({
    id,
    subject: SUBJECT,
    needs: [],
    run,
  });
  return [
    check("live.networks", () => {
      const local = config.chains.filter((chain) => isLocal(chain)).map(subjectOf);
      return judge(local.length === 0, {
        found: local.length === 0 ? "no local chain" : local.join(", "),
        expected: "public networks only",
        advice: "Remove the local chains: this is the configuration of a sandbox.",
      });
    }),
    check("live.keys", () => {
      const plain = listPlainKeys(deps);
      return judge(plain.length === 0, {
        found: plain.length === 0 ? "no key that is readable as it lies" : plain.join(", "),
        expected: "every key in a keystore, a KMS or a signer",
        advice:
          "Create keystores with `sluice keys init`, or use a KMS: a plain key is stolen with one file.",
      });
    }),
    check("live.database", () =>
      judge(config.databaseUrl !== undefined, {
        found: config.databaseUrl ? "a PostgreSQL of your own" : "the embedded PostgreSQL",
        expected: "a PostgreSQL of your own, with backups and a standby",
        advice:
          "Set database.url: the embedded server is for one machine and ends with the service.",
      }),
    ),
    check("live.telemetry", () =>
      judge(config.telemetry !== undefined, {
        found: config.telemetry ? `a listener at port ${config.telemetry.port}` : "no listener",
        expected: "metrics for Prometheus",
        advice: "Set telemetry.port of each process.",
      }),
    ),
    check("live.alerts", async () => {
      const alerting = await live.readAlerting();
      return judge(alerting !== null && alerting.rules > 0 && alerting.receivers > 0, {
        found: alerting
          ? `${alerting.rules} alert rules of Sluice, ${alerting.receivers} Alertmanager(s)`
          : "not asked",
        expected: "a Prometheus with the rules of docs/alerts.yml, which sends to an Alertmanager",
        advice: alerting
          ? "Load docs/alerts.yml into Prometheus and route its alerts to a person who is awake."
          : "Name your Prometheus: sluice doctor --go-live --prometheus http://prometheus.internal:9090",
      });
    }),
  ];
}

/** Lists the settings of keys that are readable as they lie. */
function listPlainKeys({ config }: DoctorDeps): readonly string[] {
  const { settler, attestor } = config.signers;
  const keys = [
    ...(settler === undefined ? listLaneKeys(config) : []),
    ...(settler === undefined ? listSolanaChains(config).map(({ seed }) => seed) : []),
    ...(attestor === undefined ? [config.attestor.key] : []),
  ];
  return keys.filter(({ source }) => source.kind === "raw").map(({ setting }) => setting);
}
