import { Agent, get } from "node:http";
import { connect } from "node:net";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createFront } from "./front.ts";
import { listen } from "./listen.ts";

/** Returns an application that says its name, at `/slow` once it is released. */
function createApp(name: string) {
  const released = Promise.withResolvers<void>();
  const app = Fastify({ logger: false });
  app.get("/", async () => name);
  app.get("/slow", async () => {
    await released.promise;
    return name;
  });
  return { app, release: () => released.resolve() };
}

async function openFront() {
  const first = createApp("first");
  const front = await createFront(first.app, {
    body: ({ code }) => ({ code }),
    shouldUpgradeCallback: () => false,
  });
  onTestFinished(() => front.close());
  const url = await listen(front.listener, { host: "127.0.0.1", port: 0 }, "api.port");
  return { first, front, url };
}

test("the next application answers on connections that are open already, and requests under way are finished [T303]", async () => {
  const { first, front, url } = await openFront();
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  onTestFinished(() => agent.destroy());
  const ports = new Set<number | undefined>();
  const ask = (path: string) =>
    new Promise<string>((resolve, reject) => {
      get(`${url}${path}`, { agent }, (response) => {
        ports.add(response.socket.localPort);
        let text = "";
        response.on("data", (part) => (text += String(part)));
        response.on("end", () => resolve(text));
      }).on("error", reject);
    });
  expect(await ask("/")).toBe("first");
  const slow = ask("/slow");
  expect(await ask("/")).toBe("first");
  await front.replace(createApp("next").app);
  expect(await ask("/")).toBe("next");
  first.release();
  expect(await slow).toBe("first");
  expect(await ask("/")).toBe("next");
  expect(ports.size).toBe(2);
});

test("bytes that are no request are answered with the error of the interface", async () => {
  const { url } = await openFront();
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
      socket.write("no\r\n\r\n"),
    );
    let text = "";
    socket.on("data", (part) => (text += String(part)));
    socket.on("close", () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('{"code":"VALIDATION_ERROR"}');
});
