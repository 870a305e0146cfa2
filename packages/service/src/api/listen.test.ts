import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "./listen.ts";

const CONNECTIONS = 1_000;

/** Opens connections, and stores how many are open after half a second. */
const BURST = `
  const { connect } = require("node:net");
  const { workerData: { port, count, done } } = require("node:worker_threads");
  let open = 0;
  for (let n = 0; n < count; n += 1) {
    connect(port, "127.0.0.1", () => { open += 1; }).on("error", () => undefined);
  }
  setTimeout(() => {
    Atomics.store(done, 0, open);
    Atomics.notify(done, 0);
  }, 700);
`;

/** The most that the system accepts for any listener; unlimited where it does not say. */
function readSystemBacklog(): number {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return Infinity;
    throw error;
  }
}

test("a burst of connections while the process is busy is accepted by the system [T181]", async () => {
  const app = Fastify();
  const url = await listen(app, { host: "127.0.0.1", port: 0 }, "api.port");
  const done = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { port: Number(new URL(url).port), count: CONNECTIONS, done };
  const worker = new Worker(BURST, { eval: true, workerData });
  onTestFinished(async () => {
    await worker.terminate();
    await app.close();
  });
  await new Promise((resolve) => worker.once("online", resolve));
  // The process accepts nothing meanwhile.
  Atomics.wait(done, 0, 0, 10_000);
  expect(Atomics.load(done, 0)).toBe(Math.min(CONNECTIONS, readSystemBacklog()));
});

test("a port that is taken is named by its setting", async () => {
  const [app, other] = [Fastify(), Fastify()];
  onTestFinished(async () => {
    await app.close();
    await other.close();
  });
  const port = Number(new URL(await listen(app, { host: "127.0.0.1", port: 0 }, "x")).port);
  await expect(listen(other, { host: "127.0.0.1", port }, "quote.port")).rejects.toMatchObject({
    code: "CONFIG_MISSING",
    message: `quote.port: expected a free port, ${port} is in use.`,
  });
});
