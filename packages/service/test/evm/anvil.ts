/** Local node of a test file: started on a free port, stopped by its process handle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";

export interface Anvil {
  readonly rpcUrl: string;
  stop(): Promise<void>;
}

/** Starts anvil. With one slot in an epoch, the block two behind the head is final. */
export async function startAnvil(evmChainId: number): Promise<Anvil> {
  const port = await findFreePort();
  const binary = createRequire(import.meta.url).resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
  const args = [
    "--port",
    String(port),
    "--chain-id",
    String(evmChainId),
    "--slots-in-an-epoch",
    "1",
  ];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`anvil ended with ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString("utf8");
      if (printed.includes("Listening on")) resolve();
    });
  });
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}
