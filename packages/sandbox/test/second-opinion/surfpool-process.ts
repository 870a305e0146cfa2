/** Main module of surfpool's process: `surfpool-process.ts PACKAGE_DIR`. Prints its URL and runs until it is stopped. */
import { createRequire } from "node:module";

interface Surfnet {
  readonly rpcUrl: string;
  drainEvents(): unknown;
}

interface SurfpoolModule {
  readonly Surfnet: {
    startWithConfig(config: {
      readonly offline: boolean;
      readonly blockProductionMode: "clock";
      readonly slotTimeMs: number;
    }): Surfnet;
  };
}

const [packageDir = ""] = process.argv.slice(2);
// CAST: declares the used part of the pinned version, which has no types.
const { Surfnet } = createRequire(import.meta.url)(packageDir) as SurfpoolModule;
const net = Surfnet.startWithConfig({
  offline: true,
  blockProductionMode: "clock",
  slotTimeMs: 50,
});
// surfpool blocks when its short queue of events is full.
setInterval(() => net.drainEvents(), 50);
process.stdout.write(`${net.rpcUrl}\n`);
