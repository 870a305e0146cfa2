/** A bare Socket.IO server of the benchmark `stream`: every socket is in one room. Emits each line of its input there. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { Server } from "socket.io";

const server = createServer();
const io = new Server(server, { transports: ["websocket"], perMessageDeflate: false });
io.on("connection", (socket) => {
  void socket.join("all");
  socket.emit("connected", { integratorName: "bare" });
});
server.listen({ host: "127.0.0.1", port: 0 }, () => {
  // CAST: a server that listens on a TCP port has such an address.
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
createInterface({ input: process.stdin }).on("line", (line) => {
  io.to("all").emit("event", JSON.parse(line));
});
