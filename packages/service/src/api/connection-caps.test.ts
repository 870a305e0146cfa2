/** One address holds a bounded number of connections, and all together leave descriptors for the database [T181]. */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../test/support/doubles.ts";
import { capConnections, type ConnectionCaps } from "./connection-caps.ts";

async function listen(caps: ConnectionCaps, trustedProxies: readonly string[] = []) {
  const server = createServer((_, response) => response.end());
  capConnections(server, { caps, trustedProxies, log: silentLog });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const opened: Socket[] = [];
  onTestFinished(() => {
    for (const socket of opened) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return {
    /** Opens a connection and asks; returns whether it was answered. */
    async ask() {
      const socket = connect(port, "127.0.0.1");
      opened.push(socket);
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nhost: here\r\n\r\n");
      return Promise.race([
        once(socket, "data").then(() => true),
        once(socket, "close").then(() => false),
      ]);
    },
    async closeOne() {
      const socket = opened.shift();
      socket?.destroy();
      await expect
        .poll(() => new Promise((resolve) => server.getConnections((_, n) => resolve(n))))
        .toBeLessThan(2);
    },
  };
}

test("closes connections of an address above its cap, until one of them ends [T181]", async () => {
  const server = await listen({ perAddress: 2, total: 100 });
  expect([await server.ask(), await server.ask(), await server.ask()]).toEqual([true, true, false]);
  await server.closeOne();
  expect(await server.ask()).toBe(true);
});

test("does not count the connections of a trusted proxy by address [T181]", async () => {
  const server = await listen({ perAddress: 1, total: 100 }, ["127.0.0.0/8"]);
  expect([await server.ask(), await server.ask()]).toEqual([true, true]);
});

test("closes connections above the cap of the server [T181]", async () => {
  const server = await listen({ perAddress: 100, total: 1 }, ["127.0.0.0/8"]);
  expect([await server.ask(), await server.ask()]).toEqual([true, false]);
});
