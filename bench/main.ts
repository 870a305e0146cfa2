/** `npm run bench -- <name> [options]`: runs one benchmark. */
import { benchApi } from "./api.ts";
import { benchBudget } from "./budget.ts";
import { benchDetection } from "./detection.ts";
import { benchGas } from "./gas.ts";
import { benchMemory } from "./memory.ts";
import { benchOverload } from "./overload.ts";
import { benchPace } from "./pace.ts";
import { benchRecovery } from "./recovery.ts";
import { benchRpc } from "./rpc.ts";
import { benchSigner } from "./signer.ts";
import { benchSolana } from "./solana.ts";
import { benchSoak } from "./soak.ts";
import { benchSpeed } from "./speed.ts";
import { benchStream } from "./stream.ts";
import { benchThroughput } from "./throughput.ts";
import { benchWebhooks } from "./webhooks.ts";

const BENCHES: Readonly<Record<string, (args: readonly string[]) => void | Promise<void>>> = {
  api: benchApi,
  // How fast the scanner catches up is what the requests of its backfill decide.
  backfill: benchRpc,
  budget: benchBudget,
  detection: benchDetection,
  gas: benchGas,
  memory: benchMemory,
  overload: benchOverload,
  pace: benchPace,
  recovery: benchRecovery,
  rpc: benchRpc,
  signer: benchSigner,
  solana: benchSolana,
  soak: benchSoak,
  speed: benchSpeed,
  stream: benchStream,
  throughput: benchThroughput,
  webhooks: benchWebhooks,
};

const [name = "", ...args] = process.argv.slice(2);
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
if (bench) {
  await bench(args);
} else {
  console.error(`expected one of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 1;
}
