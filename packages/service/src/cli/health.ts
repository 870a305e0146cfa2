import { OperatingError } from "../core/errors.ts";
import { systemHttp } from "../roles/system-ports.ts";
import type { Call, Result } from "./command.ts";

const ANSWER = { timeoutMs: 10_000, bytesMax: 1_048_576 };

/**
 * Asks the process of this configuration for its `/health/ready`, as a container's check does.
 * @throws OperatingError CONFIG_MISSING without a listener of health.
 */
export async function run(call: Call): Promise<Result> {
  const { telemetry } = call.readConfig({ roles: [] });
  if (!telemetry || telemetry.port === 0) {
    throw new OperatingError(
      "CONFIG_MISSING",
      "telemetry.port or SLUICE_TELEMETRY_PORT: expected the port on which the process serves its health.",
    );
  }
  const { host, port } = telemetry;
  // An address that stands for all of them listens on the loopback too.
  const shown = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host;
  const url = `http://${shown}:${port}/health/ready`;
  const answer = await systemHttp({ url, headers: new Map(), ...ANSWER });
  if (answer.kind === "failed") {
    const { reason } = answer;
    return { json: { ok: false, reason }, text: `no answer: ${reason}`, failed: true };
  }
  const ok = answer.status === 200;
  return { json: { ok, body: answer.body }, text: answer.body.trim(), failed: !ok };
}
