/** `sluice doctor --go-live` asks a real Prometheus with the rules of this project. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findFreePort } from "@sluice/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { systemHttp } from "../src/roles/system-ports.ts";
import { askPrometheus } from "../src/telemetry/alerting.ts";

const RULES = join(import.meta.dirname, "../../../docs/alerts.yml");

test("a Prometheus with our rules and an Alertmanager is ready to wake somebody", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-prometheus-"));
  const alertmanagers = "[{ static_configs: [{ targets: ['127.0.0.1:9'] }] }]";
  writeFileSync(
    join(folder, "prometheus.yml"),
    `rule_files: ['${RULES}']\nalerting: { alertmanagers: ${alertmanagers} }\n`,
  );
  const port = await findFreePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  let found = await askPrometheus(systemHttp, url).catch(() => null);
  for (let tries = 0; tries < 100 && !found?.receivers; tries += 1) {
    await delay(200);
    found = await askPrometheus(systemHttp, url).catch(() => null);
  }
  expect(found?.receivers).toBe(1);
  expect(found?.rules).toBeGreaterThan(40);
});
