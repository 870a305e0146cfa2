/** Local node of a test file: started on a free port, stopped by its process handle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";

export interface Anvil {
  readonly rpcUrl: string;
  stop(): Promise<void>;
}

/** Starts anvil. With one slot in an epoch, the block two behind the head is final. */
export async function startAnvil(evmChainId: number): Promise<Anvil> {
  const binary = createRequire(import.meta.url).resolve("@foundry-rs/anvil-linux-amd64/bin/anvil");
  // Anvil takes any free port, and prints it.
  const args = ["--port", "0", "--chain-id", String(evmChainId), "--slots-in-an-epoch", "1"];
  const child = spawn(binary, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  const address = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`anvil ended with ${code}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString("utf8");
      const listening = /Listening on (\S+)\n/.exec(printed)?.[1];
      if (listening !== undefined) resolve(listening);
    });
  });
  return {
    rpcUrl: `http://${address}`,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
