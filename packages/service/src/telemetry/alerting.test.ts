import { expect, test } from "vitest";
import type { HttpAnswer } from "../core/ports.ts";
import { askPrometheus } from "./alerting.ts";

const json = (data: unknown): HttpAnswer => ({
  kind: "answered",
  status: 200,
  body: JSON.stringify({ status: "success", data }),
});
const RULES = json({
  groups: [
    { rules: [{ name: "SluiceLaneStuck", type: "alerting" }] },
    { rules: [{ name: "DiskFull", type: "alerting" }] },
  ],
});
const MANAGERS = json({ activeAlertmanagers: [{ url: "http://a" }], droppedAlertmanagers: [] });

test("counts our rules, and the Alertmanagers in use", async () => {
  const asked: string[] = [];
  const http = async ({ url }: { readonly url: string }) => {
    asked.push(url);
    return url.includes("/rules") ? RULES : MANAGERS;
  };
  expect(await askPrometheus(http, "http://prometheus:9090/")).toEqual({ rules: 1, receivers: 1 });
  expect(asked).toEqual([
    "http://prometheus:9090/api/v1/rules?type=alert",
    "http://prometheus:9090/api/v1/alertmanagers",
  ]);
});

test.each<[string, string, HttpAnswer]>([
  ["no URL", "prometheus", MANAGERS],
  ["no answer", "http://a.example", { kind: "failed", reason: "unreachable" }],
  ["another status", "http://a.example", { kind: "answered", status: 404, body: "{}" }],
  ["no JSON", "http://a.example", { kind: "answered", status: 200, body: "<p>" }],
  ["another server", "http://a.example", json([])],
])("refuses %s in words", async (_, url, answer) => {
  await expect(askPrometheus(async () => answer, url)).rejects.toThrow(
    /^--prometheus: expected the answer of a Prometheus at /,
  );
});
