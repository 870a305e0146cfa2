/** Asks a Prometheus what it does with alerts: https://prometheus.io/docs/prometheus/latest/querying/api/ */
import { Type } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import type { Http } from "../core/ports.ts";

const TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 8 * 2 ** 20;
/** How the names of our alerts begin. */
const OURS = /^Sluice/;

const Rules = Type.Object({
  data: Type.Object({
    groups: Type.Array(
      Type.Object({ rules: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })) }),
    ),
  }),
});
const Alertmanagers = Type.Object({
  data: Type.Object({ activeAlertmanagers: Type.Array(Type.Unknown()) }),
});

/** Returns our alert rules that a Prometheus has loaded, and the Alertmanagers that it sends to. */
export async function askPrometheus(
  http: Http,
  url: string,
): Promise<{ readonly rules: number; readonly receivers: number }> {
  const base = url.replace(/\/+$/, "");
  const rules = await ask(http, `${base}/api/v1/rules?type=alert`);
  const managers = await ask(http, `${base}/api/v1/alertmanagers`);
  if (!Value.Check(Rules, rules) || !Value.Check(Alertmanagers, managers)) throw refused(url);
  const names = rules.data.groups.flatMap((group) => group.rules.map(({ name }) => name));
  return {
    rules: names.filter((name) => OURS.test(name)).length,
    receivers: managers.data.activeAlertmanagers.length,
  };
}

async function ask(http: Http, url: string): Promise<unknown> {
  const limits = { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_MAX_BYTES };
  const answer = URL.canParse(url) && (await http({ url, headers: new Map(), ...limits }));
  if (!answer || answer.kind === "failed" || answer.status !== 200) throw refused(url);
  try {
    return JSON.parse(answer.body);
  } catch {
    throw refused(url);
  }
}

function refused(url: string): OperatingError {
  const place = URL.canParse(url) ? new URL(url).origin : "an http or https URL";
  return new OperatingError(
    "CONFIG_MISSING",
    `--prometheus: expected the answer of a Prometheus at ${place}.`,
  );
}
