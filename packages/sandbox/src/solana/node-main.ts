/** Main module of the Solana node's process: `node-main.ts STATE_FILE PORT SLOT_MS IDLE_SLOT_MS`. Stops on SIGTERM. */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../.compiled", import.meta.url)));
const { createSolanaChain } = await import("./solana-chain.ts");

const [path, port, slotMs, idleSlotMs] = process.argv.slice(2);
if (path === undefined)
  throw new Error("expected STATE_FILE PORT SLOT_MS IDLE_SLOT_MS, got nothing");
const chain = await createSolanaChain({
  path,
  port: Number(port),
  slotMs: Number(slotMs),
  idleSlotMs: Number(idleSlotMs),
});
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void chain.close());
}
