/** The node that `bench/solana.ts` reads, in a process of its own: blocks of the usual size, compressed as providers do. */
import { startCluster } from "../packages/service/test/rpc/solana-cluster.ts";
import { createBlockText } from "../packages/service/test/recorded/solana-load.ts";
import { systemClock } from "../packages/service/src/roles/system-ports.ts";

/** Different blocks; the chain repeats them. */
const TEXTS = 8;

const [slots = "0", latency = "0"] = process.argv.slice(2);
const texts = Array.from({ length: TEXTS }, (_, seed) => createBlockText(seed));
const cluster = await startCluster({
  clock: systemClock,
  slotMs: 400,
  slot: 1_000 + Number(slots),
  isSkipped: (slot) => slot % 25 === 7,
  transactionsOf: (slot) => texts[slot % TEXTS] ?? "[]",
  isCompressed: true,
  latencyMs: Number(latency),
});
process.send?.({ url: cluster.url });
process.once("disconnect", () => void cluster.stop());
