/** `sluice health`, which containers run, against a listener. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { EVM_CHAIN, NO_NODE } from "../../test/support/command-line.ts";
import { type Commands, startCommands } from "../../test/support/commands.ts";

let commands: Commands;
beforeAll(() => {
  commands = startCommands();
});
afterAll(() => commands.stop());

/** Answers every request with a status, and returns its port. */
async function listen(status: number): Promise<number> {
  const server = createServer((request, response) => {
    response.writeHead(status).end(JSON.stringify({ asked: request.url }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  // CAST: it listens on TCP.
  return (server.address() as AddressInfo).port;
}

/** Runs the command without any secret of the configuration. */
function ask(telemetry: object | undefined) {
  const folder = mkdtempSync(join(tmpdir(), "sluice-health-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const attestor = { key: { env: "ATTESTOR" }, rpcUrls: { 30: NO_NODE } };
  const file = { apiKeyPepper: { credential: "pepper" }, attestor, chains: [EVM_CHAIN] };
  writeFileSync(
    join(folder, "sluice.json"),
    JSON.stringify({ ...file, routes: [], stateDir: "state", feeBps: 10, telemetry }),
  );
  return commands.run({ args: ["health"], cwd: folder, env: {}, input: "" });
}

test("prints the readiness of the process, and fails where a role cannot work", async () => {
  const ready = await ask({ host: "0.0.0.0", port: await listen(200) });
  expect(ready).toMatchObject({ code: 0, stdout: '{"asked":"/health/ready"}\n' });
  const unready = await ask({ port: await listen(503) });
  expect(unready.code).not.toBe(0);
  expect(unready.stdout).toContain("/health/ready");
});

test("fails where no process answers, and says what is missing without a listener", async () => {
  const silent = await ask({ port: 1 });
  expect(silent).toMatchObject({ stdout: expect.stringContaining("no answer") });
  expect(silent.code).not.toBe(0);
  const unset = await ask(undefined);
  expect(unset.stderr).toContain("telemetry.port or SLUICE_TELEMETRY_PORT");
});
