import { once } from "node:events";
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../test/support/doubles.ts";
import type { ReportDeps } from "./report.ts";
import { startHealthServer } from "./server.ts";

/** Returns the status of the answer to a request with a `Host`. */
async function listen(hosts: readonly string[]) {
  // CAST: the answer of a live process reads nothing.
  const server = await startHealthServer({} as ReportDeps, {
    host: "127.0.0.1",
    port: 0,
    hosts,
    log: silentLog,
  });
  onTestFinished(() => server.stop());
  return async (host: string) => {
    const asking = request(`${server.url}/health/live`, { headers: { host } }).end();
    const [response] = await once(asking, "response");
    response.resume();
    return response.statusCode;
  };
}

test("refuses requests for a stranger's name, which may resolve to this machine [T182]", async () => {
  const ask = await listen(["metrics.internal.example"]);
  const answered = [
    "127.0.0.1:9090",
    "[::1]:9090",
    "localhost",
    "sluice:9090",
    "Metrics.internal.example:80",
  ];
  for (const host of answered) expect([host, await ask(host)]).toEqual([host, 200]);
  const refused = [
    "rebound.example",
    "evil.metrics.internal.example:9090",
    "127.0.0.1.example",
    "a b",
  ];
  for (const host of refused) expect([host, await ask(host)]).toEqual([host, 403]);
});
